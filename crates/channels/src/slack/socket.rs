//! Socket Mode: a WebSocket on which Slack sends what happens, each in an envelope that is acknowledged.

use super::client::SlackBot;
use crate::messenger::ApiError;
use egress::Egress;
use futures::{SinkExt, StreamExt};
use http::{HeaderMap, HeaderValue, StatusCode, Version, header};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use url::Url;

/// The timeout of connecting and of sending.
const TIMEOUT: Duration = Duration::from_secs(15);
/// After how long without anything, also pings of Slack, the connection is checked, and then taken for broken.
const IDLE: Duration = Duration::from_secs(30);
/// The largest message in bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// An open connection.
pub(crate) struct Socket {
    stream: WebSocketStream<reqwest::Upgraded>,
}

/// What comes over the connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SocketEvent {
    /// Something that happened, which is acknowledged by the id of its envelope. `None` if it is not read here.
    Envelope { id: String, payload: Option<Value> },
    /// The connection ends soon: another one is opened.
    Refresh,
    /// Socket Mode is switched off for the app.
    SwitchedOff,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    envelope_id: Option<String>,
    payload: Option<Value>,
    reason: Option<String>,
}

impl Socket {
    /// Opens a connection.
    pub(crate) async fn open(bot: &SlackBot) -> Result<Self, ApiError> {
        let mut url = bot.open_connection().await?;
        // A WebSocket begins as a request.
        let scheme = match url.scheme() {
            "wss" => "https",
            "ws" if bot.allow_private => "http",
            _ => return Err(unavailable("the address of the connection is not `wss://`")),
        };
        url.set_scheme(scheme).map_err(|()| unavailable("the address of the connection is wrong"))?;
        let egress = Egress::for_upgrades(bot.allow_private).map_err(ApiError::Unavailable)?;
        let upgraded = timeout(TIMEOUT, upgrade(&egress, url)).await;
        let upgraded = upgraded.unwrap_or_else(|_| Err(unavailable("the connection took too long")))?;
        let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
        Ok(Self { stream: WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await })
    }

    /// Waits for what comes next.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) async fn next(&mut self) -> Result<SocketEvent, ApiError> {
        let mut is_checked = false;
        loop {
            let Ok(received) = timeout(IDLE, self.stream.next()).await else {
                if is_checked {
                    return Err(unavailable("the connection is silent"));
                }
                is_checked = true;
                self.send(Message::Ping(Default::default())).await?;
                continue;
            };
            is_checked = false;
            match received {
                Some(Ok(Message::Text(text))) => {
                    if let Some(event) = read_envelope(&text) {
                        return Ok(event);
                    }
                }
                // Pings are answered by the library.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Ok(SocketEvent::Refresh),
                Some(Err(error)) => return Err(unavailable(&format!("the connection broke: {error}"))),
            }
        }
    }

    /// Acknowledges an envelope: Slack does not send it again.
    pub(crate) async fn acknowledge(&mut self, id: &str) -> Result<(), ApiError> {
        self.send(Message::Text(json!({ "envelope_id": id }).to_string().into())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), ApiError> {
        let sent = tokio::time::timeout_at(Instant::now() + TIMEOUT, self.stream.send(message)).await;
        sent.map_err(|_| unavailable("the connection does not take messages"))?
            .map_err(|error| unavailable(&format!("the connection broke: {error}")))
    }
}

/// Reads a message of the connection; `None` if nothing follows from it.
pub(crate) fn read_envelope(text: &str) -> Option<SocketEvent> {
    let envelope: Envelope = serde_json::from_str(text).ok()?;
    match envelope.kind.as_str() {
        "disconnect" if envelope.reason.as_deref() == Some("link_disabled") => Some(SocketEvent::SwitchedOff),
        "disconnect" => Some(SocketEvent::Refresh),
        kind => {
            let payload = envelope.payload.filter(|_| matches!(kind, "events_api" | "interactive"));
            Some(SocketEvent::Envelope { id: envelope.envelope_id?, payload })
        }
    }
}

/// Makes a request a WebSocket (RFC 6455, 4.1).
async fn upgrade(egress: &Egress, url: Url) -> Result<reqwest::Upgraded, ApiError> {
    let key = generate_key();
    let value = |text: &str| HeaderValue::try_from(text).map_err(|_| unavailable("the key is not a header"));
    let headers = HeaderMap::from_iter([
        (header::CONNECTION, HeaderValue::from_static("Upgrade")),
        (header::UPGRADE, HeaderValue::from_static("websocket")),
        (header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")),
        (header::SEC_WEBSOCKET_KEY, value(&key)?),
    ]);
    let client = egress.client(&url).map_err(|error| ApiError::Unavailable(error.to_string()))?;
    // The address has a ticket, so it is not in the error.
    let broken = |error: reqwest::Error| unavailable(&error.without_url().to_string());
    let response = client.get(url).version(Version::HTTP_11).headers(headers).send().await.map_err(broken)?;
    let accepted = response.headers().get(header::SEC_WEBSOCKET_ACCEPT);
    let is_accepted = accepted.is_some_and(|accepted| *accepted == derive_accept_key(key.as_bytes()));
    if response.status() != StatusCode::SWITCHING_PROTOCOLS || !is_accepted {
        return Err(unavailable("the server does not speak WebSocket"));
    }
    response.upgrade().await.map_err(broken)
}

fn unavailable(cause: &str) -> ApiError {
    ApiError::Unavailable(cause.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_read() {
        let check = |text: &str, expected: Option<SocketEvent>| assert_eq!(read_envelope(text), expected, "{text}");
        let envelope = |payload| Some(SocketEvent::Envelope { id: "e".to_owned(), payload });
        check(r#"{"type":"hello","num_connections":1}"#, None);
        check(r#"{"type":"events_api","envelope_id":"e","payload":{"a":1}}"#, envelope(Some(json!({ "a": 1 }))));
        check(r#"{"type":"interactive","envelope_id":"e","payload":{}}"#, envelope(Some(json!({}))));
        check(r#"{"type":"slash_commands","envelope_id":"e","payload":{}}"#, envelope(None));
        check(r#"{"type":"disconnect","reason":"refresh_requested"}"#, Some(SocketEvent::Refresh));
        check(r#"{"type":"disconnect","reason":"link_disabled"}"#, Some(SocketEvent::SwitchedOff));
        check("nonsense", None);
    }
}
