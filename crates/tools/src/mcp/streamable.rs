//! Streamable HTTP (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>): rmcp keeps the
//! session, and this sends its messages.
//!
//! It is our own instead of rmcp's client, so that an answer is bounded before it is read, and a request that nobody will answer ends at
//! once: rmcp's client hands on an error that does not name its request, which is how many servers refuse a session that they have
//! forgotten.

use super::failure::{RequestFailure, is_uncorrelated};
use super::{MAX_MESSAGE, message};
use ::sse::{DecodeError, Decoder, Limits};
use futures::StreamExt;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
/// Bytes of an answer that refuses something.
const MAX_REFUSAL: usize = 64 << 10;
/// Attempts in a row to go on with a stream at the same event.
const MAX_RESUMES: u32 = 4;
/// Attempts are in a row if no more than this is between them.
const IN_A_ROW: Duration = Duration::from_secs(10);

type Failed = StreamableHttpError<RequestFailure>;
type Answer = Result<StreamableHttpPostResponse, Failed>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<http::HeaderName, http::HeaderValue>;

/// Sends messages to a server.
#[derive(Clone)]
pub(super) struct HttpClient {
    client: reqwest::Client,
    resumed: Arc<Mutex<Option<Resumed>>>,
}

/// Where a stream was last gone on with.
struct Resumed {
    event: String,
    times: u32,
    at: Instant,
}

impl HttpClient {
    /// Sends by this client, which decides where requests may go.
    pub(super) fn new(client: reqwest::Client) -> Self {
        Self { client, resumed: Arc::default() }
    }

    /// Whether a stream may be gone on with at this event: not if that has led nowhere several times, since the call would hang.
    fn may_resume(&self, event: &str) -> bool {
        let mut resumed = self.resumed.lock();
        let before = resumed.take().filter(|before| before.event == event && before.at.elapsed() < IN_A_ROW);
        let times = before.map_or(0, |before| before.times) + 1;
        *resumed = Some(Resumed { event: event.to_owned(), times, at: Instant::now() });
        times <= MAX_RESUMES
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = RequestFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Answer {
        let asked = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let request = with_headers(self.client.post(&*uri), session_id.as_deref(), auth_header, custom_headers);
        let response = request.json(&message).send().await.map_err(unsent)?;
        let status = response.status();
        if !status.is_success() {
            return refused(response, session_id.is_some(), asked.as_ref()).await;
        }
        // What is no request has no answer, whatever is said to it.
        let Some(asked) = asked else { return Ok(StreamableHttpPostResponse::Accepted) };
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = header(response.headers(), SESSION);
        let kind = header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response, Some(asked)), session));
        }
        if !kind.starts_with(JSON) {
            return Err(unknown(format!("it answered with `{kind}`, which is none of the protocol's media types")));
        }
        let body = read(response, MAX_MESSAGE).await?;
        let message = read_answer(&body, &asked)?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failed> {
        let request = with_headers(self.client.delete(&*uri), Some(&session_id), auth_header, custom_headers);
        let response = request.send().await.map_err(unsent)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportDeleteSession),
            // A session that is unknown needs no end.
            status if status.is_success() || status.is_client_error() => Ok(()),
            status => Err(StreamableHttpError::Client(RequestFailure::Refused(format!("HTTP {}", status.as_u16())))),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Failed> {
        let mut request = with_headers(self.client.get(&*uri), session_id.as_deref(), auth_header, custom_headers);
        if let Some(event) = &last_event_id {
            if !self.may_resume(event) {
                return Err(StreamableHttpError::ServerDoesNotSupportSse);
            }
            request = request.header(LAST_EVENT, event);
        }
        let response = request.send().await.map_err(unsent)?;
        let status = response.status();
        let kind = header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default().to_ascii_lowercase();
        if status.is_success() && kind.starts_with(EVENTS) {
            return Ok(events(response, None));
        }
        if status.is_server_error() {
            return Err(unknown(format!("HTTP {}", status.as_u16())));
        }
        // Whoever has no such stream, or has forgotten the session, says the same when asked again.
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

fn with_headers(
    request: RequestBuilder,
    session: Option<&str>,
    token: Option<String>,
    mut headers: Headers,
) -> RequestBuilder {
    // These are the transport's to say.
    headers.retain(|name, _| ![ACCEPT.as_str(), SESSION, LAST_EVENT].contains(&name.as_str()));
    let mut request = request.headers(headers.into_iter().collect()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
    if let Some(session) = session {
        request = request.header(SESSION, session);
    }
    match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// What an answer with an error's status means.
async fn refused(response: Response, has_session: bool, asked: Option<&RequestId>) -> Answer {
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        let challenge = header(response.headers(), WWW_AUTHENTICATE.as_str()).unwrap_or_default();
        return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
    }
    let number = status.as_u16();
    // 404 is what the protocol has for a session that is over.
    let is_over = status == StatusCode::NOT_FOUND && has_session;
    let body = read(response, MAX_REFUSAL).await.unwrap_or_default();
    if let (Some(asked), false) = (asked, is_over)
        && let Ok(ServerJsonRpcMessage::Error(error)) = read_answer(&body, asked)
        // Whoever cannot name the request has not run it, unless the status says that something broke.
        && !(status.is_client_error() && is_uncorrelated(&error.error))
    {
        return Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), None));
    }
    let failure = match status {
        StatusCode::REQUEST_TIMEOUT => RequestFailure::Unknown(format!("HTTP {number}")),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::PAYLOAD_TOO_LARGE => RequestFailure::Declined(number),
        status if status.is_client_error() => RequestFailure::Refused(format!("HTTP {number}")),
        _ => RequestFailure::Unknown(format!("HTTP {number}")),
    };
    Err(StreamableHttpError::Client(failure))
}

