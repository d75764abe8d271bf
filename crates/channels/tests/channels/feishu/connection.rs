//! The long connection of the stand-in of Feishu. Its frames are read and written by a library for Protocol Buffers. Each event
//! comes in parts, the last one first; what was not acknowledged is sent again over the next connection.

use crate::feishu::{APP_ID, APP_SECRET, FakeFeishu};
use crate::forms::parameters;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Request, State};
use axum::response::Response;
use prost::Message as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The id of the service that the address of a connection names.
const SERVICE: i32 = 33_554_432;
/// The largest part of an event in bytes.
const PART: usize = 300;

#[derive(Clone, PartialEq, prost::Message)]
struct Frame {
    #[prost(uint64, required, tag = "1")]
    seq_id: u64,
    #[prost(uint64, required, tag = "2")]
    log_id: u64,
    #[prost(int32, required, tag = "3")]
    service: i32,
    #[prost(int32, required, tag = "4")]
    method: i32,
    #[prost(message, repeated, tag = "5")]
    headers: Vec<Header>,
    #[prost(bytes = "vec", tag = "8")]
    payload: Vec<u8>,
    #[prost(string, tag = "9")]
    log_id_new: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Header {
    #[prost(string, required, tag = "1")]
    key: String,
    #[prost(string, required, tag = "2")]
    value: String,
}

/// The connections, and what is sent over them.
#[derive(Default)]
pub(crate) struct Connections {
    /// The address of the stand-in.
    pub(crate) url: String,
    /// The events that were not acknowledged, with their types.
    events: BTreeMap<u64, (&'static str, Value)>,
    next: u64,
    count: usize,
    /// The number of the last connection that is asked to end.
    ended: usize,
    /// The number of the last connection that is silent.
    silent: usize,
    pings: usize,
}

impl FakeFeishu {
    /// Returns the connection to the bot at an address, over a long connection.
    pub(crate) fn long_connection(url: &str) -> String {
        format!(
            "type: Feishu, properties: {{ appId: {APP_ID}, appSecret: {APP_SECRET}, longConnection: true, \
             baseURL: \"{url}\", allowPrivate: true }}"
        )
    }

    /// Sends an event in a frame of a type.
    pub(crate) fn push(&self, kind: &'static str, event: Value) {
        let connections = &mut self.tenant().connections;
        connections.next += 1;
        connections.events.insert(connections.next, (kind, event));
    }

    /// Closes the connections.
    pub(crate) fn end_connections(&self) {
        let connections = &mut self.tenant().connections;
        connections.ended = connections.count;
    }

    /// Makes the connections silent, as if their network were lost.
    pub(crate) fn silence_connections(&self) {
        let connections = &mut self.tenant().connections;
        connections.silent = connections.count;
    }

    /// Returns how many connections were opened.
    pub(crate) fn connections(&self) -> usize {
        self.tenant().connections.count
    }

    /// Returns how many pings were received.
    pub(crate) fn pings(&self) -> usize {
        self.tenant().connections.pings
    }

    /// Returns how much was not acknowledged.
    pub(crate) fn waiting(&self) -> usize {
        self.tenant().connections.events.len()
    }

