//! A client that sends messages, reads streams, reconnects, approves calls and reads conversations,
//! and records everything in the history.

use crate::history::{History, Op};
use crate::provider::Script;
use anyhow::{Result, bail};
use futures::StreamExt;
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The timeout of requests; streams may take longer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// One user of one server.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    origin: String,
    user: String,
    /// The header that identifies the user.
    identity: (&'static str, String),
    history: History,
}

/// The outcome of sending a message.
pub(crate) enum SendOutcome {
    /// Accepted, with the stream.
    Accepted(Response),
    /// Refused.
    Refused(Refusal),
}

/// The outcome of joining a conversation's stream.
pub(crate) enum JoinOutcome {
    /// The stream.
    Stream(Response),
    /// No run is active.
    NotRunning,
    /// Refused, with the status.
    Refused(u16),
}

/// The refusal of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The value of `Retry-After` in seconds.
    pub(crate) retry_after: Option<u64>,
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// With `[DONE]`; contains the chunk types.
    Done(Vec<String>),
    /// Cut off, or left by the client; contains the last cursor.
    Cut(Option<String>),
}

impl StreamEnd {
    /// Returns whether the reply finished normally.
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self, Self::Done(kinds) if kinds.iter().any(|kind| kind == "finish"))
    }
}

impl Client {
    /// Creates a client with this user name, in the mode `proxy`.
    pub(crate) fn new(origin: &str, user: &str, history: &History) -> Result<Self> {
        Self::with_identity(origin, user, ("x-forwarded-user", user.to_owned()), history)
    }

    /// Creates a client with this user id and session cookie.
    pub(crate) fn signed_in(origin: &str, id: &str, cookie: &str, history: &History) -> Result<Self> {
        Self::with_identity(origin, id, ("cookie", cookie.to_owned()), history)
    }

    fn with_identity(origin: &str, user: &str, identity: (&'static str, String), history: &History) -> Result<Self> {
        // No server here uses TLS, and loading the system's certificates would take a tenth of a
        // second for each of a thousand clients.
        let http = reqwest::Client::builder().tls_certs_only([]).redirect(reqwest::redirect::Policy::none());
        let http = http
            .connect_timeout(Duration::from_secs(5))
            .read_timeout(REQUEST_TIMEOUT)
            .pool_max_idle_per_host(1)
            .build()?;
        Ok(Self { http, origin: origin.to_owned(), user: user.to_owned(), identity, history: history.clone() })
    }

    /// Returns a request of this user.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let (name, value) = &self.identity;
        self.http.request(method, format!("{}{path}", self.origin)).header(*name, value)
    }

    /// The id of the user.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// The history in which requests are recorded.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Returns the status of a path, or none if there was no response.
    pub(crate) async fn status(&self, path: &str) -> Option<u16> {
        let asked = self.request(Method::GET, path).timeout(REQUEST_TIMEOUT).send().await;
        asked.ok().map(|response| response.status().as_u16())
    }

    /// Sends a message; returns the stream, or the status if it was refused.
    pub(crate) async fn send(&self, conversation: &str, script: &Script) -> Result<Result<Response, u16>> {
        Ok(match self.try_send(conversation, script).await? {
            SendOutcome::Accepted(response) => Ok(response),
            SendOutcome::Refused(refusal) => Err(refusal.status),
        })
    }

