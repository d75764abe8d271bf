//! A model that does what its user's message says, by the same script each time. It speaks Anthropic Messages.

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::post;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// What a turn is to be.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Script {
    /// Begins the answer's text; names the message.
    pub(crate) tag: String,
    /// Calls of the MCP server's tool, one in each step.
    pub(crate) looks: usize,
    /// Calls of the MCP server's other tool, whose schema was made to cost, one in each step.
    pub(crate) costly: usize,
    /// Calls of `effect` after that, one in each step.
    pub(crate) tools: usize,
    /// Calls of `gated_effect` after that.
    pub(crate) gated: usize,
    /// Whether the effects' answers are lost.
    pub(crate) lost: bool,
    /// A file to read first.
    pub(crate) file: Option<String>,
    /// Pieces of the last text.
    pub(crate) deltas: usize,
    /// Letters of a piece; numbers without it.
    pub(crate) size: usize,
    /// Between two pieces, in milliseconds.
    pub(crate) pause: u64,
    /// Whether each piece says when it was sent, in microseconds of the provider's clock.
    pub(crate) timed: bool,
    /// The whole answer, without anything around it.
    pub(crate) says: Option<String>,
    /// Whether the answer is a redirect to the sinkhole.
    pub(crate) redirect: bool,
    /// After how many pieces the provider's connection breaks off, if it does.
    pub(crate) cut_after: Option<usize>,
}

impl Script {
    /// What stands before the script in a user's message.
    pub(crate) const MARK: &str = "script: ";

    /// As a user's message. The tag stands first, so that it is in the conversation's title.
    pub(crate) fn message(&self) -> String {
        format!("{} {}{}", self.tag, Self::MARK, serde_json::to_string(self).unwrap_or_default())
    }

    fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text.split_once(Self::MARK)?.1).ok()
    }

    /// Of a user's message.
    pub(crate) fn of(text: &str) -> Self {
        Self::read(text).unwrap_or_default()
    }

    /// All texts of the answer, in order and in one. Not of one that is timed.
    pub(crate) fn text(&self) -> String {
        let steps = (0..self.steps()).map(|step| self.before(step)).collect::<String>();
        let last = (0..self.deltas).map(|at| self.piece(at)).collect::<String>();
        format!("{steps}{}{last}", self.opening())
    }

    fn steps(&self) -> usize {
        usize::from(self.file.is_some()) + self.looks + self.costly + self.tools + self.gated
    }

    fn before(&self, step: usize) -> String {
        format!("[{} {step}] ", self.tag)
    }

    fn opening(&self) -> String {
        format!("{}: ", self.tag)
    }

    fn piece(&self, at: usize) -> String {
        let mut piece = format!("{at} ");
        while piece.len() < self.size {
            let _ = write!(piece, "{at} ");
        }
        piece
    }
}

/// The provider; a cheap handle.
#[derive(Clone)]
pub(crate) struct Provider {
    /// Its base URL.
    pub(crate) base: String,
    /// Requests that came to where it redirects to.
    pub(crate) sunk: Arc<AtomicU64>,
    /// What its times are counted from.
    pub(crate) began: Instant,
}

struct Shared {
    sinkhole: String,
    calls: AtomicU64,
    began: Instant,
}

impl Provider {
    /// Starts it, and a sinkhole beside it.
    pub(crate) async fn start() -> Result<Self> {
        let sunk = Arc::new(AtomicU64::new(0));
        let (sinkhole, count) = (TcpListener::bind("127.0.0.1:0").await?, sunk.clone());
        let to = format!("http://{}/", sinkhole.local_addr()?);
        let swallow = Router::new().fallback(move || async move {
            count.fetch_add(1, Relaxed);
            StatusCode::NOT_FOUND
        });
        tokio::spawn(async move { axum::serve(sinkhole, swallow).await });
        let began = Instant::now();
        let shared = Arc::new(Shared { sinkhole: to, calls: AtomicU64::new(0), began });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("http://{}/v1", listener.local_addr()?);
        let router = Router::new().route("/v1/messages", post(messages)).with_state(shared);
        // A long conversation comes whole.
        let router = router.layer(DefaultBodyLimit::disable());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { base, sunk, began })
    }
}

/// What is longer is read beside the runtime, so that other answers do not wait for it.
const LONG: usize = 256 * 1024;

