//! A scripted provider with the Anthropic Messages API: `bench-COUNTxMS` streams COUNT text deltas
//! at intervals of MS milliseconds, `input-COUNTx0` first makes a call whose input arrives in COUNT
//! parts.

use anyhow::Result;
use axum::body::Body;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;
use tokio::net::TcpListener;

/// The size in bytes of a delta of the Markdown text below.
const DELTA_BYTES: usize = 16;
const TEXT: &str = "### How it is measured\n\nEach stream is *checked* to its end, with [links](https://example.org), **bold** \
words and `code` in it.\n\n1. first\n2. second, which is longer\n\n```rust\nlet answer = 42;\n```\n\n| key | value |\n|-----|-------|\n\
| one | 1     |\n\n";

/// Starts the provider on a free port; returns its base URL.
pub(crate) async fn start() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = Router::new().route("/v1/messages", post(messages));
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(format!("http://{address}/v1"))
}

/// The relevant part of a request. The rest is not stored, so that parsing a long history does not
/// distort the measurement.
#[derive(Deserialize)]
struct UpstreamRequest {
    model: String,
    messages: Vec<IgnoredAny>,
}

async fn messages(Json(UpstreamRequest { model, messages }): Json<UpstreamRequest>) -> Response {
    if let Some(count) = input_length(&model)
        && messages.len() == 1
    {
        return call_response(&model, count);
    }
    let (count, pause) = text_plan(&model).unwrap_or((1, 0));
    let body = async_stream::stream! {
        for event in opening(&model, 20) {
            yield event;
        }
        for at in 0..count {
            if pause > 0 {
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            let from = at * DELTA_BYTES % (TEXT.len() - DELTA_BYTES);
            let delta = json!({ "type": "text_delta", "text": &TEXT[from..from + DELTA_BYTES] });
            yield event(json!({ "type": "content_block_delta", "index": 0, "delta": delta }));
        }
        for event in closing(count, "end_turn") {
            yield event;
        }
    };
    let body = Body::from_stream(body);
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap_or_default()
}

/// Returns COUNT of `input-COUNTx0`.
fn input_length(model: &str) -> Option<usize> {
    model.strip_prefix("input-")?.split_once('x')?.0.parse().ok()
}

fn call_response(model: &str, count: usize) -> Response {
    let block = json!({ "type": "tool_use", "id": "toolu_1", "name": "nothing", "input": {} });
    let start = json!({ "type": "content_block_start", "index": 0, "content_block": block });
    let piece = |json: String| {
        let delta = json!({ "type": "input_json_delta", "partial_json": json });
        event(json!({ "type": "content_block_delta", "index": 0, "delta": delta }))
    };
    let words = (0..count).map(|_| piece("sixteen letters ".to_owned()));
    let events: Vec<_> = opening(model, 20)
        .into_iter()
        .take(1)
        .chain([event(start), piece("{\"text\":\"".to_owned())])
        .chain(words)
        .chain([piece("\"}".to_owned())])
        .chain(closing(count, "tool_use"))
        .collect();
    let body = Body::from_stream(futures::stream::iter(events));
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap_or_default()
}

fn text_plan(model: &str) -> Option<(usize, u64)> {
    let (count, pause) = model.strip_prefix("bench-")?.split_once('x')?;
    Some((count.parse().ok()?, pause.parse().ok()?))
}

/// Returns the first events of a reply to a request with this number of tokens; the second one begins its text.
pub(crate) fn opening(model: &str, tokens: usize) -> [Result<Bytes, Infallible>; 2] {
    let usage = json!({ "input_tokens": tokens, "output_tokens": 1 });
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage });
    let block = json!({ "type": "text", "text": "" });
    [
        event(json!({ "type": "message_start", "message": message })),
        event(json!({ "type": "content_block_start", "index": 0, "content_block": block })),
    ]
}

/// Returns the last events of a reply with this number of tokens.
pub(crate) fn closing(count: usize, stop_reason: &str) -> [Result<Bytes, Infallible>; 3] {
    let delta = json!({ "stop_reason": stop_reason, "stop_sequence": null });
    [
        event(json!({ "type": "content_block_stop", "index": 0 })),
        event(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": count } })),
        event(json!({ "type": "message_stop" })),
    ]
}

/// Returns an event.
pub(crate) fn event(data: Value) -> Result<Bytes, Infallible> {
    let name = data["type"].as_str().unwrap_or_default();
    Ok(Bytes::from(format!("event: {name}\ndata: {data}\n\n")))
}
