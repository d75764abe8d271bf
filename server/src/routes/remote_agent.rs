//! Endpoints for other agent platforms, by the contract of remote agents (R-1 to R-10, R-14). Every answer has its shape.

use crate::auth::rates;
use crate::compose::{SERVICE_USER, Served};
use crate::router::AppState;
use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tools::remote_agent::RESERVED_PARAMETERS;
use wire::UserError;

/// What a platform's user reads when an endpoint returns nothing.
const NOTHING: &str = "Done.";

/// What is behind the key: a handler that takes this runs only for who has it, and reads no body before that.
pub(crate) struct Door(Arc<Served>);

impl FromRequestParts<AppState> for Door {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Refusal> {
        let nothing = || Refusal::new(StatusCode::NOT_FOUND, "There is nothing here.");
        let served = state.composition.current.served().ok_or_else(nothing)?;
        let mut keys = parts.headers.get_all("x-api-key").iter();
        match (keys.next(), keys.next()) {
            (Some(key), None) if served.accepts(key.as_bytes()) => {}
            _ => return Err(Refusal::new(StatusCode::UNAUTHORIZED, "The x-api-key is missing or wrong.")),
        }
        // Only who has the key is this user, so nobody else can use up what the platform may ask.
        let counted = state.composition.current.rates().count_user(&parts.method, parts.uri.path(), SERVICE_USER);
        match counted {
            Ok(()) => Ok(Self(served)),
            Err(seconds) => Err(Refusal {
                retry_after: Some(seconds),
                ..Refusal::new(StatusCode::TOO_MANY_REQUESTS, rates::too_often_text(seconds))
            }),
        }
    }
}

/// `GET /remote-agent/tools`
pub(crate) async fn list(Door(served): Door) -> Json<Value> {
    Json(served.listing().clone())
}

/// `POST /remote-agent/tools/{tool}` with the parameters
pub(crate) async fn call(
    Door(served): Door,
    Path(tool): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let payload = payload(&body.map_err(|rejection| unreadable(&rejection))?)?;
    let unknown = || Refusal::new(StatusCode::NOT_FOUND, "Tool not found");
    Ok(Json(success(served.call(&tool, payload).await.ok_or_else(unknown)??)))
}

/// `POST /remote-agent/resource`; what is sent does not matter.
pub(crate) async fn resource(Door(served): Door) -> Result<Json<Value>, Refusal> {
    let none = || Refusal::new(StatusCode::NOT_FOUND, "There is no resource.");
    Ok(Json(success(served.resource().await.ok_or_else(none)??)))
}

/// The parameters; none is an empty object. What a platform adds of its own (R-9) is no parameter.
fn payload(body: &[u8]) -> Result<Value, Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok(json!({}));
    }
    let malformed = |_| Refusal::new(StatusCode::BAD_REQUEST, "The request is not valid JSON.");
    let mut payload: Value = serde_json::from_slice(body).map_err(malformed)?;
    if let Some(payload) = payload.as_object_mut() {
        payload.retain(|name, _| !RESERVED_PARAMETERS.contains(&name.as_str()));
    }
    Ok(payload)
}

fn unreadable(rejection: &BytesRejection) -> Refusal {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large."),
        _ => Refusal::new(StatusCode::BAD_REQUEST, "The request could not be read."),
    }
}

/// A result in the contract's words (R-5): the keys `text`, `html` and `media` mean there what they say, anything else is `mixed`.
fn success(result: Value) -> Value {
    let is_only = |data: &Map<String, Value>, key: &str, fits: fn(&Value) -> bool| {
        data.len() == 1 && data.get(key).is_some_and(fits)
    };
    let (kind, data) = match result {
        Value::Null => ("text", json!({ "text": NOTHING })),
        Value::String(text) => ("text", json!({ "text": text })),
        Value::Object(data) if is_only(&data, "text", Value::is_string) => ("text", data.into()),
        Value::Object(data) if is_only(&data, "html", Value::is_string) => ("html", data.into()),
        Value::Object(data) if is_only(&data, "media", Value::is_array) => ("media", data.into()),
        Value::Object(data) => ("mixed", data.into()),
        other => ("mixed", json!({ "result": other })),
    };
    json!({ "success": true, "responseType": kind, "data": data })
}

/// An error in the contract's words (R-6).
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
    details: String,
    /// Seconds.
    retry_after: Option<u32>,
}

impl Refusal {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), details: String::new(), retry_after: None }
    }
}

impl From<UserError> for Refusal {
    fn from(error: UserError) -> Self {
        let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let place = error.path.filter(|path| path != "/");
        let details = place.map(|path| format!("It is about {path}")).unwrap_or_default();
        Self { status, message: error.message, details, retry_after: error.retry_after }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = json!({ "message": self.message, "code": self.status.as_u16(), "details": self.details });
        let mut response = (self.status, Json(json!({ "success": false, "error": error }))).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results() {
        let check = |result: Value, kind: &str, data: Value| {
            let expected = json!({ "success": true, "responseType": kind, "data": data });
            assert_eq!(success(result.clone()), expected, "{result}");
        };
        check(json!("Found 3."), "text", json!({ "text": "Found 3." }));
        check(json!(null), "text", json!({ "text": "Done." }));
        check(json!({ "text": "a" }), "text", json!({ "text": "a" }));
        check(json!({ "text": 1 }), "mixed", json!({ "text": 1 }));
        check(json!({ "html": "<b>" }), "html", json!({ "html": "<b>" }));
        check(json!({ "media": [] }), "media", json!({ "media": [] }));
        check(json!({ "text": "a", "n": 1 }), "mixed", json!({ "text": "a", "n": 1 }));
        check(json!({}), "mixed", json!({}));
        check(json!([1, 2]), "mixed", json!({ "result": [1, 2] }));
        check(json!(7), "mixed", json!({ "result": 7 }));
    }

    #[test]
    fn parameters() {
        let check = |body: &str, expected: Option<Value>| assert_eq!(payload(body.as_bytes()).ok(), expected, "{body}");
        check("", Some(json!({})));
        check(" \n", Some(json!({})));
        check(r#"{"q":1,"userId":"u","chatId":"c","executionId":"e","toolName":"t"}"#, Some(json!({ "q": 1 })));
        check("[1]", Some(json!([1])));
        check("{", None);
    }
}