/// The answer to a request in a body; an answer to something else is none.
fn read_answer(body: &[u8], asked: &RequestId) -> Result<ServerJsonRpcMessage, Failed> {
    let text = std::str::from_utf8(body).map_err(|_| unknown("its answer is no text".to_owned()))?;
    let message = serde_json::from_str(&message::fit(text, Some(asked)));
    let message = message.map_err(|error| unknown(format!("its answer is no message of the protocol: {error}")))?;
    let id = match &message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    };
    match id {
        Some(id) if id.to_string() == asked.to_string() => Ok(message),
        _ => Err(unknown("it answered something that was not asked".to_owned())),
    }
}

/// The body, if it is no larger than this.
async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unknown(error.without_url().to_string()))? {
        if body.len() + chunk.len() > most {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: most });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The events of a stream; `asked` is the request that they answer.
fn events(response: Response, asked: Option<RequestId>) -> Events {
    let decoder = Decoder::new(Limits { line: MAX_MESSAGE, event: MAX_MESSAGE });
    let stream = futures::stream::unfold(Some((response, decoder, asked)), async |state| {
        let (mut response, mut decoder, asked) = state?;
        loop {
            if let Some(::sse::Event { event, data, id }) = decoder.next() {
                let data = message::fit(&data, asked.as_ref()).into_owned();
                let event = Sse { event, data: Some(data), id, retry: None };
                return Some((Ok(event), Some((response, decoder, asked))));
            }
            match response.chunk().await {
                Ok(Some(chunk)) => match decoder.push(&chunk) {
                    Ok(()) => {}
                    // Going on with the stream would begin with the same event.
                    Err(error) => return too_large(error, asked?).map(|event| (Ok(event), None)),
                },
                Ok(None) => return None,
                Err(error) => return Some((Err(SseError::Body(Box::new(error.without_url()))), None)),
            }
        }
    });
    stream.boxed()
}

/// What ends a request whose answer cannot be read.
fn too_large(error: DecodeError, asked: RequestId) -> Option<Sse> {
    let data = message::refusal(None, Some(&asked), &format!("its answer cannot be read: {error}"));
    Some(Sse { data: Some(data), ..Sse::default() })
}

fn unsent(error: reqwest::Error) -> Failed {
    let is_unsent = error.is_connect() || error.is_builder();
    // The address may hold a key.
    let text = error.without_url().to_string();
    StreamableHttpError::Client(if is_unsent { RequestFailure::Unsent(text) } else { RequestFailure::Unknown(text) })
}

fn unknown(why: String) -> Failed {
    StreamableHttpError::Client(RequestFailure::Unknown(why))
}
