//! The HTTP transport of 2024
//! (<https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>): one
//! stream of events, the first of which has the URL to post messages to.

use crate::failure::HttpFailure;
use crate::http::{HttpAccess, token_challenge};
use crate::{CONNECT_TIME, MAX_MESSAGE, message};
use reqwest::header::{ACCEPT, HeaderMap};
use reqwest::{Client, Response};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use sse::{SseDecoder, SseLimits};
use url::Url;

/// The transport.
pub(crate) struct SseTransport {
    events: SseReader,
    client: Client,
    headers: HeaderMap,
    /// The URL to post messages to.
    messages: Url,
}

/// The events of a server.
struct SseReader {
    response: Response,
    decoder: SseDecoder,
}

impl SseReader {
    /// Returns the next event; `None` when the stream ends or cannot be read.
    async fn next(&mut self) -> Option<sse::Event> {
        loop {
            if let Some(event) = self.decoder.next() {
                return Some(event);
            }
            let chunk = self.response.chunk().await.ok()??;
            self.decoder.push(&chunk).ok()?;
        }
    }
}

/// Opens the stream and reads the URL for messages.
pub(crate) async fn open(access: &HttpAccess) -> Result<SseTransport, HttpFailure> {
    let failed = HttpFailure::Unknown;
    let request = access.client.get(access.url.clone()).headers(access.headers.clone());
    let response = request
        .header(ACCEPT, "text/event-stream")
        .send()
        .await
        .map_err(|error| failed(error.without_url().to_string()))?;
    if let Some(challenge) = token_challenge(&response) {
        return Err(HttpFailure::Unauthorized(challenge));
    }
    if !response.status().is_success() {
        return Err(failed(format!("the server answered {}", response.status().as_u16())));
    }
    let decoder = SseDecoder::new(SseLimits { line: MAX_MESSAGE, event: MAX_MESSAGE });
    let mut events = SseReader { response, decoder };
    let first = events.next().await.filter(|event| event.event.as_deref() == Some("endpoint"));
    let place = first.ok_or_else(|| failed("the stream does not start with an `endpoint` event".to_owned()))?.data;
    let messages = access.url.join(&place).map_err(|_| failed("the URL for messages is invalid".to_owned()))?;
    // Each message carries the keys.
    if messages.origin() != access.url.origin() {
        return Err(failed("the URL for messages is on another server".to_owned()));
    }
    Ok(SseTransport { events, client: access.client.clone(), headers: access.headers.clone(), messages })
}

impl Transport<RoleClient> for SseTransport {
    type Error = HttpFailure;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), HttpFailure>> + Send + 'static {
        let request = self.client.post(self.messages.clone()).headers(self.headers.clone()).json(&item);
        async move {
            let answer = request.timeout(CONNECT_TIME).send().await.map_err(|error| {
                let is_unsent = error.is_connect();
                let text = error.without_url().to_string();
                if is_unsent { HttpFailure::Unsent(text) } else { HttpFailure::Unknown(text) }
            })?;
            if let Some(challenge) = token_challenge(&answer) {
                return Err(HttpFailure::Unauthorized(challenge));
            }
            let number = answer.status().as_u16();
            match answer.status() {
                status if status.is_success() => Ok(()),
                status if status.is_client_error() => Err(HttpFailure::Refused(format!("HTTP {number}"))),
                _ => Err(HttpFailure::Unknown(format!("HTTP {number}"))),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let event = self.events.next().await?;
            if event.event.as_deref().is_some_and(|kind| kind != "message") {
                continue;
            }
            match serde_json::from_str(&message::fit(&event.data, None)) {
                Ok(message) => return Some(message),
                Err(error) => tracing::debug!(%error, "ignored an invalid message"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), HttpFailure> {
        Ok(())
    }
}
