//! A model that does as it is told.

use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A provider of Chat Completions that does as it is told: the user's message is a call, `NAME {ARGUMENTS}`; then it says what the
/// tool answered, and names the tools that it was offered. A message that begins with `say ` is an answer: what comes after it.
pub(crate) async fn provider() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let router =
        Router::new().route("/v1/chat/completions", post(async |Json(request): Json<Value>| complete(&request)));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

fn complete(request: &Value) -> ([(&'static str, &'static str); 1], String) {
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let content = last["content"].as_str().unwrap_or_default();
    let (delta, reason) = if let Some(said) = content.strip_prefix("say ") {
        (json!({ "content": said }), "stop")
    } else if last["role"] == "tool" {
        let offered = request["tools"].as_array().unwrap().iter().filter_map(|tool| tool["function"]["name"].as_str());
        let said = format!("{content} | {}", offered.collect::<Vec<_>>().join(" "));
        (json!({ "content": said }), "stop")
    } else {
        let (name, arguments) = content.split_once(' ').unwrap();
        let function = json!({ "name": name, "arguments": arguments });
        (
            json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function", "function": function }] }),
            "tool_calls",
        )
    };
    let chunk = |delta: Value, reason: Value| {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
        format!("data: {}\n\n", json!({ "id": "x", "object": "chat.completion.chunk", "choices": choices }))
    };
    let events = [chunk(delta, Value::Null), chunk(json!({}), json!(reason)), "data: [DONE]\n\n".to_owned()];
    ([("content-type", "text/event-stream")], events.concat())
}
