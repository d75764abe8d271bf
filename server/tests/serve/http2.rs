//! Floods of HTTP/2, from a client that writes its frames itself (A35).

use crate::process::Server;
use reqwest::Method;
use std::fs;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `ENHANCE_YOUR_CALM`
const CALM: u32 = 11;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Header fields, each written out.
fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

struct Client(TcpStream);

impl Client {
    async fn connect(server: &Server) -> Self {
        let mut stream = TcpStream::connect(server.origin.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        Self(stream)
    }

    /// The head of a request.
    fn head(server: &Server, method: &str, path: &str) -> Vec<u8> {
        let host = server.origin.strip_prefix("http://").unwrap();
        fields(&[(":method", method), (":scheme", "http"), (":path", path), (":authority", host)])
    }

    /// The next frame: its kind and what is in it; none at the end of the connection.
    async fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        Some((head[3], payload))
    }

    /// Writes as long as the server reads, at most for `span`, and reads nothing; how many bytes it took, and whether it ended the connection.
    async fn flood(&mut self, span: Duration, mut next: impl FnMut(u32) -> Vec<u8>) -> (usize, bool) {
        let (begun, mut sent) = (Instant::now(), 0);
        for number in 0.. {
            let bytes = next(number);
            match timeout(span.saturating_sub(begun.elapsed()), self.0.write_all(&bytes)).await {
                Ok(Ok(())) => sent += bytes.len(),
                Ok(Err(_)) => return (sent, true),
                Err(_) => break,
            }
        }
        (sent, false)
    }

    /// The code with which the server said goodbye, if it did; none where it only hung up.
    async fn goodbye(&mut self) -> Option<u32> {
        let mut code = None;
        let end = async {
            while let Some((kind, payload)) = self.next().await {
                if kind == GOAWAY {
                    code = Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
                }
            }
        };
        timeout(Duration::from_secs(10), end).await.expect("the connection is open still");
        code
    }
}

/// How long somebody else waits at most while `flood` goes on.
async fn beside<T>(server: &Server, flood: impl Future<Output = T>) -> (T, Duration) {
    let mut longest = Duration::ZERO;
    let mut flood = std::pin::pin!(flood);
    loop {
        let asked = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let begun = Instant::now();
            let answer = server.ask(Method::GET, "/healthz").send().await.unwrap();
            assert!(answer.status().is_success());
            begun.elapsed()
        };
        tokio::select! {
            done = &mut flood => return (done, longest),
            waited = asked => longest = longest.max(waited),
        }
    }
}

/// A server that lets nobody be silent for more than a second.
fn serve() -> (Server, tempfile::TempDir) {
    serve_with(1_000)
}

/// A server that waits so long for what is late, in milliseconds.
fn serve_with(patience: u32) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let connections = "connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]";
    let agents = "agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: demo } }]";
    let config = format!("{connections}\n{agents}\npages: [{{ id: p }}]\nlimits: {{ headerReadMs: {patience} }}\n");
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

const PATIENCE: Duration = Duration::from_secs(1);
/// What fits between a client and a server that does not read any more.
const BUFFERS: usize = 16 << 20;

#[tokio::test]
async fn it_speaks_http2() {
    let (server, _folder) = serve();
    let mut client = Client::connect(&server).await;
    let head = Client::head(&server, "GET", "/healthz");
    client.0.write_all(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &head)).await.unwrap();
    let body = loop {
        let (kind, payload) = client.next().await.unwrap();
        if kind == DATA && !payload.is_empty() {
            break payload;
        }
    };
    assert_eq!(body, b"ok");
}

#[tokio::test]
async fn requests_that_are_taken_back_at_once_end_the_connection() {
    let (server, _folder) = serve();
    let mut client = Client::connect(&server).await;
    let head = Client::head(&server, "GET", "/api/conversations");
    let reset = |number: u32| {
        let stream = 2 * number + 1;
        [frame(HEADERS, END_STREAM | END_HEADERS, stream, &head), frame(RST_STREAM, 0, stream, &CALM.to_be_bytes())]
            .concat()
    };
    let ((sent, has_ended), waited) = beside(&server, client.flood(Duration::from_secs(20), reset)).await;
    assert!(has_ended && sent < BUFFERS, "{sent} bytes were taken");
    assert!(waited < PATIENCE, "somebody else waited for {waited:?}");
}