async fn messages(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let length = body.len();
    let read = move || position(&serde_json::from_slice(&body).unwrap_or_default());
    let (script, done) = match length {
        0..LONG => read(),
        _ => tokio::task::spawn_blocking(read).await.unwrap_or_default(),
    };
    if script.redirect {
        let response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT);
        return response.header("location", &shared.sinkhole).body(Body::empty()).unwrap_or_default();
    }
    let body = match call(&script, done, &shared) {
        Some((name, input)) => calling(&script, done, &name, &input, &shared),
        None => talking(script, shared.began),
    };
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap_or_default()
}

/// The script of the newest message that has one, and how many results came after it.
fn position(request: &Value) -> (Script, usize) {
    let (mut script, mut done) = (Script::default(), 0);
    for message in request["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        let whole = [json!({ "type": "text", "text": content })];
        for block in content.as_array().map_or(&whole[..], Vec::as_slice) {
            let found = (message["role"] == "user").then(|| block["text"].as_str().and_then(Script::read)).flatten();
            if let Some(found) = found {
                (script, done) = (found, 0);
            }
            done += usize::from(block["type"] == "tool_result");
        }
    }
    (script, done)
}

/// The call of a step. Each has a key of its own, so that the ledger tells two runs of one call from two calls.
fn call(script: &Script, done: usize, shared: &Shared) -> Option<(String, Value)> {
    let mut left = done;
    if let Some(path) = &script.file {
        if left == 0 {
            return Some(("read-file".to_owned(), json!({ "path": path })));
        }
        left -= 1;
    }
    if left < script.looks {
        return Some((crate::peer::TOOL.to_owned(), json!({})));
    }
    left -= script.looks;
    if left < script.costly {
        return Some((crate::peer::COSTLY.to_owned(), json!({})));
    }
    left -= script.costly;
    let number = shared.calls.fetch_add(1, Relaxed);
    let kind = if script.lost { crate::ledger::LOST_ANSWER } else { "key" };
    let key = json!({ "key": format!("{kind}-{}-{number}", script.tag) });
    if left < script.tools {
        Some(("effect".to_owned(), key))
    } else if left < script.tools + script.gated {
        Some(("gated_effect".to_owned(), key))
    } else {
        None
    }
}

fn calling(script: &Script, done: usize, name: &str, input: &Value, shared: &Shared) -> Body {
    let id = format!("toolu_{}", shared.calls.fetch_add(1, Relaxed));
    let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
    let json = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
    let events = [
        opening(),
        event(json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } })),
        text(&script.before(done)),
        event(json!({ "type": "content_block_stop", "index": 0 })),
        event(json!({ "type": "content_block_start", "index": 1, "content_block": block })),
        event(json!({ "type": "content_block_delta", "index": 1, "delta": json })),
        event(json!({ "type": "content_block_stop", "index": 1 })),
        closing("tool_use"),
        event(json!({ "type": "message_stop" })),
    ];
    Body::from_stream(futures::stream::iter(events.map(Ok::<_, Infallible>)))
}

fn talking(script: Script, began: Instant) -> Body {
    Body::from_stream(async_stream::stream! {
        yield Ok::<_, std::io::Error>(opening());
        let block = json!({ "type": "text", "text": "" });
        yield Ok(event(json!({ "type": "content_block_start", "index": 0, "content_block": block })));
        yield Ok(text(&script.says.clone().unwrap_or_else(|| script.opening())));
        for at in 0..script.deltas {
            if script.cut_after == Some(at) {
                yield Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
                return;
            }
            if script.pause > 0 {
                tokio::time::sleep(Duration::from_millis(script.pause)).await;
            }
            let piece = if script.timed { format!("{} ", began.elapsed().as_micros()) } else { script.piece(at) };
            yield Ok(text(&piece));
        }
        yield Ok(event(json!({ "type": "content_block_stop", "index": 0 })));
        yield Ok(closing("end_turn"));
        yield Ok(event(json!({ "type": "message_stop" })));
    })
}

fn opening() -> Bytes {
    let usage = json!({ "input_tokens": 20, "output_tokens": 1 });
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage });
    event(json!({ "type": "message_start", "message": message }))
}

fn text(text: &str) -> Bytes {
    let delta = json!({ "type": "text_delta", "text": text });
    event(json!({ "type": "content_block_delta", "index": 0, "delta": delta }))
}

fn closing(reason: &str) -> Bytes {
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    event(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 9 } }))
}

fn event(data: Value) -> Bytes {
    let name = data["type"].as_str().unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}
