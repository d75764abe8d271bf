//! A WebSocket over a connection that `egress` has opened, so that its address is checked as that of every request.

use super::ApiError;
use bytes::Bytes;
use egress::Egress;
use futures::{SinkExt, StreamExt};
use http::{HeaderMap, HeaderValue, StatusCode, Version, header};
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use url::Url;

/// The timeout of connecting and of sending.
const TIMEOUT: Duration = Duration::from_secs(15);

/// An open connection.
pub(crate) struct WebSocket {
    stream: WebSocketStream<reqwest::Upgraded>,
}

/// A received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Text(String),
    Binary(Bytes),
    /// A ping, or another message that has no content. It shows that the other side is there.
    Sign,
    /// The connection has ended, with the code that the other side gives.
    Closed(Option<u16>),
}

impl WebSocket {
    /// Opens a connection to a `wss://` address; with `allow_private` also to a `ws://` one. Messages have at most
    /// `max_message` bytes.
    pub(crate) async fn open(mut url: Url, allow_private: bool, max_message: usize) -> Result<Self, ApiError> {
        // A WebSocket begins as a request.
        let scheme = match url.scheme() {
            "wss" => "https",
            "ws" if allow_private => "http",
            _ => return Err(unavailable("the address of the connection is not `wss://`")),
        };
        url.set_scheme(scheme).map_err(|()| unavailable("the address of the connection is wrong"))?;
        let egress = Egress::for_upgrades(allow_private).map_err(ApiError::Unavailable)?;
        let upgraded = timeout(TIMEOUT, upgrade(&egress, url)).await;
        let upgraded = upgraded.unwrap_or_else(|_| Err(unavailable("the connection took too long")))?;
        let config = WebSocketConfig::default().max_message_size(Some(max_message)).max_frame_size(Some(max_message));
        Ok(Self { stream: WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await })
    }

    /// Waits for what comes next. It may be cancelled.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) async fn receive(&mut self) -> Result<Received, ApiError> {
        match self.stream.next().await {
            Some(Ok(Message::Text(text))) => Ok(Received::Text(text.as_str().to_owned())),
            Some(Ok(Message::Binary(bytes))) => Ok(Received::Binary(bytes)),
            // Pings are answered by the library.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Ok(Received::Sign),
            Some(Ok(Message::Close(frame))) => Ok(Received::Closed(frame.map(|frame| frame.code.into()))),
            None => Ok(Received::Closed(None)),
            Some(Err(error)) => Err(unavailable(&format!("the connection broke: {error}"))),
        }
    }

    /// Sends a text.
    pub(crate) async fn send(&mut self, text: String) -> Result<(), ApiError> {
        self.send_message(Message::Text(text.into())).await
    }

    /// Sends bytes.
    pub(crate) async fn send_bytes(&mut self, bytes: Vec<u8>) -> Result<(), ApiError> {
        self.send_message(Message::Binary(bytes.into())).await
    }

    /// Sends a ping, which the other side answers.
    pub(crate) async fn ping(&mut self) -> Result<(), ApiError> {
        self.send_message(Message::Ping(Default::default())).await
    }

    async fn send_message(&mut self, message: Message) -> Result<(), ApiError> {
        let sent = timeout(TIMEOUT, self.stream.send(message)).await;
        sent.map_err(|_| unavailable("the connection does not take messages"))?
            .map_err(|error| unavailable(&format!("the connection broke: {error}")))
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
    // The address may have a ticket, so it is not in the error.
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
