//! A scripted model with the Anthropic Messages API: each user message contains the script of its
//! turn.

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

/// The script of a turn.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Script {
    /// The prefix of the reply, and the id of the message.
    pub(crate) tag: String,
    /// The number of calls of the MCP server's normal tool, one per step.
    pub(crate) looks: usize,
    /// The number of calls of the MCP server's tool with a costly schema, one per step.
    pub(crate) costly: usize,
    /// The number of calls of `effect` after that, one per step.
    pub(crate) tools: usize,
    /// The number of calls of `gated_effect` after that, one per step.
    pub(crate) gated: usize,
    /// Whether the responses of the effects are lost.
    pub(crate) lost: bool,
    /// A file to read first.
    pub(crate) file: Option<String>,
    /// Calls of other tools before that, by name and with their arguments, one per step.
    pub(crate) calls: Vec<(String, Value)>,
    /// The statement of the user beside the script.
    pub(crate) states: Option<String>,
    /// The number of deltas of the last text.
    pub(crate) deltas: usize,
    /// The minimum length of a delta in bytes; by default each delta is a number.
    pub(crate) size: usize,
    /// The time between two deltas in milliseconds.
    pub(crate) pause: u64,
    /// Whether each delta is the time when it was sent, in microseconds of the provider's clock.
    pub(crate) timed: bool,
    /// The whole reply, without the prefix.
    pub(crate) says: Option<String>,
    /// Whether the provider responds with a redirect to the sinkhole.
    pub(crate) redirect: bool,
    /// The number of deltas after which the provider's connection breaks, if it does.
    pub(crate) cut_after: Option<usize>,
}

impl Script {
    /// The marker before the script in a user message.
    pub(crate) const MARK: &str = "script: ";

    /// The end of a title that the model has given.
    pub(crate) const NAMED: &str = "was named";

    /// Returns the text of the user message. The tag comes first, so that it is in the
    /// conversation's title.
    pub(crate) fn message(&self) -> String {
        let states = self.states.as_ref().map(|states| format!("says:\n{states}\n")).unwrap_or_default();
        format!("{} {states}{}{}", self.tag, Self::MARK, serde_json::to_string(self).unwrap_or_default())
    }

    fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text.split_once(Self::MARK)?.1).ok()
    }

    /// Returns the script that answers a request to name a conversation: a title that begins with the
    /// tag, as that of the conversation does.
    fn naming(text: &str) -> Option<Self> {
        let tag = text.strip_prefix("<message>\n")?.split(' ').next()?;
        Some(Self { says: Some(format!("{tag} {}", Self::NAMED)), ..Self::default() })
    }

    /// Returns the script in a user message.
    pub(crate) fn from_message(text: &str) -> Self {
        Self::parse(text).unwrap_or_default()
    }

    /// Returns the concatenated text of the reply; not valid for timed scripts.
    pub(crate) fn text(&self) -> String {
        let steps = (0..self.step_count()).map(|step| self.step_text(step)).collect::<String>();
        let last = (0..self.deltas).map(|at| self.delta_text(at)).collect::<String>();
        format!("{steps}{}{last}", self.opening())
    }

    fn step_count(&self) -> usize {
        self.calls.len() + usize::from(self.file.is_some()) + self.looks + self.costly + self.tools + self.gated
    }

    fn step_text(&self, step: usize) -> String {
        format!("[{} {step}] ", self.tag)
    }

    fn opening(&self) -> String {
        format!("{}: ", self.tag)
    }

    fn delta_text(&self, at: usize) -> String {
        let mut piece = format!("{at} ");
        while piece.len() < self.size {
            let _ = write!(piece, "{at} ");
        }
        piece
    }
}

/// The provider; clones share its state.
#[derive(Clone)]
pub(crate) struct Provider {
    /// The base URL.
    pub(crate) base: String,
    /// The number of requests that followed the redirect to the sinkhole.
    pub(crate) sinkhole_requests: Arc<AtomicU64>,
    /// The start of its clock.
    pub(crate) clock: Instant,
}

