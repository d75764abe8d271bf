//! The forms of the responses to calls.

use crate::error::{Refusal, RestError, RpcError};
use crate::rpc::CallId;
use a2a_types::error_code;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use web::EventStream;
use web::openapi::{Description, RouteOutput};

/// The form of the responses to a call.
#[derive(Clone, Debug)]
pub(crate) enum Envelope {
    /// That of JSON-RPC, with the id of the call.
    JsonRpc(CallId),
    /// None: that of HTTP+JSON.
    Plain,
}

impl Envelope {
    /// Returns what a method returns, in this form.
    pub(crate) fn result(&self, result: Value) -> Value {
        match self {
            Self::JsonRpc(id) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Self::Plain => result,
        }
    }

    /// Returns an error in this form.
    pub(crate) fn error(&self, error: RpcError) -> Value {
        match self {
            Self::JsonRpc(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            Self::Plain => RestError::from(error).body(),
        }
    }
}

/// The response to a call, as the OpenAPI document shows it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "A2aResponse")]
pub(crate) struct RpcResponse {
    /// `2.0`.
    jsonrpc: &'static str,
    /// The id of the call; null if it could not be read.
    id: Option<CallId>,
    /// The result of the method, unless it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// Why the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

impl RouteOutput for Refusal {
    fn describe(description: &mut Description<'_>) {
        description.json_error::<RpcResponse>("The request failed; `error.message` says what to do next.");
    }
}

/// The response to a call: one object, or a stream of them.
pub(crate) enum CallResponse {
    Object(StatusCode, Box<RpcResponse>),
    Stream(EventStream),
}

impl CallResponse {
    /// Answers a call.
    pub(crate) fn new(id: CallId, result: Result<Value, RpcError>) -> Self {
        let (result, error) = match result {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self::Object(StatusCode::OK, Box::new(RpcResponse { jsonrpc: "2.0", id: Some(id), result, error }))
    }

    /// Answers what is not a call.
    pub(crate) fn refused(id: Option<CallId>, error: RpcError) -> Self {
        let is_of_client = [error_code::PARSE_ERROR, error_code::INVALID_REQUEST].contains(&error.code);
        let status = if is_of_client { StatusCode::BAD_REQUEST } else { StatusCode::SERVICE_UNAVAILABLE };
        Self::Object(status, Box::new(RpcResponse { jsonrpc: "2.0", id, result: None, error: Some(error) }))
    }
}

impl IntoResponse for CallResponse {
    fn into_response(self) -> Response {
        match self {
            Self::Object(status, object) => (status, Json(object)).into_response(),
            Self::Stream(stream) => stream.into_response(),
        }
    }
}

impl RouteOutput for CallResponse {
    fn describe(description: &mut Description<'_>) {
        description.json::<RpcResponse>(200);
        EventStream::describe(description);
    }
}
