//! Streamable HTTP
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>):
//! rmcp manages the session, and this client sends its messages.
//!
//! It replaces rmcp's own client, so that answers are bounded before they are parsed, and a request
//! that will not be answered ends at once: rmcp's client passes on an error that does not name its
//! request, which is how many servers refuse a session that they have forgotten.

use crate::failure::{HttpFailure, is_uncorrelated};
use crate::http::token_challenge;
use crate::{MAX_MESSAGE, message};
use ::sse::{DecodeError, SseDecoder, SseLimits};
use futures::StreamExt;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
/// The maximum size of an error's body in bytes.
const MAX_REFUSAL: usize = 64 << 10;
/// The maximum number of consecutive attempts to resume a stream at the same event.
const MAX_RESUMES: u32 = 4;
/// Attempts count as consecutive within this time.
const RESUME_WINDOW: Duration = Duration::from_secs(60);
/// The shortest and the longest time after which a server may ask to resume a stream, in milliseconds. The longest is
/// shorter than the window.
const RETRY: RangeInclusive<u64> = 500..=30_000;

type PostError = StreamableHttpError<HttpFailure>;
type PostResult = Result<StreamableHttpPostResponse, PostError>;
type EventStream = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<http::HeaderName, http::HeaderValue>;

/// Sends messages to a server.
#[derive(Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    resumed: Arc<Mutex<Option<ResumeAttempt>>>,
}

/// Where a stream was last resumed.
struct ResumeAttempt {
    event: String,
    times: u32,
    at: Instant,
}

impl HttpClient {
    /// Creates a client; `client` decides where requests may go.
    pub(crate) fn new(client: reqwest::Client) -> Self {
        Self { client, resumed: Arc::default() }
    }

    /// Returns whether a stream may be resumed at this event. After several attempts without
    /// progress it may not, because the call would hang.
    fn may_resume(&self, event: &str) -> bool {
        let mut resumed = self.resumed.lock();
        let before = resumed.take().filter(|before| before.event == event && before.at.elapsed() < RESUME_WINDOW);
        let times = before.map_or(0, |before| before.times) + 1;
        *resumed = Some(ResumeAttempt { event: event.to_owned(), times, at: Instant::now() });
        times <= MAX_RESUMES
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> PostResult {
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
        // A notification has no answer, whatever the body is.
        let Some(asked) = asked else { return Ok(StreamableHttpPostResponse::Accepted) };
        // Nobody would answer the request any more: the protocol allows this for notifications only.
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Err(unknown(format!("it accepted the request without an answer: HTTP {}", status.as_u16())));
        }
        let session = header(response.headers(), SESSION);
        let kind = header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response, Some(asked)), session));
        }
        if !kind.starts_with(JSON) {
            return Err(unknown(format!(
                "it answered with the media type `{kind}`, which the protocol does not allow"
            )));
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
    ) -> Result<(), PostError> {
        let request = with_headers(self.client.delete(&*uri), Some(&session_id), auth_header, custom_headers);
        let response = request.send().await.map_err(unsent)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportDeleteSession),
            // An unknown session does not need to be deleted.
            status if status.is_success() || status.is_client_error() => Ok(()),
            status => Err(StreamableHttpError::Client(HttpFailure::Refused(format!("HTTP {}", status.as_u16())))),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<EventStream, PostError> {
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
        // A server without such a stream, or one that has forgotten the session, would answer a
        // retry in the same way.
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

fn with_headers(
    request: RequestBuilder,
    session: Option<&str>,
    token: Option<String>,
    mut headers: Headers,
) -> RequestBuilder {
    // These headers belong to the transport.
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

/// Interprets an answer with an error status.
async fn refused(response: Response, has_session: bool, asked: Option<&RequestId>) -> PostResult {
    let status = response.status();
    if let Some(challenge) = token_challenge(&response) {
        return Err(match status {
            StatusCode::UNAUTHORIZED => StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)),
            _ => StreamableHttpError::Client(HttpFailure::Unauthorized(challenge)),
        });
    }
    let number = status.as_u16();
    // 404 is the protocol's status for a session that has ended.
    let is_over = status == StatusCode::NOT_FOUND && has_session;
    let body = read(response, MAX_REFUSAL).await.unwrap_or_default();
    if let (Some(asked), false) = (asked, is_over)
        && let Ok(ServerJsonRpcMessage::Error(error)) = read_answer(&body, asked)
        // A server that cannot name the request has not run it, unless the status reports an
        // internal error.
        && !(status.is_client_error() && is_uncorrelated(&error.error))
    {
        if has_session && may_be_about_session(status, &error.error) {
            return Err(StreamableHttpError::Client(HttpFailure::Refused(error.error.message.to_string())));
        }
        return Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), None));
    }
    let failure = match status {
        StatusCode::REQUEST_TIMEOUT => HttpFailure::Unknown(format!("HTTP {number}")),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::PAYLOAD_TOO_LARGE => HttpFailure::Declined(number),
        status if status.is_client_error() => HttpFailure::Refused(format!("HTTP {number}")),
        _ => HttpFailure::Unknown(format!("HTTP {number}")),
    };
    Err(StreamableHttpError::Client(failure))
}

