//! The OpenAPI 3.1 document of the HTTP API.

use super::tags::OPERATION;
use crate::state::AppState;
use axum::Extension;
use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::sync::Arc;
use web::openapi::{About, ApiRouter, Description, Document, RouteOutput};

/// The path of the document.
pub(crate) const PATH: &str = "/api/openapi.json";

/// The metadata of the document.
pub(crate) const ABOUT: About = About {
    title: "Chatwright",
    version: env!("CARGO_PKG_VERSION"),
    description: "Chats with agents, endpoints and administration over HTTP. A program authenticates with an API key, whose \
                  scopes limit what it can do, or, in the auth mode `jwt`, with a token of the host application.",
    session_cookie: "cw_session",
};

/// Returns the route.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&OPERATION).get(PATH, show, "Get this document")
}

/// The document as JSON.
pub(crate) struct DocumentJson(Bytes);

impl IntoResponse for DocumentJson {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

impl RouteOutput for DocumentJson {
    fn describe(description: &mut Description<'_>) {
        let schema = json!({ "type": "object", "description": "An OpenAPI 3.1 document." });
        description.response(200, "application/json", &schema);
    }
}

/// `GET /api/openapi.json`: the same for all callers, and independent of the config.
pub(crate) async fn show(Extension(document): Extension<Arc<Document>>) -> DocumentJson {
    DocumentJson(document.json())
}
