//! Calls endpoints through the HTTP API, which other programs use too.

use serde_json::Value;

/// Calls an endpoint and returns its result. The error is a message for the user.
#[cfg(feature = "hydrate")]
pub(super) async fn call(page_id: &str, endpoint_id: &str, payload: &Value) -> Result<Value, String> {
    use crate::address::encode_component;
    use crate::api::transport::codec::ValueJson;
    use crate::texts::{Text, t};
    use leptos::server::codee::Decoder;
    let url = format!("/api/endpoints/{}/{}", encode_component(page_id), encode_component(endpoint_id));
    let away = |_| t(Text::ServerAway).to_owned();
    let request = gloo_net::http::Request::post(&url).header("content-type", "application/json");
    let response = request.body(wire::json::text(payload)).map_err(away)?.send().await.map_err(away)?;
    let text = response.text().await.map_err(away)?;
    let answer: Option<Value> = ValueJson::decode(&text).ok();
    if response.ok() {
        return Ok(answer.unwrap_or_default());
    }
    let message = answer.as_ref().and_then(|answer| answer.pointer("/error/message")?.as_str());
    Err(message.unwrap_or(t(Text::ServerFailed)).to_owned())
}

/// Always fails: actions run in the browser only.
#[cfg(not(feature = "hydrate"))]
pub(super) async fn call(_: &str, _: &str, _: &Value) -> Result<Value, String> {
    Err("Actions run in the browser.".to_owned())
}
