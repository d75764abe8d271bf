//! A provider on a real socket that plays streams one after the other and records the requests.

use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// A running provider, which stops when dropped.
pub(crate) struct Peer {
    pub(crate) url: String,
    bodies: Arc<Mutex<Vec<Value>>>,
    task: JoinHandle<()>,
}

impl Peer {
    /// Starts a provider that answers with these streams, and with the last one from then on.
    pub(crate) async fn start(streams: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let bodies = Arc::<Mutex<Vec<Value>>>::default();
        let recorded = bodies.clone();
        let task = tokio::spawn(async move {
            let mut streams = VecDeque::from(streams);
            while let Ok((socket, _)) = listener.accept().await {
                let stream = if streams.len() > 1 { streams.pop_front() } else { streams.front().cloned() };
                answer(socket, &stream.unwrap(), &recorded).await;
            }
        });
        Self { url, bodies, task }
    }

    /// Returns the bodies of the requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(mut socket: TcpStream, stream: &str, bodies: &Mutex<Vec<Value>>) {
    let body = read_body(&mut socket).await;
    bodies.lock().unwrap().push(serde_json::from_str(&body).unwrap());
    socket.write_all(HEAD).await.unwrap();
    socket.write_all(stream.as_bytes()).await.unwrap();
}

async fn read_body(socket: &mut TcpStream) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return body.to_owned();
            }
        }
        let read = socket.read(&mut piece).await.unwrap();
        assert!(read > 0, "the request is complete");
        bytes.extend_from_slice(&piece[..read]);
    }
}
