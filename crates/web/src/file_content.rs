//! Responses with the content of a file that a user or an agent wrote.

use crate::openapi::{Description, RouteOutput};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Keeps a file that a browser displays from running or loading anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// A file to send.
#[derive(Clone, Debug)]
pub struct SentFile {
    /// Identifies the content, for clients that have it.
    pub tag: String,
    /// The `Content-Type`.
    pub content_type: String,
    /// The `Content-Disposition`.
    pub disposition: String,
    /// The size in bytes, if it is known.
    pub size: Option<u64>,
}

/// The content of a file, or 304 if the client has it.
#[derive(Debug)]
pub struct FileContent(Response);

impl FileContent {
    /// Sends a file to the client with these request headers. A browser runs nothing in it.
    pub fn new(headers: &HeaderMap, file: SentFile, body: Body) -> Self {
        let tag = format!("\"{}\"", file.tag);
        let about = [
            (header::CONTENT_DISPOSITION, file.disposition),
            (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin".to_owned()),
            // Revalidated each time, so that a deleted file, or one of another user by now, is never
            // served from a cache.
            (header::CACHE_CONTROL, "private, no-cache".to_owned()),
            (header::ETAG, tag.clone()),
        ];
        if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
            return Self((StatusCode::NOT_MODIFIED, about).into_response());
        }
        let size = file.size.map(|size| [(header::CONTENT_LENGTH, size.to_string())]);
        let mut response = (about, [(header::CONTENT_TYPE, file.content_type)], body).into_response();
        if let Some(size) = size {
            response = (size, response).into_response();
        }
        Self(response)
    }
}

impl IntoResponse for FileContent {
    fn into_response(self) -> Response {
        self.0
    }
}

impl RouteOutput for FileContent {
    fn describe(description: &mut Description<'_>) {
        description.response(200, "application/octet-stream", &json!({}));
    }
}
