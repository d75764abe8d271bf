//! The baseline: decodes each provider event, encodes it as a chunk, and stores nothing.

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tokio::net::TcpListener;

#[derive(Clone)]
struct Provider {
    client: reqwest::Client,
    base_url: String,
}

/// Serves the baseline on a free port and prints `listening on`, as the product does.
pub(crate) async fn serve(base_url: &str) -> Result<()> {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let provider = Provider { client, base_url: base_url.to_owned() };
    let app = Router::new().route("/api/agent/bench/{model}", post(answer)).with_state(provider);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    // Like every streaming server. Otherwise Nagle's algorithm would delay each word until the
    // previous one is acknowledged (40 ms).
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    Ok(axum::serve(listener, app).await?)
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Chunk<'a> {
    TextDelta { id: &'a str, delta: &'a str },
    Finish { finish_reason: &'a str },
}

async fn answer(
    State(provider): State<Provider>,
    axum::extract::Path(model): axum::extract::Path<String>,
    _: Bytes,
) -> Response {
    let ask = serde_json::json!({ "model": model, "max_tokens": 4096, "stream": true,
        "messages": [{ "role": "user", "content": "hello" }] });
    let sent = provider.client.post(format!("{}/messages", provider.base_url)).json(&ask).send().await;
    let Ok(reply) = sent else { return Response::builder().status(502).body(Body::empty()).unwrap_or_default() };
    let mut decoder = sse::SseDecoder::new(sse::SseLimits::default());
    let body = reply.bytes_stream().map(move |bytes| {
        let mut output = Vec::with_capacity(256);
        if decoder.push(&bytes?).is_ok() {
            while let Some(event) = decoder.next() {
                encode_event(event.data.as_ref(), &mut output);
            }
        }
        Ok::<_, reqwest::Error>(Bytes::from(output))
    });
    Response::builder().header("content-type", "text/event-stream").body(Body::from_stream(body)).unwrap_or_default()
}

fn encode_event(data: &str, output: &mut Vec<u8>) {
    let Ok(event) = serde_json::from_str::<Event<'_>>(data) else { return };
    let chunk = match (&*event.kind, &event.delta) {
        ("content_block_delta", Some(Delta { text: Some(text) })) => Chunk::TextDelta { id: "1", delta: text },
        ("message_stop", _) => Chunk::Finish { finish_reason: "stop" },
        _ => return,
    };
    output.extend_from_slice(b"data: ");
    // Writing plain data into memory cannot fail.
    let _ = serde_json::to_writer(&mut *output, &chunk);
    output.extend_from_slice(b"\n\n");
}
