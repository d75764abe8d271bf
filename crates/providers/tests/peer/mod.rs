//! A scripted provider on a real socket.

pub(crate) mod table;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The reaction to each request.
#[derive(Clone)]
pub(crate) enum Script {
    /// Sends this response and closes the connection.
    Answer(String),
    /// Sends these bytes as an event stream and closes the connection.
    Bytes(Vec<u8>),
    /// Sends these bytes as an event stream and keeps the connection open.
    BytesThenSilence(Vec<u8>),
    /// Answers a request that contains this word with status 400, and any other with this event
    /// stream.
    Refuses { word: &'static str, answer: Vec<u8> },
    /// Sends nothing.
    Silence,
    /// Sends an event stream that begins like this and continues with one repeated byte.
    Endless { start: &'static [u8], fill: u8, most: usize },
}

/// A running peer, which stops when dropped.
pub(crate) struct Peer {
    address: std::net::SocketAddr,
    log: Arc<PeerLog>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct PeerLog {
    requests: Mutex<Vec<String>>,
    closed: tokio::sync::Notify,
    sent: AtomicUsize,
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// Creates a complete response with a body.
pub(crate) fn response(status: &str, header: &str, body: &str) -> String {
    let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
    format!("HTTP/1.1 {status}\r\n{header}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

impl Peer {
    pub(crate) async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(PeerLog::default());
        let shared = seen.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(serve(socket, script.clone(), shared.clone()));
            }
        });
        Self { address, log: seen, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.log.requests.lock().unwrap().clone()
    }

    pub(crate) fn sent(&self) -> usize {
        self.log.sent.load(Ordering::Relaxed)
    }

    /// Waits until the client has closed a connection.
    pub(crate) async fn closed(&self) {
        tokio::time::timeout(Duration::from_secs(60), self.log.closed.notified()).await.expect("the socket is closed");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut socket: TcpStream, script: Script, seen: Arc<PeerLog>) {
    let (head, body) = read_request(&mut socket).await;
    seen.requests.lock().unwrap().push(head);
    let script = match script {
        Script::Refuses { word, .. } if body.contains(word) => Script::Answer(response("400 Bad Request", "", "no")),
        Script::Refuses { answer, .. } => Script::Bytes(answer),
        script => script,
    };
    // Writing fails if the client has closed the connection, which the test checks.
    let _ = respond(&mut socket, &script, &seen).await;
    if !matches!(script, Script::Answer(_) | Script::Bytes(_)) {
        // The client sends nothing more, so the read ends when it closes the connection.
        let _ = socket.read(&mut [0; 64]).await;
    }
    seen.closed.notify_one();
}

async fn respond(socket: &mut TcpStream, script: &Script, seen: &PeerLog) -> std::io::Result<()> {
    match script {
        Script::Silence | Script::Refuses { .. } => {}
        Script::Answer(text) => socket.write_all(text.as_bytes()).await?,
        Script::Bytes(bytes) | Script::BytesThenSilence(bytes) => {
            socket.write_all(HEAD).await?;
            socket.write_all(bytes).await?;
        }
        Script::Endless { start, fill, most } => {
            socket.write_all(HEAD).await?;
            socket.write_all(start).await?;
            let piece = vec![*fill; 64 * 1024];
            while seen.sent.load(Ordering::Relaxed) < *most {
                socket.write_all(&piece).await?;
                seen.sent.fetch_add(piece.len(), Ordering::Relaxed);
            }
        }
    }
    Ok(())
}

/// Reads the head and the body as text.
async fn read_request(socket: &mut TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return (format!("{head}\r\n"), body.to_owned());
            }
        }
        match socket.read(&mut piece).await {
            Ok(read) if read > 0 => bytes.extend_from_slice(&piece[..read]),
            _ => return (String::new(), String::new()),
        }
    }
}
