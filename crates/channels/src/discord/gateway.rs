//! The Gateway: a WebSocket on which Discord sends what happens, numbered within a session. Another connection
//! continues with the session after a number, and gets what came after it; Discord keeps that for some minutes.

use super::client::DiscordBot;
use super::types::{Hello, Payload, Ready};
use crate::messenger::{ApiError, Received, Refusal, WebSocket};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};
use url::Url;

/// The time limit of the beginning of a connection.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The largest message in bytes.
const MAX_MESSAGE: usize = 4 << 20;
/// The bounds of the time between two heartbeats.
const INTERVALS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(120)];
/// The version of the Gateway and its encoding.
const QUERY: &str = "v=10&encoding=json";
/// The events that are sent: messages in servers and direct messages. Their texts come without a further
/// right if they mention the bot, reply to it or are direct messages. Commands and pressed buttons are always
/// sent.
const INTENTS: u64 = 1 << 9 | 1 << 12;

const DISPATCH: u64 = 0;
const HEARTBEAT: u64 = 1;
const IDENTIFY: u64 = 2;
const RESUME: u64 = 6;
const RECONNECT: u64 = 7;
const INVALID_SESSION: u64 = 9;
const HELLO: u64 = 10;
const HEARTBEAT_ACK: u64 = 11;

/// The position at which a session continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GatewayPosition {
    session_id: String,
    url: String,
    sequence: u64,
}

/// A connection.
pub(crate) struct Gateway {
    socket: WebSocket,
    /// `None` until there is a session.
    position: Option<GatewayPosition>,
    interval: Duration,
    next_heartbeat: Instant,
    /// Whether Discord has acknowledged the last heartbeat.
    is_acknowledged: bool,
}

/// An event of a connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GatewayEvent {
    /// A session has begun; with the id of the application.
    Ready { application_id: String },
    /// Something that happened.
    Event { kind: String, data: Value },
    /// Some time has passed.
    Tick,
    /// The connection has ended: another one continues with the session.
    Reconnect,
    /// The session has ended: another one begins.
    NoSession,
}

impl Gateway {
    /// Opens a connection that continues at a position, or begins a session.
    pub(crate) async fn open(bot: &DiscordBot, position: Option<GatewayPosition>) -> Result<Self, ApiError> {
        let opened = match &position {
            Some(position) => connect(bot, &position.url).await,
            None => connect(bot, &bot.gateway_url().await?).await,
        };
        let (mut socket, interval) = match opened {
            // The address of an old session can be gone for good. At the current one, Discord says whether it
            // continues.
            Err(ApiError::Unavailable(_)) if position.is_some() => connect(bot, &bot.gateway_url().await?).await?,
            connected => connected?,
        };
        let first = match &position {
            Some(GatewayPosition { session_id, sequence, .. }) => {
                json!({ "op": RESUME, "d": { "token": bot.token, "session_id": session_id, "seq": sequence } })
            }
            None => {
                let properties = json!({ "os": std::env::consts::OS, "browser": "chatwright", "device": "chatwright" });
                json!({ "op": IDENTIFY, "d": { "token": bot.token, "intents": INTENTS, "properties": properties } })
            }
        };
        socket.send(first.to_string()).await?;
        // The first heartbeat may come at any time within the interval.
        let next_heartbeat = Instant::now() + interval / 2;
        Ok(Self { socket, position, interval, next_heartbeat, is_acknowledged: true })
    }

    /// Returns where another connection continues after what [`Gateway::next`] has returned.
    pub(crate) fn position(&self) -> Option<&GatewayPosition> {
        self.position.as_ref()
    }

    /// Waits for what comes next.
    ///
    /// # Errors
    /// The connection is broken, or Discord refuses the bot.
    pub(crate) async fn next(&mut self) -> Result<GatewayEvent, ApiError> {
        loop {
            let received = tokio::select! {
                received = self.socket.receive() => received?,
                () = sleep_until(self.next_heartbeat) => {
                    if !self.is_acknowledged {
                        return Err(unavailable("the connection is silent"));
                    }
                    self.send_heartbeat().await?;
                    return Ok(GatewayEvent::Tick);
                }
            };
            match received {
                Received::Text(text) => {
                    if let Some(event) = self.read(&text).await? {
                        return Ok(event);
                    }
                }
                Received::Binary(_) | Received::Sign => {}
                Received::Closed(code) => return closed(code),
            }
        }
    }