    /// Takes a frame of the bot; returns the answer.
    fn take(&self, frame: &Frame) -> Option<Frame> {
        let header = |key: &str| {
            let found = frame.headers.iter().find(|header| header.key == key);
            found.map(|header| header.value.as_str()).unwrap_or_default()
        };
        assert_eq!(frame.service, SERVICE);
        let connections = &mut self.tenant().connections;
        match (frame.method, header("type")) {
            (0, "ping") => {
                connections.pings += 1;
                Some(new_frame(0, &[("type", "pong")], client_config(1).to_string().into_bytes()))
            }
            (1, "event" | "card") => {
                let answer: Value = serde_json::from_slice(&frame.payload).unwrap();
                assert_eq!(answer["code"], 200);
                assert!(header("biz_rt").parse::<u64>().is_ok());
                assert_eq!(frame.log_id_new, "log");
                connections.events.remove(&header("message_id").parse::<u64>().unwrap());
                None
            }
            other => panic!("a frame with {other:?}"),
        }
    }
}

/// `POST /callback/ws/endpoint`
pub(crate) async fn endpoint(State(fake): State<FakeFeishu>, request: Request) -> String {
    if parameters(request).await != json!({ "AppID": APP_ID, "AppSecret": APP_SECRET }) {
        return json!({ "code": 514, "msg": "auth failed" }).to_string();
    }
    let url = fake.tenant().connections.url.replace("http", "ws");
    let url = format!("{url}/ws/v2?device_id=1&access_key=a&service_id={SERVICE}&ticket=t");
    json!({ "code": 0, "msg": "", "data": { "URL": url, "ClientConfig": client_config(120) } }).to_string()
}

/// Returns how the bot is to use a connection, with this many seconds between two pings.
fn client_config(ping_interval: u64) -> Value {
    json!({ "ReconnectCount": -1, "ReconnectInterval": 120, "ReconnectNonce": 0, "PingInterval": ping_interval })
}

/// `GET /ws/v2`
pub(crate) async fn socket(State(fake): State<FakeFeishu>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| async move {
        let _ = serve(fake, socket).await;
    })
}

/// Sends events, and receives the frames of the bot.
async fn serve(fake: FakeFeishu, mut socket: WebSocket) -> Result<(), axum::Error> {
    let number = {
        let connections = &mut fake.tenant().connections;
        connections.count += 1;
        connections.count
    };
    let mut sent = 0;
    loop {
        let (new, is_ended, is_silent) = {
            let connections = &fake.tenant().connections;
            let new: Vec<_> = connections.events.range(sent + 1..).map(|(id, event)| (*id, event.clone())).collect();
            (new, number <= connections.ended, number <= connections.silent)
        };
        if is_silent {
            std::future::pending::<()>().await;
        }
        if is_ended {
            return socket.send(Message::Close(None)).await;
        }
        for (id, (kind, event)) in new {
            sent = id;
            for frame in frames(id, kind, &event) {
                socket.send(Message::Binary(frame.encode_to_vec().into())).await?;
            }
        }
        match tokio::time::timeout(Duration::from_millis(20), socket.recv()).await {
            Ok(Some(Ok(Message::Binary(bytes)))) => {
                let answer = fake.take(&Frame::decode(bytes).unwrap());
                if let Some(answer) = answer {
                    socket.send(Message::Binary(answer.encode_to_vec().into())).await?;
                }
            }
            Ok(None | Some(Err(_) | Ok(Message::Close(_)))) => return Ok(()),
            _ => {}
        }
    }
}

/// Returns the frames of an event, the last part first.
fn frames(id: u64, kind: &str, event: &Value) -> Vec<Frame> {
    let (event, id) = (event.to_string().into_bytes(), id.to_string());
    let sum = event.chunks(PART).count().to_string();
    let frame = |(seq, part): (usize, &[u8])| {
        let seq = seq.to_string();
        let headers = [
            ("type", kind),
            ("message_id", id.as_str()),
            ("sum", sum.as_str()),
            ("seq", seq.as_str()),
            ("trace_id", "trace"),
        ];
        new_frame(1, &headers, part.to_vec())
    };
    let mut frames: Vec<_> = event.chunks(PART).enumerate().map(frame).collect();
    frames.reverse();
    frames
}

fn new_frame(method: i32, headers: &[(&str, &str)], payload: Vec<u8>) -> Frame {
    let header = |(key, value): &(&str, &str)| Header { key: (*key).to_owned(), value: (*value).to_owned() };
    Frame {
        seq_id: 1,
        log_id: u64::MAX,
        service: SERVICE,
        method,
        headers: headers.iter().map(header).collect(),
        payload,
        log_id_new: "log".to_owned(),
    }
}
