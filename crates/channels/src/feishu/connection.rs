//! The long connection: a WebSocket on which Feishu sends events in frames, each of which is acknowledged. Feishu knows the
//! app by the secret with which the connection is opened, so the events are neither encrypted nor signed.

use super::client::FeishuBot;
use super::frame::{CONTROL, DATA, Frame};
use super::parts::Parts;
use super::types::{ClientConfig, Endpoint};
use crate::messenger::{ApiError, Received, WebSocket};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use url::Url;

/// The largest frame in bytes.
const MAX_FRAME: usize = 1 << 20;
/// The bounds of the time between two pings, which Feishu configures.
const PING_INTERVALS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(300)];
/// The bounds of the time within which something must come after a ping.
const ANSWER_TIMES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(30)];
/// The longest delay of another connection.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// An open connection.
pub(crate) struct LongConnection {
    socket: WebSocket,
    /// The id of the service to which pings are sent.
    service: u64,
    parts: Parts,
    config: ClientConfig,
    last_ping: Option<Instant>,
    /// The time until which something must come, if a ping was sent.
    answer_by: Option<Instant>,
}

/// A delivery, which is acknowledged.
pub(crate) struct Delivery {
    /// `None` if it cannot be read.
    pub(crate) event: Option<Value>,
    frame: Frame,
    received: Instant,
}

impl LongConnection {
    /// Opens a connection.
    pub(crate) async fn open(bot: &FeishuBot) -> Result<Self, ApiError> {
        let Endpoint { url, config } = bot.endpoint().await?;
        let url = Url::parse(&url).map_err(|_| unavailable("the address of the connection is wrong"))?;
        let service = url.query_pairs().find(|(key, _)| key == "service_id").and_then(|(_, id)| id.parse::<u64>().ok());
        let socket = WebSocket::open(url, bot.site.allow_private, MAX_FRAME).await?;
        Ok(Self {
            socket,
            service: service.unwrap_or_default(),
            parts: Parts::default(),
            config: config.unwrap_or_default(),
            last_ping: None,
            answer_by: None,
        })
    }

    /// Waits for the next delivery. `None` if Feishu has closed the connection.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) async fn next(&mut self) -> Result<Option<Delivery>, ApiError> {
        loop {
            let wake_at = self.answer_by.unwrap_or_else(|| self.next_ping());
            let received = tokio::select! {
                // An answer that has come in time counts, also if it is read late.
                biased;
                received = self.socket.receive() => Some(received?),
                () = sleep_until(wake_at) => None,
            };
            let Some(received) = received else {
                self.ping().await?;
                continue;
            };
            self.answer_by = None;
            match received {
                Received::Binary(bytes) => {
                    if let Some(delivery) = self.read(&bytes) {
                        return Ok(Some(delivery));
                    }
                }
                Received::Text(_) | Received::Sign => {}
                Received::Closed(_) => return Ok(None),
            }
        }
    }

    /// Acknowledges a delivery: Feishu does not send it again.
    pub(crate) async fn acknowledge(&mut self, delivery: Delivery) -> Result<(), ApiError> {
        let millis = delivery.received.elapsed().as_millis();
        self.socket.send_bytes(delivery.frame.into_acknowledgement(millis).write()).await
    }

    /// Returns how long to wait before another connection is opened: a random time, so that not all apps whose connections
    /// were closed together come back together. Feishu configures the longest one.
    pub(crate) fn delay(&self) -> Duration {
        let longest = self.config.max_delay().min(MAX_DELAY);
        let share = f64::from(u32::from_le_bytes(auth::random_bytes::<4>())) / f64::from(u32::MAX);
        longest.mul_f64(share)
    }

    /// Returns when the next ping is to be sent. A connection begins with one, which asks for the configuration.
    fn next_ping(&self) -> Instant {
        self.last_ping.map_or_else(Instant::now, |last| last + self.interval())
    }

    fn interval(&self) -> Duration {
        let [least, most] = PING_INTERVALS;
        self.config.ping_interval().clamp(least, most)
    }

    /// Sends a ping, unless the last one was not answered.
    async fn ping(&mut self) -> Result<(), ApiError> {
        if self.answer_by.is_some() {
            return Err(unavailable("the connection is silent"));
        }
        self.socket.send_bytes(Frame::ping(self.service).write()).await?;
        let (now, [soonest, latest]) = (Instant::now(), ANSWER_TIMES);
        self.last_ping = Some(now);
        self.answer_by = Some(now + self.interval().clamp(soonest, latest));
        Ok(())
    }

    /// Reads a frame. `None` if nothing is to be acknowledged: a part of an event is not, before the last one.
    fn read(&mut self, bytes: &[u8]) -> Option<Delivery> {
        let mut frame = Frame::read(bytes)?;
        let kind = frame.header("type")?;
        match (frame.method, kind) {
            (CONTROL, "pong") => {
                // A pong may bring another configuration.
                if let Ok(config) = serde_json::from_slice(&frame.payload) {
                    self.config = config;
                }
                None
            }
            (DATA, "event" | "card") => {
                let number = |key| frame.header(key).and_then(|number| number.parse::<usize>().ok());
                let place = (number("seq").unwrap_or(0), number("sum").unwrap_or(1));
                let event_id = frame.header("message_id").unwrap_or_default().to_owned();
                let (received, part) = (Instant::now(), std::mem::take(&mut frame.payload));
                let event =
                    if place.1 > 1 { self.parts.add(&event_id, place, part, received.into_std())? } else { part };
                Some(Delivery { event: serde_json::from_slice(&event).ok(), frame, received })
            }
            _ => None,
        }
    }
}

fn unavailable(cause: &str) -> ApiError {
    ApiError::Unavailable(cause.to_owned())
}
