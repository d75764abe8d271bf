//! A user: sends, reads along, loses the connection and comes again, decides, reads what is stored. All of it goes into the history.

use crate::history::{History, Op};
use crate::provider::Script;
use anyhow::{Result, bail};
use futures::StreamExt;
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Nothing that is asked takes longer; a stream may.
const PATIENCE: Duration = Duration::from_secs(30);

/// One user at one server.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    origin: String,
    user: String,
    /// The header that says who it is.
    known_by: (&'static str, String),
    history: History,
}

/// What became of a message that was sent.
pub(crate) enum Offered {
    /// It is answered.
    Accepted(Response),
    /// It was not taken.
    Refused(Refusal),
}

/// What came of joining a conversation's stream.
pub(crate) enum Joined {
    /// The stream.
    Stream(Response),
    /// No answer is being written.
    Nothing,
    /// Neither was said; the status.
    Refused(u16),
}

/// A message that was not taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    /// Why.
    pub(crate) status: u16,
    /// In how many seconds to come again, if that was said.
    pub(crate) retry_after: Option<u64>,
}

/// How a stream ended for its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With `[DONE]`; the chunks' types.
    Done(Vec<String>),
    /// The connection was cut, or the client left; the last cursor.
    Cut(Option<String>),
}

impl End {
    /// Whether the answer came to an end in order.
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self, Self::Done(kinds) if kinds.iter().any(|kind| kind == "finish"))
    }
}

impl Client {
    /// A user of this name.
    pub(crate) fn new(origin: &str, user: &str, history: &History) -> Result<Self> {
        Self::known_by(origin, user, ("x-forwarded-user", user.to_owned()), history)
    }

    /// A user with this id whose browser has this cookie.
    pub(crate) fn signed_in(origin: &str, id: &str, cookie: &str, history: &History) -> Result<Self> {
        Self::known_by(origin, id, ("cookie", cookie.to_owned()), history)
    }

    fn known_by(origin: &str, user: &str, known_by: (&'static str, String), history: &History) -> Result<Self> {
        // Nothing here speaks TLS, and reading the system's certificates takes a tenth of a second for each of a thousand clients.
        let http = reqwest::Client::builder().tls_certs_only([]).redirect(reqwest::redirect::Policy::none());
        let http =
            http.connect_timeout(Duration::from_secs(5)).read_timeout(PATIENCE).pool_max_idle_per_host(1).build()?;
        Ok(Self { http, origin: origin.to_owned(), user: user.to_owned(), known_by, history: history.clone() })
    }

    /// A request in his name.
    pub(crate) fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        let (name, value) = &self.known_by;
        self.http.request(method, format!("{}{path}", self.origin)).header(*name, value)
    }

    /// As whom the server knows him.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// What its requests go into.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// The status of a path; none without an answer.
    pub(crate) async fn status(&self, path: &str) -> Option<u16> {
        let asked = self.ask(Method::GET, path).timeout(PATIENCE).send().await;
        asked.ok().map(|response| response.status().as_u16())
    }

    /// Sends a message; the stream when it was accepted, else the status.
    pub(crate) async fn send(&self, conversation: &str, script: &Script) -> Result<Result<Response, u16>> {
        Ok(match self.offer(conversation, script).await? {
            Offered::Accepted(response) => Ok(response),
            Offered::Refused(refusal) => Err(refusal.status),
        })
    }

