//! Responses whose type says their status.

use super::{Description, RouteOutput};
use crate::download::content_disposition;
use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// 201 with the created object, as JSON.
#[derive(Debug)]
pub struct Created<T>(pub T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

impl<T: JsonSchema> RouteOutput for Created<T> {
    fn describe(description: &mut Description<'_>) {
        description.json::<T>(201);
    }
}

/// A JSON object that a browser saves under this name.
#[derive(Debug)]
pub struct JsonFile<T>(pub &'static str, pub T);

impl<T: Serialize> IntoResponse for JsonFile<T> {
    fn into_response(self) -> Response {
        let disposition = (header::CONTENT_DISPOSITION, content_disposition("attachment", self.0));
        ([disposition], Json(self.1)).into_response()
    }
}

impl<T: JsonSchema> RouteOutput for JsonFile<T> {
    fn describe(description: &mut Description<'_>) {
        description.json::<T>(200);
    }
}

/// 202 without a body: the work goes on in the background.
#[derive(Debug)]
pub struct Accepted;

impl IntoResponse for Accepted {
    fn into_response(self) -> Response {
        StatusCode::ACCEPTED.into_response()
    }
}

impl RouteOutput for Accepted {
    fn describe(description: &mut Description<'_>) {
        description.empty(202);
    }
}

/// Plain text with any status.
#[derive(Debug)]
pub struct PlainText(pub Response);

impl IntoResponse for PlainText {
    fn into_response(self) -> Response {
        self.0
    }
}

impl RouteOutput for PlainText {
    fn describe(description: &mut Description<'_>) {
        let text = json!({ "type": "string" });
        description.response(200, "text/plain", &text);
        description.error("The request failed; the text says why.", "text/plain", &text);
    }
}
