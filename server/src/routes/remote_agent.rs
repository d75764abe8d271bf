//! Endpoints of the config as tools for other agent platforms, by the remote agent contract, which
//! also defines the shape of every response.

use super::tags::PLATFORMS;
use crate::compose::{ServedTools, ToolList};
use crate::state::AppState;
use auth::SERVICE_USER;
use auth::rates;
use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use remote_agents::RESERVED_PARAMETERS;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use web::openapi::{ApiRouter, Description, RouteInput, RouteOutput};
use wire::UserError;

/// The text that a platform's user sees when an endpoint returns nothing.
const EMPTY_RESULT: &str = "Done.";

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&PLATFORMS)
        .get("/remote-agent/tools", list, "List tools")
        .post("/remote-agent/tools/{tool}", call, "Call a tool")
        .post("/remote-agent/resource", resource, "Get context for a task")
}

/// Extracts the served endpoints for a platform with the right key. Handlers with this extractor
/// run only with the key, and no body is read before.
pub(crate) struct AuthorizedPlatform(Arc<ServedTools>);

impl FromRequestParts<AppState> for AuthorizedPlatform {
    type Rejection = PlatformError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, PlatformError> {
        let nothing = || PlatformError::new(StatusCode::NOT_FOUND, "Not found.");
        let served = state.composition.current.served_agent().ok_or_else(nothing)?;
        let mut keys = parts.headers.get_all("x-api-key").iter();
        match (keys.next(), keys.next()) {
            (Some(key), None) if served.accepts(key.as_bytes()) => {}
            _ => return Err(PlatformError::new(StatusCode::UNAUTHORIZED, "The x-api-key is missing or wrong.")),
        }
        // Only callers with the key count as this user, so nobody else can exhaust the platform's
        // rate limit.
        let counted = state.composition.current.rates().count_user(&parts.method, parts.uri.path(), SERVICE_USER);
        match counted {
            Ok(()) => Ok(Self(served)),
            Err(seconds) => Err(PlatformError {
                retry_after: Some(seconds),
                ..PlatformError::new(StatusCode::TOO_MANY_REQUESTS, rates::rate_limit_message(seconds))
            }),
        }
    }
}

impl RouteInput for AuthorizedPlatform {
    fn describe(description: &mut Description<'_>) {
        PlatformError::describe(description);
    }
}

/// Extracts the parameters of a call.
pub(crate) struct Parameters(Value);

impl FromRequest<AppState> for Parameters {
    type Rejection = PlatformError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, PlatformError> {
        let body = Bytes::from_request(request, state).await.map_err(|rejection| body_error(&rejection))?;
        parse_parameters(&body).map(Self)
    }
}

impl RouteInput for Parameters {
    fn describe(description: &mut Description<'_>) {
        let schema = json!({ "type": "object", "description": "The parameters, as the tool's schema says." });
        description.body("application/json", &schema, false);
    }
}

/// `GET /remote-agent/tools`
pub(crate) async fn list(AuthorizedPlatform(served): AuthorizedPlatform) -> Json<ToolList> {
    Json(served.listing().clone())
}

/// `POST /remote-agent/tools/{tool}` with the parameters
pub(crate) async fn call(
    AuthorizedPlatform(served): AuthorizedPlatform,
    Path(tool): Path<String>,
    Parameters(payload): Parameters,
) -> Result<Json<PlatformResponse>, PlatformError> {
    let unknown = || PlatformError::new(StatusCode::NOT_FOUND, "Tool not found");
    Ok(Json(success_response(served.call(&tool, payload).await.ok_or_else(unknown)??)))
}

/// `POST /remote-agent/resource`; the body is ignored.
pub(crate) async fn resource(
    AuthorizedPlatform(served): AuthorizedPlatform,
) -> Result<Json<PlatformResponse>, PlatformError> {
    let none = || PlatformError::new(StatusCode::NOT_FOUND, "No resource is configured.");
    Ok(Json(success_response(served.resource().await.ok_or_else(none)??)))
}

/// Parses the parameters; an empty body is an empty object. Parameters that platforms add
/// themselves are removed.
fn parse_parameters(body: &[u8]) -> Result<Value, PlatformError> {
    if body.trim_ascii().is_empty() {
        return Ok(json!({}));
    }
    let malformed = |_| PlatformError::new(StatusCode::BAD_REQUEST, "The request is not valid JSON.");
    let mut payload: Value = serde_json::from_slice(body).map_err(malformed)?;
    if let Some(payload) = payload.as_object_mut() {
        payload.retain(|name, _| !RESERVED_PARAMETERS.contains(&name.as_str()));
    }
    Ok(payload)
}

