//! HTTP/2 floods, from a client that writes frames itself.

use crate::process::Server;
use reqwest::Method;
use std::cell::Cell;
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
/// The error code `ENHANCE_YOUR_CALM`.
const ENHANCE_YOUR_CALM: u32 = 11;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Encodes header fields as literals without compression.
fn encode_fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

struct RawClient(TcpStream);

impl RawClient {
    async fn connect(server: &Server) -> Self {
        let mut stream = TcpStream::connect(server.origin.strip_prefix("http://").unwrap()).await.unwrap();
        // Otherwise small writes wait for acknowledgements, 40 ms each.
        stream.set_nodelay(true).unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        Self(stream)
    }

    /// Returns the encoded header fields of a request.
    fn request_fields(server: &Server, method: &str, path: &str) -> Vec<u8> {
        let host = server.origin.strip_prefix("http://").unwrap();
        encode_fields(&[(":method", method), (":scheme", "http"), (":path", path), (":authority", host)])
    }

    /// Waits for the reply to a ping with this number.
    ///
    /// # Errors
    /// The connection has ended: `Some` error code if the server announced it with a GOAWAY frame.
    async fn wait_for_ping(&mut self, number: u64) -> Result<(), Option<u32>> {
        loop {
            match self.next_frame().await {
                Some((PING, payload)) if payload == number.to_be_bytes() => return Ok(()),
                Some((GOAWAY, payload)) => return Err(payload[4..8].try_into().ok().map(u32::from_be_bytes)),
                Some(_) => {}
                None => return Err(None),
            }
        }
    }

    /// Returns the next frame's type and payload, or none at the end of the connection.
    async fn next_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        Some((head[3], payload))
    }

    /// Writes without reading until the server closes the connection or stops accepting bytes, at
    /// most for `span`. Returns the number of bytes written and whether the server closed the
    /// connection.
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

    /// Reads to the end of the connection; returns the error code of the GOAWAY frame, if there was
    /// one.
    async fn goaway_code(&mut self) -> Option<u32> {
        let mut code = None;
        let end = async {
            while let Some((kind, payload)) = self.next_frame().await {
                if kind == GOAWAY {
                    code = Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
                }
            }
        };
        timeout(Duration::from_secs(60), end).await.expect("the connection is still open");
        code
    }
}

/// Another client sends a request, which is answered.
async fn other_client_is_answered(server: &Server) {
    let answer = server.request(Method::GET, "/healthz").send();
    let answer = timeout(Duration::from_secs(60), answer).await.expect("another client is not answered").unwrap();
    assert!(answer.status().is_success());
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// Returns the result of `flood`, while another client is answered again and again.
async fn beside_another_client<T>(server: &Server, flood: impl Future<Output = T>) -> T {
    let is_over = Cell::new(false);
    let flood = async {
        let done = flood.await;
        is_over.set(true);
        done
    };
    let others = async {
        while !is_over.get() {
            other_client_is_answered(server).await;
        }
    };
    futures::future::join(flood, others).await.0
}

/// Starts a server that closes connections after one second of silence.
fn serve() -> (Server, tempfile::TempDir) {
    serve_with(1_000)
}

/// Starts a server with this `headerReadMs`.
fn serve_with(patience: u32) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let connections = "connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]";
    let agents = "agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: demo } }]";
    let config = format!("{connections}\n{agents}\npages: [{{ id: p }}]\nlimits: {{ headerReadMs: {patience} }}\n");
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

/// How many requests of another client are answered beside a flood.
const OTHER_REQUESTS: usize = 50;
/// More bytes than the socket buffers between a client and a server that stopped reading hold.
const MAX_BUFFERED: usize = 16 << 20;

#[tokio::test]
async fn http2_requests_are_answered() {
    let (server, _folder) = serve();
    let mut client = RawClient::connect(&server).await;
    let head = RawClient::request_fields(&server, "GET", "/healthz");
    client.0.write_all(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &head)).await.unwrap();
    let body = loop {
        let (kind, payload) = client.next_frame().await.unwrap();
        if kind == DATA && !payload.is_empty() {
            break payload;
        }
    };
    assert_eq!(body, b"ok");
}

#[tokio::test]
async fn rapid_resets_end_the_connection() {
    let (server, _folder) = serve();
    let mut client = RawClient::connect(&server).await;
    let head = RawClient::request_fields(&server, "GET", "/api/conversations");
    let reset = |number: u32| {
        let stream = 2 * number + 1;
        [
            frame(HEADERS, END_STREAM | END_HEADERS, stream, &head),
            frame(RST_STREAM, 0, stream, &ENHANCE_YOUR_CALM.to_be_bytes()),
        ]
        .concat()
    };
    let (sent, has_ended) = beside_another_client(&server, client.flood(Duration::from_secs(20), reset)).await;
    assert!(has_ended && sent < MAX_BUFFERED, "{sent} bytes were accepted");
}