struct Shared {
    sinkhole: String,
    calls: AtomicU64,
    clock: Instant,
}

impl Provider {
    /// Starts the provider and the sinkhole.
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
        let shared = Arc::new(Shared { sinkhole: to, calls: AtomicU64::new(0), clock: began });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("http://{}/v1", listener.local_addr()?);
        let router = Router::new().route("/v1/messages", post(messages)).with_state(shared);
        // Requests contain the whole conversation, which may be long.
        let router = router.layer(DefaultBodyLimit::disable());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { base, sinkhole_requests: sunk, clock: began })
    }
}

/// Longer requests are parsed on a blocking thread, so that they do not delay other replies.
const MAX_INLINE_BYTES: usize = 256 * 1024;

async fn messages(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let length = body.len();
    let read = move || current_script(&serde_json::from_slice(&body).unwrap_or_default());
    let (script, done) = match length {
        0..MAX_INLINE_BYTES => read(),
        _ => tokio::task::spawn_blocking(read).await.unwrap_or_default(),
    };
    if script.redirect {
        let response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT);
        return response.header("location", &shared.sinkhole).body(Body::empty()).unwrap_or_default();
    }
    let body = match next_call(&script, done, &shared) {
        Some((name, input)) => call_response(&script, done, &name, &input, &shared),
        None => text_response(script, shared.clock),
    };
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap_or_default()
}

/// Returns the script of the newest message with one, and the number of tool results after it.
fn current_script(request: &Value) -> (Script, usize) {
    let (mut script, mut done) = (Script::default(), 0);
    for message in request["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        let whole = [json!({ "type": "text", "text": content })];
        for block in content.as_array().map_or(&whole[..], Vec::as_slice) {
            let text = block["text"].as_str().filter(|_| message["role"] == "user");
            let found = text.and_then(|text| Script::naming(text).or_else(|| Script::parse(text)));
            if let Some(found) = found {
                (script, done) = (found, 0);
            }
            done += usize::from(block["type"] == "tool_result");
        }
    }
    (script, done)
}

/// Returns the call of a step. Each call has a unique key, so that the ledger distinguishes a
/// repeated call from two calls.
fn next_call(script: &Script, done: usize, shared: &Shared) -> Option<(String, Value)> {
    if let Some((name, input)) = script.calls.get(done) {
        return Some((name.clone(), input.clone()));
    }
    let mut left = done - script.calls.len();
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

fn call_response(script: &Script, done: usize, name: &str, input: &Value, shared: &Shared) -> Body {
    let id = format!("toolu_{}", shared.calls.fetch_add(1, Relaxed));
    let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
    let json = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
    let events = [
        opening(),
        event(json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } })),
        text_event(&script.step_text(done)),
        event(json!({ "type": "content_block_stop", "index": 0 })),
        event(json!({ "type": "content_block_start", "index": 1, "content_block": block })),
        event(json!({ "type": "content_block_delta", "index": 1, "delta": json })),
        event(json!({ "type": "content_block_stop", "index": 1 })),
        closing("tool_use"),
        event(json!({ "type": "message_stop" })),
    ];
    Body::from_stream(futures::stream::iter(events.map(Ok::<_, Infallible>)))
}

fn text_response(script: Script, began: Instant) -> Body {
    Body::from_stream(async_stream::stream! {
        yield Ok::<_, std::io::Error>(opening());
        let block = json!({ "type": "text", "text": "" });
        yield Ok(event(json!({ "type": "content_block_start", "index": 0, "content_block": block })));
        yield Ok(text_event(&script.says.clone().unwrap_or_else(|| script.opening())));
        for at in 0..script.deltas {
            if script.cut_after == Some(at) {
                yield Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
                return;
            }
            if script.pause > 0 {
                tokio::time::sleep(Duration::from_millis(script.pause)).await;
            }
            let piece = if script.timed { format!("{} ", began.elapsed().as_micros()) } else { script.delta_text(at) };
            yield Ok(text_event(&piece));
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

fn text_event(text: &str) -> Bytes {
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
