//! Files that users attach to messages. They are stored unchanged, returned only to their owner,
//! and served so that a browser runs nothing in them.

use super::tags::FILES;
use crate::state::AppState;
use app::context::PageSource;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::NoContent;
use chat::{Caller, FileLimits, NewUpload};
use schemars::JsonSchema;
use serde::Deserialize;
use web::openapi::{ApiRouter, Created};
use web::{FileContent, HttpError, SentFile, content_disposition};
use wire::file::{StoredFile, is_shown_inline};

/// Returns the route with larger bodies than other requests, which limits their size itself.
pub(crate) fn upload_routes() -> ApiRouter<AppState> {
    ApiRouter::new(&FILES).post("/api/files", upload, "Upload a file")
}

/// Returns the other routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&FILES).get("/api/files/{id}", show, "Download a file").delete(
        "/api/files/{id}",
        delete,
        "Delete a file",
    )
}

/// The query of an upload.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct UploadQuery {
    /// The file name.
    #[serde(default)]
    name: String,
}

/// `POST /api/files?name=NAME` with the bytes as its body; the media type is detected from them.
pub(crate) async fn upload(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(about): Query<UploadQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Created<StoredFile>, HttpError> {
    // A user who may not open any page has nothing to attach files to.
    state.composition.current.page(&caller, None)?;
    let limits = &state.composition.limits;
    let bounds = FileLimits { file: limits.file_bytes, user: limits.user_file_bytes };
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let upload = NewUpload { name: about.name, length, bytes: body.into_data_stream() };
    Ok(Created(state.composition.chat.store_file(&caller, bounds, upload).await?))
}

/// `GET /api/files/{id}`
pub(crate) async fn show(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<FileContent, HttpError> {
    let (file, bytes) = state.composition.chat.file(&caller, &id).await?;
    let sent = SentFile {
        tag: file.id.clone(),
        content_type: content_type(&file),
        disposition: disposition(&file),
        size: Some(file.size),
    };
    Ok(FileContent::new(&headers, sent, Body::from_stream(bytes)))
}

/// `DELETE /api/files/{id}`, for a file that no message uses.
pub(crate) async fn delete(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    state.composition.chat.delete_file(&caller, &id).await?;
    Ok(NoContent)
}

/// Returns the media type to serve: all text as plain text, and everything that a page could
/// execute as bytes.
fn content_type(file: &StoredFile) -> String {
    let kind = file.media_type.as_str();
    let is_binary = ["image/", "audio/", "video/", "font/"].iter().any(|binary| kind.starts_with(binary));
    match kind {
        "image/svg+xml" => "text/plain; charset=utf-8".to_owned(),
        "application/pdf" | "application/zip" => kind.to_owned(),
        _ if is_binary => kind.to_owned(),
        _ if kind.starts_with("text/") => "text/plain; charset=utf-8".to_owned(),
        _ => "application/octet-stream".to_owned(),
    }
}

/// Displays harmless types inline, and downloads all others.
fn disposition(file: &StoredFile) -> String {
    content_disposition(if is_shown_inline(&file.media_type) { "inline" } else { "attachment" }, &file.filename)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risky_files_are_served_as_text_or_download() {
        let check = |media_type: &str, filename: &str, kind: &str, how: &str| {
            let file = StoredFile {
                id: "f".to_owned(),
                url: "/api/files/f".to_owned(),
                media_type: media_type.to_owned(),
                filename: filename.to_owned(),
                size: 1,
            };
            assert_eq!((content_type(&file).as_str(), disposition(&file).as_str()), (kind, how));
        };
        let text = "text/plain; charset=utf-8";
        let saved = "attachment; filename=\"a.b\"; filename*=UTF-8''a.b";
        check("image/png", "a.b", "image/png", "inline; filename=\"a.b\"; filename*=UTF-8''a.b");
        check("text/html", "a.b", text, saved);
        check("image/svg+xml", "a.b", text, saved);
        check("application/pdf", "a.b", "application/pdf", saved);
        check("application/json", "a.b", "application/octet-stream", saved);
        check("application/xhtml+xml", "a.b", "application/octet-stream", saved);
        let name = "caf\u{e9}\".txt\r\n";
        check("text/csv", name, text, "attachment; filename=\"caf__.txt__\"; filename*=UTF-8''caf%C3%A9%22.txt%0D%0A");
    }
}
