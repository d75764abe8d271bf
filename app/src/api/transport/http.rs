//! Calls of the HTTP API that other programs use, too.

use super::error::ApiError;
use crate::texts::{Text, t};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::error::{ErrorCode, UserError};

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// Gets a value.
pub(crate) async fn get<T: DeserializeOwned>(path: &str) -> Result<T, ApiError> {
    decode(call(Method::Get, path, None).await?)
}

/// Gets a text.
#[cfg(feature = "hydrate")]
pub(crate) async fn text(path: &str) -> Result<String, ApiError> {
    let response = gloo_net::http::Request::get(path).send().await.map_err(|_| away())?;
    let text = response.text().await.map_err(|_| away())?;
    if response.ok() { Ok(text) } else { Err(error_of(&serde_json::from_str(&text).unwrap_or_default())) }
}

/// Always fails, like the others on the server.
#[cfg(not(feature = "hydrate"))]
pub(crate) async fn text(_: &str) -> Result<String, ApiError> {
    Err(away())
}

/// Sends a value and returns the answer.
pub(crate) async fn send<T: DeserializeOwned>(method: Method, path: &str, body: &Value) -> Result<T, ApiError> {
    decode(call(method, path, Some(body)).await?)
}

/// Does something whose answer does not matter.
pub(crate) async fn act(method: Method, path: &str) -> Result<(), ApiError> {
    call(method, path, None).await.map(drop)
}

fn decode<T: DeserializeOwned>(answer: Value) -> Result<T, ApiError> {
    serde_json::from_value(answer).map_err(|_| UserError::new(ErrorCode::Unavailable, t(Text::ServerUnreadable)).into())
}

/// Reads the error in an answer.
pub(crate) fn error_of(answer: &Value) -> ApiError {
    let error = answer.get("error").cloned().unwrap_or_default();
    let error = serde_json::from_value::<UserError>(error);
    error.unwrap_or_else(|_| UserError::new(ErrorCode::Unavailable, t(Text::ServerUnreadable))).into()
}

/// The error if the server cannot be reached.
fn away() -> ApiError {
    UserError::new(ErrorCode::Unavailable, t(Text::ServerAway)).into()
}

/// Calls the API; an answer without content is `null`.
#[cfg(feature = "hydrate")]
async fn call(method: Method, path: &str, body: Option<&Value>) -> Result<Value, ApiError> {
    use gloo_net::http::Request;
    let request = match method {
        Method::Get => Request::get(path),
        Method::Post => Request::post(path),
        Method::Put => Request::put(path),
        Method::Patch => Request::patch(path),
        Method::Delete => Request::delete(path),
    };
    let request = match body {
        Some(body) => request.header("content-type", "application/json").body(wire::json::text(body)),
        None => request.build(),
    };
    let response = request.map_err(|_| away())?.send().await.map_err(|_| away())?;
    let text = response.text().await.map_err(|_| away())?;
    let answer = serde_json::from_str::<Value>(&text).unwrap_or_default();
    if response.ok() { Ok(answer) } else { Err(error_of(&answer)) }
}

/// Always fails: what is loaded with these functions is loaded in the browser.
#[cfg(not(feature = "hydrate"))]
async fn call(_: Method, _: &str, _: Option<&Value>) -> Result<Value, ApiError> {
    Err(away())
}