fn body_error(rejection: &BytesRejection) -> PlatformError {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => PlatformError::new(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large."),
        _ => PlatformError::new(StatusCode::BAD_REQUEST, "The request could not be read."),
    }
}

/// A success response of the contract.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlatformResponse {
    /// Always `true`.
    success: bool,
    /// The kind of `data`.
    response_type: ResponseType,
    /// The result.
    data: Map<String, Value>,
}

/// The kind of a result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ResponseType {
    /// A text, as `{text}`.
    Text,
    /// HTML, as `{html}`.
    Html,
    /// A list of media, as `{media}`.
    Media,
    /// Anything else.
    Mixed,
}

/// Builds a success response of the contract: an object with only `text`, `html` or `media` has
/// that response type, anything else is `mixed`.
fn success_response(result: Value) -> PlatformResponse {
    let is_only = |data: &Map<String, Value>, key: &str, fits: fn(&Value) -> bool| {
        data.len() == 1 && data.get(key).is_some_and(fits)
    };
    let only = |key: &str, value: Value| Map::from_iter([(key.to_owned(), value)]);
    let (response_type, data) = match result {
        Value::Null => (ResponseType::Text, only("text", EMPTY_RESULT.into())),
        Value::String(text) => (ResponseType::Text, only("text", text.into())),
        Value::Object(data) if is_only(&data, "text", Value::is_string) => (ResponseType::Text, data),
        Value::Object(data) if is_only(&data, "html", Value::is_string) => (ResponseType::Html, data),
        Value::Object(data) if is_only(&data, "media", Value::is_array) => (ResponseType::Media, data),
        Value::Object(data) => (ResponseType::Mixed, data),
        other => (ResponseType::Mixed, only("result", other)),
    };
    PlatformResponse { success: true, response_type, data }
}

/// An error response of the contract.
#[derive(Debug)]
pub(crate) struct PlatformError {
    status: StatusCode,
    message: String,
    details: String,
    /// Seconds.
    retry_after: Option<u32>,
}

/// The body of an error response of the contract.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlatformError")]
struct PlatformErrorBody {
    /// Always `false`.
    success: bool,
    error: ErrorDetails,
}

/// The details of an error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlatformErrorDetails")]
struct ErrorDetails {
    /// The message for people.
    message: String,
    /// The HTTP status.
    code: u16,
    /// The invalid field, if there is one.
    details: String,
}

impl RouteOutput for PlatformError {
    fn describe(description: &mut Description<'_>) {
        description.json_error::<PlatformErrorBody>("The request failed; `error.message` says why.");
    }
}

impl PlatformError {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), details: String::new(), retry_after: None }
    }
}

impl From<UserError> for PlatformError {
    fn from(error: UserError) -> Self {
        let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let place = error.path.filter(|path| path != "/");
        let details = place.map(|path| format!("Field: {path}")).unwrap_or_default();
        Self { status, message: error.message, details, retry_after: error.retry_after }
    }
}

impl IntoResponse for PlatformError {
    fn into_response(self) -> Response {
        let error = ErrorDetails { message: self.message, code: self.status.as_u16(), details: self.details };
        let mut response = (self.status, Json(PlatformErrorBody { success: false, error })).into_response();
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
    fn results_have_the_matching_response_type() {
        let check = |result: Value, kind: &str, data: Value| {
            let expected = json!({ "success": true, "responseType": kind, "data": data });
            assert_eq!(serde_json::to_value(success_response(result.clone())).unwrap(), expected, "{result}");
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
    fn parameters_are_parsed_without_reserved_names() {
        let check = |body: &str, expected: Option<Value>| {
            assert_eq!(parse_parameters(body.as_bytes()).ok(), expected, "{body}")
        };
        check("", Some(json!({})));
        check(" \n", Some(json!({})));
        check(r#"{"q":1,"userId":"u","chatId":"c","executionId":"e","toolName":"t"}"#, Some(json!({ "q": 1 })));
        check("[1]", Some(json!([1])));
        check("{", None);
    }
}