    async fn read(&mut self, text: &str) -> Result<Option<GatewayEvent>, ApiError> {
        let Ok(payload) = serde_json::from_str::<Payload>(text) else { return Ok(None) };
        match payload.op {
            DISPATCH => Ok(self.dispatch(payload)),
            HEARTBEAT => self.send_heartbeat().await.map(|()| None),
            HEARTBEAT_ACK => {
                self.is_acknowledged = true;
                Ok(None)
            }
            RECONNECT => Ok(Some(GatewayEvent::Reconnect)),
            INVALID_SESSION if payload.d == Value::Bool(true) => Ok(Some(GatewayEvent::Reconnect)),
            INVALID_SESSION => Ok(Some(GatewayEvent::NoSession)),
            _ => Ok(None),
        }
    }

    fn dispatch(&mut self, payload: Payload) -> Option<GatewayEvent> {
        let (kind, sequence) = (payload.t?, payload.s?);
        if kind == "READY" {
            let Ready { session_id, resume_gateway_url: url, application } = Ready::deserialize(payload.d).ok()?;
            self.position = Some(GatewayPosition { session_id, url, sequence });
            return Some(GatewayEvent::Ready { application_id: application.id });
        }
        self.position.as_mut()?.sequence = sequence;
        matches!(kind.as_str(), "MESSAGE_CREATE" | "INTERACTION_CREATE")
            .then_some(GatewayEvent::Event { kind, data: payload.d })
    }

    /// Sends a heartbeat, with the number of what was received last.
    async fn send_heartbeat(&mut self) -> Result<(), ApiError> {
        let sequence = self.position.as_ref().map(|position| position.sequence);
        self.socket.send(json!({ "op": HEARTBEAT, "d": sequence }).to_string()).await?;
        self.is_acknowledged = false;
        self.next_heartbeat = Instant::now() + self.interval;
        Ok(())
    }
}

/// Connects to an address. Returns the connection and the time between two heartbeats.
async fn connect(bot: &DiscordBot, url: &str) -> Result<(WebSocket, Duration), ApiError> {
    let mut url = Url::parse(url).map_err(|_| unavailable("the address of the connection is wrong"))?;
    url.set_query(Some(QUERY));
    let mut socket = WebSocket::open(url, bot.site.allow_private, MAX_MESSAGE).await?;
    let hello = timeout(TIMEOUT, hello(&mut socket)).await;
    let interval = hello.unwrap_or_else(|_| Err(unavailable("the connection does not begin")))?;
    Ok((socket, interval))
}

/// Waits for the time between two heartbeats, with which Discord begins.
async fn hello(socket: &mut WebSocket) -> Result<Duration, ApiError> {
    loop {
        match socket.receive().await? {
            Received::Text(text) => {
                let payload = serde_json::from_str::<Payload>(&text).ok().filter(|payload| payload.op == HELLO);
                let hello = payload.and_then(|payload| Hello::deserialize(payload.d).ok());
                let [least, most] = INTERVALS;
                return hello
                    .map(|hello| Duration::from_millis(hello.heartbeat_interval).clamp(least, most))
                    .ok_or_else(|| unavailable("the connection does not begin as one of Discord"));
            }
            Received::Binary(_) | Received::Sign => {}
            Received::Closed(code) => return closed(code).and(Err(unavailable("the connection ended at once"))),
        }
    }
}

/// Returns the meaning of the code with which Discord closes a connection.
fn closed(code: Option<u16>) -> Result<GatewayEvent, ApiError> {
    match code {
        Some(4004) => {
            let description = "the token is not valid".to_owned();
            Err(ApiError::Refused { refusal: Refusal::Token, description })
        }
        Some(code @ 4010..=4014) => Err(ApiError::refused(format!("the Gateway refuses the bot (code {code})"))),
        Some(4007 | 4009) => Ok(GatewayEvent::NoSession),
        _ => Ok(GatewayEvent::Reconnect),
    }
}

fn unavailable(cause: &str) -> ApiError {
    ApiError::Unavailable(cause.to_owned())
}

/// Reads a frame of a connection, for a fuzz target: the kind of an event and its data.
#[cfg(feature = "fuzz")]
pub(crate) fn fuzz_payload(text: &str) -> Option<(String, Value)> {
    let payload = serde_json::from_str::<Payload>(text).ok()?;
    Some((payload.t?, payload.d))
}
