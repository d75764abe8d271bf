//! A provider that follows a script, on a real socket.

pub(crate) mod table;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What is done with each connection, once the request is there.
#[derive(Clone)]
pub(crate) enum Script {
    /// This, word for word, and the end.
    Answer(String),
    /// An event stream of these bytes, and the end.
    Bytes(Vec<u8>),
    /// The same without the end.
    BytesThenSilence(Vec<u8>),
    /// 400 for a request with this word in it, and this event stream for any other.
    Refuses { word: &'static str, answer: Vec<u8> },
    /// Nothing at all.
    Silence,
    /// An event stream that begins like this and goes on with one byte.
    Endless { start: &'static [u8], fill: u8, most: usize },
}

/// A running peer; ends when dropped.
pub(crate) struct Peer {
    address: std::net::SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<String>>,
    closed: tokio::sync::Notify,
    sent: AtomicUsize,
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// A whole response with a body.
pub(crate) fn response(status: &str, header: &str, body: &str) -> String {
    let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
    format!("HTTP/1.1 {status}\r\n{header}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

impl Peer {
    pub(crate) async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let shared = seen.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(serve(socket, script.clone(), shared.clone()));
            }
        });
        Self { address, seen, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }

    pub(crate) fn sent(&self) -> usize {
        self.seen.sent.load(Ordering::Relaxed)
    }

    /// Waits until the other side has let go of a connection.
    pub(crate) async fn closed(&self) {
        tokio::time::timeout(Duration::from_secs(5), self.seen.closed.notified()).await.expect("the socket is closed");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut socket: TcpStream, script: Script, seen: Arc<Seen>) {
    let (head, body) = read_request(&mut socket).await;
    seen.requests.lock().unwrap().push(head);
    let script = match script {
        Script::Refuses { word, .. } if body.contains(word) => Script::Answer(response("400 Bad Request", "", "no")),
        Script::Refuses { answer, .. } => Script::Bytes(answer),
        script => script,
    };
    // Writing fails when the other side has gone, which is for the test to judge.
    let _ = answer(&mut socket, &script, &seen).await;
    if !matches!(script, Script::Answer(_) | Script::Bytes(_)) {
        // The other side sends nothing more, so a read ends when it has closed.
        let _ = socket.read(&mut [0; 64]).await;
    }
    seen.closed.notify_one();
}

async fn answer(socket: &mut TcpStream, script: &Script, seen: &Seen) -> std::io::Result<()> {
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

/// The head and the body as text.
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