    /// Like [`Client::send`], with the details of a refusal.
    pub(crate) async fn try_send(&self, conversation: &str, script: &Script) -> Result<SendOutcome> {
        let text = script.message();
        let message = script.tag.clone();
        self.history.add(Op::Sent {
            user: self.user.clone(),
            conversation: conversation.to_owned(),
            message: message.clone(),
            text: text.clone(),
        });
        let body = json!({ "id": message, "role": "user", "parts": [{ "type": "text", "text": text }] });
        let response = self.post(conversation, body).await?;
        let (conversation, status) = (conversation.to_owned(), response.status());
        if status == StatusCode::OK {
            self.history.add(Op::Accepted { conversation, message });
            return Ok(SendOutcome::Accepted(response));
        }
        let status = status.as_u16();
        self.history.add(Op::Refused { conversation, message, status });
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse().ok());
        Ok(SendOutcome::Refused(Refusal { status, retry_after }))
    }

    async fn post(&self, conversation: &str, message: Value) -> Result<Response> {
        let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message] });
        let path = format!("/api/agent/page/worker?conversationId={conversation}");
        Ok(self.request(Method::POST, &path).json(&body).send().await?)
    }

    /// Approves the pending calls of a conversation; returns the stream that follows, or none if no
    /// call is pending.
    pub(crate) async fn approve(&self, conversation: &str) -> Result<Option<Response>> {
        let Some(view) = self.view(conversation).await? else { return Ok(None) };
        let mut answer = view["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
        let mut answered = 0;
        for part in answer["parts"].as_array_mut().into_iter().flatten() {
            // An interrupted call may have had its effect already, which must happen only once. So
            // it is denied.
            let is_cut_off = !part["approval"]["terms"]["cutOff"].is_null();
            if is_cut_off && part["state"] == "approval-requested" {
                part["state"] = "approval-responded".into();
                part["approval"]["approved"] = false.into();
                answered += 1;
            } else if part["state"] == "approval-requested" {
                let call = part["toolCallId"].as_str().unwrap_or_default().to_owned();
                self.history.add(Op::Approved { conversation: conversation.to_owned(), call });
                part["state"] = "approval-responded".into();
                part["approval"]["approved"] = true.into();
                answered += 1;
            }
        }
        if answered == 0 {
            return Ok(None);
        }
        let response = self.post(conversation, answer).await?;
        Ok((response.status() == StatusCode::OK).then_some(response))
    }

    /// Joins the stream of a conversation after a cursor, or from its start.
    pub(crate) async fn join(&self, conversation: &str, cursor: Option<&str>) -> Result<JoinOutcome> {
        let request = self.request(Method::GET, &format!("/api/agent/page/worker/{conversation}/stream"));
        let request = cursor.into_iter().fold(request, |request, cursor| request.header("last-event-id", cursor));
        let response = request.send().await?;
        Ok(match response.status() {
            StatusCode::OK => JoinOutcome::Stream(response),
            StatusCode::NO_CONTENT => JoinOutcome::NotRunning,
            status => JoinOutcome::Refused(status.as_u16()),
        })
    }

    /// Reads a stream to its end, or leaves after this number of events.
    pub(crate) async fn read(&self, conversation: &str, response: Response, leave_after: Option<usize>) -> StreamEnd {
        let mut reader = StreamReader::new(&self.history, conversation);
        let mut bytes = response.bytes_stream();
        while let Some(Ok(piece)) = bytes.next().await {
            if let Some(done) = reader.feed(&piece) {
                return StreamEnd::Done(done);
            }
            if leave_after.is_some_and(|most| reader.chunk_types.len() >= most) {
                break;
            }
        }
        StreamEnd::Cut(reader.cursor)
    }

    /// Sends a message and reads the reply; rejoins the stream after leaving it.
    pub(crate) async fn turn(
        &self,
        conversation: &str,
        script: &Script,
        leave_after: Option<usize>,
    ) -> Result<StreamEnd> {
        let Ok(response) = self.send(conversation, script).await? else { return Ok(StreamEnd::Cut(None)) };
        match self.read(conversation, response, leave_after).await {
            StreamEnd::Cut(Some(cursor)) if leave_after.is_some() => {
                match self.join(conversation, Some(&cursor)).await? {
                    JoinOutcome::Stream(rest) => Ok(self.read(conversation, rest, None).await),
                    JoinOutcome::NotRunning => Ok(StreamEnd::Cut(None)),
                    JoinOutcome::Refused(status @ 400..500) => bail!("rejoining failed with {status}"),
                    JoinOutcome::Refused(_) => Ok(StreamEnd::Cut(Some(cursor))),
                }
            }
            end => Ok(end),
        }
    }

    /// Fetches a conversation and records it in the history; returns none if it does not exist.
    pub(crate) async fn view(&self, conversation: &str) -> Result<Option<Value>> {
        let path = format!("/api/conversations/{conversation}");
        let response = self.request(Method::GET, &path).timeout(REQUEST_TIMEOUT).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let view: Value = response.error_for_status()?.json().await?;
        let (user, conversation) = (self.user.clone(), conversation.to_owned());
        self.history.add(Op::Read { user, conversation, view: view.clone() });
        Ok(Some(view))
    }
}

/// Decodes a stream and records its events.
pub(crate) struct StreamReader {
    history: History,
    conversation: String,
    stream: u64,
    decoder: sse::SseDecoder,
    /// The chunk types so far.
    pub(crate) chunk_types: Vec<String>,
    cursor: Option<String>,
}

impl StreamReader {
    /// Creates a reader for a stream of a conversation.
    pub(crate) fn new(history: &History, conversation: &str) -> Self {
        static STREAMS: AtomicU64 = AtomicU64::new(0);
        Self {
            history: history.clone(),
            conversation: conversation.to_owned(),
            stream: STREAMS.fetch_add(1, Relaxed),
            decoder: sse::SseDecoder::new(sse::SseLimits::default()),
            chunk_types: Vec::new(),
            cursor: None,
        }
    }

    /// Decodes bytes; returns all chunk types at the end of the stream.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Option<Vec<String>> {
        // An event that cannot be decoded is missing from the history, which the checker detects.
        let _ = self.decoder.push(bytes);
        let (stream, conversation) = (self.stream, self.conversation.clone());
        while let Some(event) = self.decoder.next() {
            if event.data == "[DONE]" {
                self.history.add(Op::Done { conversation, stream });
                return Some(std::mem::take(&mut self.chunk_types));
            }
            let chunk: Value = serde_json::from_str(&event.data).unwrap_or_default();
            self.chunk_types.push(chunk["type"].as_str().unwrap_or_default().to_owned());
            let numbers = event.id.as_deref().and_then(|id| id.split_once('.'));
            let numbers = numbers.and_then(|(epoch, seq)| Some((epoch.parse().ok()?, seq.parse().ok()?)));
            if chunk["type"] == "data-gap" {
                self.history.add(Op::Gap { conversation: conversation.clone(), stream });
            } else if let Some((epoch, seq)) = numbers {
                self.cursor = event.id;
                self.history.add(Op::Told { conversation: conversation.clone(), stream, epoch, seq, chunk });
            }
        }
        None
    }
}
