//! Socket Mode: a WebSocket on which Slack sends what happens, each in an envelope that is acknowledged.

use super::client::SlackBot;
use crate::messenger::{ApiError, Received, WebSocket};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// The time without any message, including pings of Slack, after which the connection is checked, and then
/// counts as broken.
const IDLE: Duration = Duration::from_secs(30);
/// The largest message in bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// An open connection.
pub(crate) struct Socket(WebSocket);

/// An event of the connection.
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
        let url = bot.open_connection().await?;
        Ok(Self(WebSocket::open(url, bot.site.allow_private, MAX_MESSAGE).await?))
    }

    /// Waits for what comes next.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) async fn next(&mut self) -> Result<SocketEvent, ApiError> {
        let mut is_checked = false;
        loop {
            let Ok(received) = timeout(IDLE, self.0.receive()).await else {
                if is_checked {
                    return Err(ApiError::Unavailable("the connection is silent".to_owned()));
                }
                is_checked = true;
                self.0.ping().await?;
                continue;
            };
            is_checked = false;
            match received? {
                Received::Text(text) => {
                    if let Some(event) = read_envelope(&text) {
                        return Ok(event);
                    }
                }
                Received::Binary(_) | Received::Sign => {}
                Received::Closed(_) => return Ok(SocketEvent::Refresh),
            }
        }
    }

    /// Acknowledges an envelope: Slack does not send it again.
    pub(crate) async fn acknowledge(&mut self, id: &str) -> Result<(), ApiError> {
        self.0.send(json!({ "envelope_id": id }).to_string()).await
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
