//! Requests over real sockets: what is refused before connecting, which redirects are not followed,
//! and what is truncated.

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use egress::{Clients, Egress, EgressError, EgressRequest};
use futures::future::join_all;
use futures::stream;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use url::Url;

/// A local server that counts its requests.
struct Server {
    address: SocketAddr,
    hits: Arc<AtomicU32>,
}

async fn server() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let hits = Arc::new(AtomicU32::new(0));
    let counted = hits.clone();
    let endless = || {
        let chunks = stream::repeat_with(|| Ok::<_, Infallible>(vec![b'x'; 64 * 1024]));
        Body::from_stream(chunks)
    };
    let router = Router::new()
        .route("/", get(|headers: HeaderMap| async move { format!("{:?}", headers.get("x-key")) }))
        .route("/hop", get(|| async { Redirect::temporary("/") }))
        .route("/loop", get(|| async { Redirect::temporary("/loop") }))
        .route("/away", get(|| async { (StatusCode::FOUND, [(LOCATION, "http://localhost:1/")]).into_response() }))
        .route("/endless", get(move || async move { endless() }))
        .route("/silent", get(std::future::pending::<()>))
        .route("/missing", get(|| async { (StatusCode::NOT_FOUND, "gone") }))
        .layer(axum::middleware::map_request(move |request: axum::extract::Request| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move { request }
        }));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Server { address, hits }
}

fn request(url: &str) -> EgressRequest {
    let headers = HeaderMap::from_iter([("x-key".parse().unwrap(), "k".parse().unwrap())]);
    let timeout = Duration::from_millis(if url.ends_with("/silent") { 1_500 } else { 60_000 });
    EgressRequest {
        method: "GET".parse().unwrap(),
        url: Url::parse(url).unwrap(),
        headers,
        body: None,
        timeout,
        max_bytes: 1 << 20,
    }
}

async fn ask(allow_private: bool, url: &str) -> String {
    match Egress::new(allow_private).unwrap().send(request(url)).await {
        Ok(answer) => format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn private_addresses_are_refused_before_a_connection() {
    let server = server().await;
    let port = server.address.port();
    let refused = EgressError::NotPublic.to_string();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "[::1]",
        "[::ffff:7f00:1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "localhost",
        "localhost.",
        "a@127.0.0.1",
        "①②⑦.⓪.⓪.①",
        "[2002:7f00:1::]",
        "[64:ff9b::7f00:1]",
    ] {
        assert_eq!(ask(false, &format!("http://{host}:{port}/")).await, refused, "{host}");
    }
    assert_eq!(server.hits.load(Ordering::Relaxed), 0, "nobody may have come");
}

#[tokio::test]
async fn schemes_other_than_http_are_refused() {
    for url in ["file:///etc/passwd", "ftp://example.com/", "data:text/plain,x", "unix:/run/x"] {
        assert_eq!(ask(true, url).await, EgressError::InvalidUrl.to_string(), "{url}");
    }
}

#[tokio::test]
async fn redirects_and_response_sizes_are_limited() {
    let Server { address, .. } = server().await;
    let check = |path: &'static str, expected: &'static str| async move {
        assert_eq!(ask(true, &format!("http://{address}{path}")).await, expected, "{path}");
    };
    check("/", r#"200 Some("k")"#).await;
    check("/hop", r#"200 Some("k")"#).await;
    check("/missing", "404 gone").await;
    check("/loop", "the server redirects to another origin or too often, which is not followed").await;
    check("/away", "the server redirects to another origin or too often, which is not followed").await;
    check("/endless", "the response is larger than 1048576 bytes").await;
    check("/silent", "the server did not answer within 1.5 s").await;
}

#[tokio::test]
async fn unreachable_server_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(ask(true, &format!("http://{address}/")).await, EgressError::Unreachable.to_string());
}

/// The number of concurrent requests, each on a connection of its own.
const CROWD: usize = 40;

/// Starts a server that responds once all requests have arrived, and counts its open connections.
async fn crowded() -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, open, all) =
        (listener.local_addr().unwrap(), Arc::new(AtomicU32::new(0)), Arc::new(Barrier::new(CROWD)));
    let counted = open.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (open, all) = (open.clone(), all.clone());
            tokio::spawn(async move {
                open.fetch_add(1, Ordering::Relaxed);
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {
                    all.wait().await;
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
                }
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    (address, counted)
}

#[tokio::test]
async fn only_some_idle_connections_are_kept() {
    let (address, open) = crowded().await;
    let egress = Egress::new(true).unwrap();
    let url = format!("http://{address}/");
    let answers = join_all((0..CROWD).map(|_| egress.send(request(&url))));
    assert!(answers.await.into_iter().all(|answer| answer.is_ok_and(|answer| answer.body == b"ok")));
    let begun = Instant::now();
    while open.load(Ordering::Relaxed) != 16 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} are open", open.load(Ordering::Relaxed));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn client_without_redirects_returns_them() {
    let server = server().await;
    let egress = Egress::without_redirects(true).unwrap();
    let answer = egress.send(request(&format!("http://{}/away", server.address))).await.unwrap();
    let location = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok());
    assert_eq!((answer.status, location), (302, Some("http://localhost:1/")));
    assert_eq!(server.hits.load(Ordering::Relaxed), 1);
    let egress = Egress::without_redirects(false).unwrap();
    let refused = egress.send(request(&format!("http://{}/", server.address))).await;
    assert_eq!(refused.unwrap_err(), EgressError::NotPublic);
}

#[tokio::test]
async fn clients_are_created_once_and_keep_their_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let peer = |ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() };
    let router = Router::new().route("/", get(peer)).into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let clients = Clients::default();
    let ask = async |clients: &Clients, allow_private: bool| {
        let answer = clients.get(allow_private).unwrap().send(request(&url)).await;
        answer.map(|answer| String::from_utf8(answer.body).unwrap())
    };
    let first = ask(&clients, true).await.unwrap();
    assert_eq!(ask(&clients.clone(), true).await.unwrap(), first, "another connection was opened");
    assert_eq!(ask(&clients, false).await, Err(EgressError::NotPublic));
}