/// One after the other, each when the server has begun with it.
#[tokio::test]
async fn requests_that_are_taken_back_later_end_the_connection() {
    // On a loaded machine, it must not be silence that ends the connection.
    let (server, _folder) = serve_with(20_000);
    let mut client = Client::connect(&server).await;
    // Its body never comes, so it waits for it.
    let head = Client::head(&server, "POST", "/api/folders");
    let json = fields(&[("content-type", "application/json")]);
    let mut taken_back = 0;
    for number in 0..4_000 {
        let stream = 2 * number + 1;
        let asked = client.0.write_all(&frame(HEADERS, END_HEADERS, stream, &[&head[..], &json].concat())).await;
        tokio::time::sleep(Duration::from_millis(3)).await;
        if asked.is_err() || client.0.write_all(&frame(RST_STREAM, 0, stream, &CALM.to_be_bytes())).await.is_err() {
            break;
        }
        taken_back += 1;
    }
    // From this machine, as many as a proxy's people may take back.
    assert!((2_000..2_500).contains(&taken_back), "{taken_back}");
}

#[tokio::test]
async fn heads_without_an_end_are_cut_off() {
    let (server, _folder) = serve();
    let large = fields(&[("x-more", &"x".repeat(100))]).repeat(100);
    for (what, piece) in [("large pieces", large), ("small pieces", fields(&[("x", "y")])), ("nothing", Vec::new())] {
        let mut client = Client::connect(&server).await;
        let head = Client::head(&server, "GET", "/healthz");
        client.0.write_all(&frame(HEADERS, END_STREAM, 1, &head)).await.unwrap();
        let more = frame(CONTINUATION, 0, 1, &piece).repeat(10);
        let flood = client.flood(Duration::from_secs(20), |_| more.clone());
        let ((sent, has_ended), waited) = beside(&server, flood).await;
        assert!(has_ended && sent < BUFFERS, "{what}: {sent} bytes were taken");
        assert!(waited < PATIENCE, "{what}: somebody else waited for {waited:?}");
    }
    // Many whole ones, each with more than a head may have, are told so, and the connection goes on.
    let mut client = Client::connect(&server).await;
    let head = [Client::head(&server, "GET", "/healthz"), fields(&[("x-more", &"x".repeat(100))]).repeat(140)].concat();
    client.0.write_all(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &head)).await.unwrap();
    let answered = async {
        while let Some((kind, payload)) = client.next().await {
            if kind == HEADERS {
                return payload;
            }
        }
        Vec::new()
    };
    let answered = timeout(Duration::from_secs(5), answered).await.unwrap();
    assert!(!answered.is_empty(), "the request was not answered");
}

/// Each asks for an answer that the client does not read.
#[tokio::test]
async fn pings_and_settings_without_an_end_cost_nobody_else() {
    let (server, _folder) = serve();
    let before = server.memory();
    let ping = frame(PING, 0, 0, b"12345678").repeat(500);
    let settings = frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]).repeat(500);
    let nothing = frame(DATA, 0, 1, &[]).repeat(500);
    for (what, pieces) in [("pings", ping), ("settings", settings), ("data of nobody", nothing)] {
        let mut clients = Vec::new();
        for _ in 0..4 {
            clients.push(Client::connect(&server).await);
        }
        let span = Duration::from_secs(2);
        let floods = clients.iter_mut().map(|client| client.flood(span, |_| pieces.clone()));
        let (_, waited) = beside(&server, futures::future::join_all(floods)).await;
        assert!(waited < PATIENCE, "{what}: somebody else waited for {waited:?}");
    }
    let grown = server.memory().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more are held");
}

/// Who connects and says nothing, or never says in which protocol, is let go like one with half a head.
#[tokio::test]
async fn the_silent_are_let_go() {
    let (server, _folder) = serve();
    for said in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n\r\nSM\r\n", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\nx-"] {
        let mut stream = TcpStream::connect(server.origin.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(said).await.unwrap();
        let mut answer = Vec::new();
        let end = timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
        assert!(end.is_ok(), "{:?} is held open", String::from_utf8_lossy(said));
    }
    // A preface in two pieces is not what is meant.
    let mut stream = TcpStream::connect(server.origin.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    stream.write_all(b"\r\nSM\r\n\r\n").await.unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    assert_eq!(Client(stream).next().await.unwrap().0, SETTINGS);
    // What is no HTTP/2 after its preface ends with a word.
    let mut client = Client::connect(&server).await;
    client.0.write_all(&frame(DATA, 0, 0, b"x")).await.unwrap();
    assert!(client.goodbye().await.is_some());
}