    /// The same with all that a refusal says.
    pub(crate) async fn offer(&self, conversation: &str, script: &Script) -> Result<Offered> {
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
            return Ok(Offered::Accepted(response));
        }
        let status = status.as_u16();
        self.history.add(Op::Refused { conversation, message, status });
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse().ok());
        Ok(Offered::Refused(Refusal { status, retry_after }))
    }

    async fn post(&self, conversation: &str, message: Value) -> Result<Response> {
        let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message] });
        let path = format!("/api/agent/page/worker?conversationId={conversation}");
        Ok(self.ask(Method::POST, &path).json(&body).send().await?)
    }

    /// Says yes to what waits in a conversation; the stream of what follows. None when nothing waits.
    pub(crate) async fn approve(&self, conversation: &str) -> Result<Option<Response>> {
        let Some(view) = self.view(conversation).await? else { return Ok(None) };
        let mut answer = view["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
        let mut said = 0;
        for part in answer["parts"].as_array_mut().into_iter().flatten() {
            // What was cut off may have had its effect, and is to have it once: no.
            let is_cut_off = !part["approval"]["terms"]["cutOff"].is_null();
            if is_cut_off && part["state"] == "approval-requested" {
                part["state"] = "approval-responded".into();
                part["approval"]["approved"] = false.into();
                said += 1;
            } else if part["state"] == "approval-requested" {
                let call = part["toolCallId"].as_str().unwrap_or_default().to_owned();
                self.history.add(Op::Approved { conversation: conversation.to_owned(), call });
                part["state"] = "approval-responded".into();
                part["approval"]["approved"] = true.into();
                said += 1;
            }
        }
        if said == 0 {
            return Ok(None);
        }
        let response = self.post(conversation, answer).await?;
        Ok((response.status() == StatusCode::OK).then_some(response))
    }

    /// Joins a conversation's stream, behind a cursor or from its start.
    pub(crate) async fn join(&self, conversation: &str, cursor: Option<&str>) -> Result<Joined> {
        let request = self.ask(Method::GET, &format!("/api/agent/page/worker/{conversation}/stream"));
        let request = cursor.into_iter().fold(request, |request, cursor| request.header("last-event-id", cursor));
        let response = request.send().await?;
        Ok(match response.status() {
            StatusCode::OK => Joined::Stream(response),
            StatusCode::NO_CONTENT => Joined::Nothing,
            status => Joined::Refused(status.as_u16()),
        })
    }

    /// Reads a stream to its end, or leaves after so many events.
    pub(crate) async fn read(&self, conversation: &str, response: Response, leave_after: Option<usize>) -> End {
        let mut reader = Reader::new(&self.history, conversation);
        let mut bytes = response.bytes_stream();
        while let Some(Ok(piece)) = bytes.next().await {
            if let Some(done) = reader.take(&piece) {
                return End::Done(done);
            }
            if leave_after.is_some_and(|most| reader.kinds.len() >= most) {
                break;
            }
        }
        End::Cut(reader.cursor)
    }

    /// Sends a message and reads the answer, coming again when the connection is lost on purpose.
    pub(crate) async fn turn(&self, conversation: &str, script: &Script, leave_after: Option<usize>) -> Result<End> {
        let Ok(response) = self.send(conversation, script).await? else { return Ok(End::Cut(None)) };
        match self.read(conversation, response, leave_after).await {
            End::Cut(Some(cursor)) if leave_after.is_some() => match self.join(conversation, Some(&cursor)).await? {
                Joined::Stream(rest) => Ok(self.read(conversation, rest, None).await),
                Joined::Nothing => Ok(End::Cut(None)),
                Joined::Refused(status @ 400..500) => bail!("coming again was answered with {status}"),
                Joined::Refused(_) => Ok(End::Cut(Some(cursor))),
            },
            end => Ok(end),
        }
    }

    /// A conversation as it stands; none when there is none. It goes into the history.
    pub(crate) async fn view(&self, conversation: &str) -> Result<Option<Value>> {
        let path = format!("/api/conversations/{conversation}");
        let response = self.ask(Method::GET, &path).timeout(PATIENCE).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let view: Value = response.error_for_status()?.json().await?;
        let (user, conversation) = (self.user.clone(), conversation.to_owned());
        self.history.add(Op::Read { user, conversation, view: view.clone() });
        Ok(Some(view))
    }
}

/// Takes a stream's bytes apart and writes down what it tells.
pub(crate) struct Reader {
    history: History,
    conversation: String,
    stream: u64,
    decoder: sse::Decoder,
    /// The types of the chunks so far.
    pub(crate) kinds: Vec<String>,
    cursor: Option<String>,
}

impl Reader {
    /// For a stream of a conversation.
    pub(crate) fn new(history: &History, conversation: &str) -> Self {
        static STREAMS: AtomicU64 = AtomicU64::new(0);
        Self {
            history: history.clone(),
            conversation: conversation.to_owned(),
            stream: STREAMS.fetch_add(1, Relaxed),
            decoder: sse::Decoder::new(sse::Limits::default()),
            kinds: Vec::new(),
            cursor: None,
        }
    }

    /// Takes what has come; the types of all chunks when that was the end.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<Vec<String>> {
        // What cannot be decoded is an event less, which the checker sees.
        let _ = self.decoder.push(bytes);
        let (stream, conversation) = (self.stream, self.conversation.clone());
        while let Some(event) = self.decoder.next() {
            if event.data == "[DONE]" {
                self.history.add(Op::Done { conversation, stream });
                return Some(std::mem::take(&mut self.kinds));
            }
            let chunk: Value = serde_json::from_str(&event.data).unwrap_or_default();
            self.kinds.push(chunk["type"].as_str().unwrap_or_default().to_owned());
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