/// Returns whether an error that answers a request with a session may mean that the session is
/// unknown. There is neither a code nor a fixed text for that, so it is any refusal that is not
/// about the method, the arguments or the number of requests.
fn may_be_about_session(status: StatusCode, error: &ErrorData) -> bool {
    let is_other =
        matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::TOO_MANY_REQUESTS);
    let is_about_request =
        matches!(error.code, ErrorCode::METHOD_NOT_FOUND | ErrorCode::INVALID_PARAMS | ErrorCode::INTERNAL_ERROR);
    status.is_client_error() && !is_other && !is_about_request
}

/// Parses the answer to a request; fails if the body answers something else.
fn read_answer(body: &[u8], asked: &RequestId) -> Result<ServerJsonRpcMessage, PostError> {
    let text = std::str::from_utf8(body).map_err(|_| unknown("its answer is not UTF-8".to_owned()))?;
    let message = serde_json::from_str(&message::fit(text, Some(asked)));
    let message = message.map_err(|error| unknown(format!("its answer is not a valid message: {error}")))?;
    let id = match &message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    };
    match id {
        Some(id) if id.to_string() == asked.to_string() => Ok(message),
        _ => Err(unknown("its answer does not belong to the request".to_owned())),
    }
}

/// Reads the body, if it is not larger than `most`.
async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, PostError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unknown(error.without_url().to_string()))? {
        if body.len() + chunk.len() > most {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: most });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Returns the events of a stream; `asked` is the request that they answer.
fn events(response: Response, asked: Option<RequestId>) -> EventStream {
    let decoder = SseDecoder::new(SseLimits { line: MAX_MESSAGE, event: MAX_MESSAGE });
    let stream = futures::stream::unfold(Some((response, decoder, asked)), async |state| {
        let (mut response, mut decoder, asked) = state?;
        loop {
            // rmcp waits for this long before it resumes the stream.
            if let Some(retry) = decoder.take_retry() {
                let retry = retry.clamp(*RETRY.start(), *RETRY.end());
                return Some((Ok(Sse { retry: Some(retry), ..Sse::default() }), Some((response, decoder, asked))));
            }
            if let Some(::sse::Event { event, data, id }) = decoder.next() {
                let data = message::fit(&data, asked.as_ref()).into_owned();
                let event = Sse { event, data: Some(data), id, retry: None };
                return Some((Ok(event), Some((response, decoder, asked))));
            }
            match response.chunk().await {
                Ok(Some(chunk)) => match decoder.push(&chunk) {
                    Ok(()) => {}
                    // Resuming the stream would start with the same event.
                    Err(error) => return too_large(error, asked?).map(|event| (Ok(event), None)),
                },
                Ok(None) => return None,
                Err(error) => return Some((Err(SseError::Body(Box::new(error.without_url()))), None)),
            }
        }
    });
    stream.boxed()
}

/// Returns the event that ends a request whose answer cannot be read.
fn too_large(error: DecodeError, asked: RequestId) -> Option<Sse> {
    let data = message::error_response(None, Some(&asked), &format!("its answer cannot be read: {error}"));
    Some(Sse { data: Some(data), ..Sse::default() })
}

fn unsent(error: reqwest::Error) -> PostError {
    let is_unsent = error.is_connect() || error.is_builder();
    // The URL may contain a key.
    let text = error.without_url().to_string();
    StreamableHttpError::Client(if is_unsent { HttpFailure::Unsent(text) } else { HttpFailure::Unknown(text) })
}

fn unknown(why: String) -> PostError {
    StreamableHttpError::Client(HttpFailure::Unknown(why))
}
