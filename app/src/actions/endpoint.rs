//! Calls an endpoint by the door that other programs use too.

use serde_json::Value;

/// The result of an endpoint, or what to tell the person at the page.
#[cfg(feature = "hydrate")]
pub(super) async fn call(page_id: &str, endpoint_id: &str, payload: &Value) -> Result<Value, String> {
    use crate::address::encoded;
    use crate::api::codec::ValueJson;
    use crate::texts::{Text, t};
    use leptos::server::codee::Decoder;
    let url = format!("/api/endpoints/{}/{}", encoded(page_id), encoded(endpoint_id));
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

/// Actions run in the browser only.
#[cfg(not(feature = "hydrate"))]
pub(super) async fn call(_: &str, _: &str, _: &Value) -> Result<Value, String> {
    Err("Actions run in the browser.".to_owned())
}