/// Sends requests and resets each after the server has started it, until the connection ends.
/// Returns the number of resets, and the error code of the server's GOAWAY frame, if it sent one.
async fn reset_started_requests(server: &Server) -> (usize, Option<u32>) {
    let mut client = RawClient::connect(server).await;
    // The body is never sent, so the request stays open.
    let head = RawClient::request_fields(server, "POST", "/api/folders");
    let request = [head, encode_fields(&[("content-type", "application/json")])].concat();
    let mut resets = 0;
    for batch in 0..250_u32 {
        let streams: Vec<u32> = (0..16).map(|number| 2 * (16 * batch + number) + 1).collect();
        let requests = streams.iter().flat_map(|stream| frame(HEADERS, END_HEADERS, *stream, &request));
        let ping = frame(PING, 0, 0, &u64::from(batch).to_be_bytes());
        let sent = client.0.write_all(&requests.chain(ping).collect::<Vec<_>>()).await;
        if let Err(code) = client.wait_for_ping(batch.into()).await {
            return (resets, code);
        }
        // The reply says that the server has read the requests; it starts them right after that.
        tokio::time::sleep(Duration::from_millis(2)).await;
        let reset = |stream: &u32| frame(RST_STREAM, 0, *stream, &ENHANCE_YOUR_CALM.to_be_bytes());
        if sent.is_err() || client.0.write_all(&streams.iter().flat_map(reset).collect::<Vec<_>>()).await.is_err() {
            break;
        }
        resets += streams.len();
    }
    (resets, None)
}

#[tokio::test]
async fn delayed_resets_end_the_connection() {
    // A loaded machine must not trigger the limit for silence instead.
    let (server, _folder) = serve_with(20_000);
    // On a loaded machine the server may not get to start requests before they are reset. hyper ends
    // the connection then, with a GOAWAY frame.
    for _ in 0..20 {
        match reset_started_requests(&server).await {
            (_, Some(ENHANCE_YOUR_CALM)) => {}
            // A loopback connection may be a proxy's, so it may cancel 2,000 requests in ten seconds.
            (resets, code) => return assert!((2_000..4_000).contains(&resets) && code.is_none(), "{resets} {code:?}"),
        }
    }
    panic!("the server never started the requests in time");
}

#[tokio::test]
async fn endless_header_blocks_are_cut_off() {
    let (server, _folder) = serve();
    let large = encode_fields(&[("x-more", &"x".repeat(100))]).repeat(100);
    for (what, piece) in
        [("large pieces", large), ("small pieces", encode_fields(&[("x", "y")])), ("nothing", Vec::new())]
    {
        let mut client = RawClient::connect(&server).await;
        let head = RawClient::request_fields(&server, "GET", "/healthz");
        client.0.write_all(&frame(HEADERS, END_STREAM, 1, &head)).await.unwrap();
        let more = frame(CONTINUATION, 0, 1, &piece).repeat(10);
        let flood = client.flood(Duration::from_secs(20), |_| more.clone());
        let (sent, has_ended) = beside_another_client(&server, flood).await;
        assert!(has_ended && sent < MAX_BUFFERED, "{what}: {sent} bytes were accepted");
    }
    // A complete header block over the size limit is answered, and the connection stays open.
    let mut client = RawClient::connect(&server).await;
    let head = [
        RawClient::request_fields(&server, "GET", "/healthz"),
        encode_fields(&[("x-more", &"x".repeat(100))]).repeat(140),
    ]
    .concat();
    client.0.write_all(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &head)).await.unwrap();
    let answered = async {
        while let Some((kind, payload)) = client.next_frame().await {
            if kind == HEADERS {
                return payload;
            }
        }
        Vec::new()
    };
    let answered = timeout(Duration::from_secs(60), answered).await.unwrap();
    assert!(!answered.is_empty(), "the request was not answered");
}

/// Each frame requires an answer that the client does not read.
#[tokio::test]
async fn ping_and_settings_floods_do_not_affect_others() {
    let (server, _folder) = serve();
    let before = server.memory_bytes();
    let ping = frame(PING, 0, 0, b"12345678").repeat(500);
    let settings = frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]).repeat(500);
    let nothing = frame(DATA, 0, 1, &[]).repeat(500);
    for pieces in [ping, settings, nothing] {
        let mut clients = Vec::new();
        for _ in 0..4 {
            clients.push(RawClient::connect(&server).await);
        }
        // They go on for as long as the other client asks.
        let span = Duration::from_secs(600);
        let floods = clients.iter_mut().map(|client| client.flood(span, |_| pieces.clone()));
        let others = async {
            for _ in 0..OTHER_REQUESTS {
                other_client_is_answered(&server).await;
            }
        };
        // The server may close the connections of the floods.
        let floods = async {
            futures::future::join_all(floods).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = floods => {}
            () = others => {}
        }
    }
    let grown = server.memory_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "memory grew by {grown} bytes");
}

/// Connections without a protocol preface are closed like those with half a request head.
#[tokio::test]
async fn silent_connections_are_closed() {
    let (server, _folder) = serve();
    for bytes_sent in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n\r\nSM\r\n", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\nx-"]
    {
        let mut stream = TcpStream::connect(server.origin.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(bytes_sent).await.unwrap();
        let mut answer = Vec::new();
        let end = timeout(Duration::from_secs(60), stream.read_to_end(&mut answer)).await;
        assert!(end.is_ok(), "{:?}: the connection stays open", String::from_utf8_lossy(bytes_sent));
    }
    // A preface in two parts is valid.
    let mut stream = TcpStream::connect(server.origin.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    stream.write_all(b"\r\nSM\r\n\r\n").await.unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    assert_eq!(RawClient(stream).next_frame().await.unwrap().0, SETTINGS);
    // An invalid frame after the preface is answered with GOAWAY.
    let mut client = RawClient::connect(&server).await;
    client.0.write_all(&frame(DATA, 0, 0, b"x")).await.unwrap();
    assert!(client.goaway_code().await.is_some());
}
