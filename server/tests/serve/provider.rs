//! A scripted model provider.

use axum::body::{Body, Bytes};
use axum::routing::{MethodRouter, post};
use axum::{Json, Router};
use futures::StreamExt;
use serde_json::{Value, json};
use std::convert::Infallible;
use tokio::net::TcpListener;

/// Starts a Chat Completions provider that follows its user message. `NAME {ARGUMENTS}` calls a
/// tool; the next reply is the tool's result and the names of the offered tools. `say TEXT` replies
/// with TEXT, `instructions` with the instructions. A note of the server is repeated.
pub(crate) async fn start_provider() -> String {
    serve(post(async |Json(request): Json<Value>| complete(&request))).await
}

/// Starts a provider that answers each message of the user with a call of this tool, and the result of the call with a text.
pub(crate) async fn start_calling_provider(tool: &str, arguments: &Value) -> String {
    let call = format!("{tool} {arguments}");
    let answer = move |Json(mut request): Json<Value>| {
        let last = request["messages"].as_array_mut().unwrap().last_mut().unwrap();
        if last["role"] == "user" {
            last["content"] = call.clone().into();
        }
        std::future::ready(complete(&request))
    };
    serve(post(answer)).await
}

/// Starts a provider that writes a word and then nothing more.
pub(crate) async fn start_silent_provider() -> String {
    let answer = async || {
        let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "Well" }, "finish_reason": null }] });
        let first = futures::stream::iter([Ok::<_, Infallible>(Bytes::from(format!("data: {delta}\n\n")))]);
        ([("content-type", "text/event-stream")], Body::from_stream(first.chain(futures::stream::pending())))
    };
    serve(post(answer)).await
}

/// Starts a provider; returns its address.
async fn serve(completions: MethodRouter) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/chat/completions", completions);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

fn complete(request: &Value) -> ([(&'static str, &'static str); 1], String) {
    // The shared state stands before the user's message, or alone after the results of tools.
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let mut messages = request["messages"].as_array().unwrap().iter().rev();
    let last = messages.find(|message| !text(message).ends_with("</page-state>")).unwrap();
    let content = text(last);
    let content = content.rsplit("</page-state>\n\n").next().unwrap_or_default();
    let (delta, reason) = if let Some(reply) = content.strip_prefix("say ") {
        (json!({ "content": reply }), "stop")
    } else if content == "instructions" {
        (json!({ "content": request["messages"][0]["content"] }), "stop")
    } else if content.starts_with("[Note: ") {
        (json!({ "content": content }), "stop")
    } else if last["role"] == "tool" {
        let offered = request["tools"].as_array().unwrap().iter().filter_map(|tool| tool["function"]["name"].as_str());
        let reply = format!("{content} | {}", offered.collect::<Vec<_>>().join(" "));
        (json!({ "content": reply }), "stop")
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
