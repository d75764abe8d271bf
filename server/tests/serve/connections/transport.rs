//! Malformed HTTP requests to every documented route: each gets a client error or a closed
//! connection, never a server error, and the next request is answered.

use crate::process::Server;
use futures::{StreamExt, stream};
use reqwest::Method;
use serde_json::Value;
use std::fs;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const JSON_HEADER: &str = "content-type: application/json\r\n";

/// Returns the name of each case, the bytes after the method and path, and the allowed statuses,
/// where 0 is a closed connection.
fn malformed_requests(host: &str) -> Vec<(&'static str, String, &'static [u16])> {
    let head = |more: &str, body: &str| format!(" HTTP/1.1\r\nhost: {host}\r\n{more}\r\n{body}");
    let refused: &[u16] = &[0, 400];
    vec![
        (
            "a body shorter than declared",
            head(&format!("{JSON_HEADER}content-length: 500\r\n"), "{}"),
            &[0, 400, 404, 405, 408],
        ),
        (
            "two content lengths",
            head(&format!("{JSON_HEADER}content-length: 2\r\ncontent-length: 3\r\n"), "{}x"),
            refused,
        ),
        ("a negative length", head(&format!("{JSON_HEADER}content-length: -2\r\n"), "{}"), refused),
        (
            "a length that overflows",
            head(&format!("{JSON_HEADER}content-length: 99999999999999999999\r\n"), "{}"),
            refused,
        ),
        (
            "a length and chunks",
            head(&format!("{JSON_HEADER}content-length: 2\r\ntransfer-encoding: chunked\r\n"), "2\r\n{}\r\n0\r\n\r\n"),
            &[],
        ),
        (
            "chunks with an invalid size",
            head(&format!("{JSON_HEADER}transfer-encoding: chunked\r\n"), "zz\r\n{}\r\n0\r\n\r\n"),
            &[0, 400, 404, 405],
        ),
        (
            "chunks with an overflowing size",
            head(&format!("{JSON_HEADER}transfer-encoding: chunked\r\n"), "ffffffffffffffffff\r\n{}"),
            &[0, 400, 404, 405],
        ),
        (
            "chunks within chunks",
            head(&format!("{JSON_HEADER}transfer-encoding: chunked, chunked\r\n"), "0\r\n\r\n"),
            &[],
        ),
        ("expect: 100-continue", head(&format!("{JSON_HEADER}content-length: 2\r\nexpect: 100-continue\r\n"), ""), &[]),
        ("no host", format!(" HTTP/1.1\r\n{JSON_HEADER}content-length: 2\r\n\r\n{{}}"), &[0, 400, 421]),
        ("two hosts", head("host: evil.test\r\n", ""), &[0, 400, 421]),
        ("a host with a suffix", " HTTP/1.1\r\nhost: [::1]evil\r\n\r\n".to_owned(), &[0, 400, 421]),
        ("two origins", head(&format!("origin: http://{host}\r\norigin: https://evil.test\r\n"), ""), refused),
        ("two keys", head("x-api-key: a\r\nx-api-key: b\r\n", ""), refused),
        ("another host", " HTTP/1.1\r\nhost: evil.test\r\n\r\n".to_owned(), &[421]),
        ("200 headers", head(&"x-a: 1\r\n".repeat(200), ""), &[0, 400, 431]),
        ("a header of 64 KiB", head(&format!("x-a: {}\r\n", "a".repeat(64 << 10)), ""), &[]),
        ("a header of 2 MB", head(&format!("x-a: {}\r\n", "a".repeat(2 << 20)), ""), &[0, 400, 431]),
        ("a header with a carriage return", head("x-a: 1\rx-b: 2\r\n", ""), refused),
        ("a header without a name", head(": 1\r\n", ""), refused),
        ("a header on two lines", head("x-a: 1\r\n two\r\n", ""), refused),
        ("an unknown protocol version", format!(" HTTP/9.9\r\nhost: {host}\r\n\r\n"), &[0, 400, 505]),
        ("no protocol version", "\r\n\r\n".to_owned(), &[0, 400]),
    ]
}

/// Sends bytes; returns the status, or 0 if the connection was closed without one.
async fn send_raw(address: &str, bytes: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before the whole request is written.
    let _ = timeout(Duration::from_secs(60), stream.write_all(bytes)).await;
    let mut head = [0; 12];
    let read = timeout(Duration::from_secs(60), stream.read_exact(&mut head))
        .await
        .expect("the server neither answers nor closes the connection");
    match read {
        Ok(_) => String::from_utf8_lossy(&head[9..]).parse().unwrap(),
        Err(_) => 0,
    }
}

#[tokio::test]
async fn malformed_requests_are_rejected_on_every_route() {
    let folder = tempfile::tempdir().unwrap();
    let connections = "connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]";
    let agents = "agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: demo } }]";
    let limits = "limits: { headerReadMs: 1000, bodyReadMs: 1000 }";
    fs::write(
        folder.path().join("chatwright.yaml"),
        format!("{connections}\n{agents}\npages: [{{ id: p }}]\n{limits}\n"),
    )
    .unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let host = server.origin.strip_prefix("http://").unwrap();
    let document: Value = server.request(Method::GET, "/api/openapi.json").send().await.unwrap().json().await.unwrap();
    let mut routes = vec![("POST".to_owned(), "/ui/page".to_owned(), true), ("GET".to_owned(), "/p".to_owned(), false)];
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{page}", "p").replace("{agent}", "a").replace(['{', '}'], "");
        for (method, operation) in methods.as_object().unwrap() {
            routes.push((method.to_uppercase(), path.clone(), operation["requestBody"].is_object()));
        }
    }
    assert!(routes.len() > 60, "{routes:?}");
    let requests = routes.iter().flat_map(|(method, path, reads)| {
        let all = malformed_requests(host).into_iter();
        all.map(move |(what, rest, expected)| {
            (format!("{method} {path}: {what}"), format!("{method} {path}{rest}"), expected, *reads)
        })
    });
    let wrong = stream::iter(requests).map(async |(case, request, expected, reads)| {
        let status = send_raw(host, request.as_bytes()).await;
        let is_right = status < 500 || status == 505;
        // Routes without a body ignore it, and health probes accept any host.
        let is_body = case.contains("chunks") || case.contains("shorter than");
        let is_probe = case.contains("host") && (case.contains("/healthz") || case.contains("/readyz"));
        let is_nobodys = [401, 403, 404].contains(&status) || !reads && is_body || is_probe;
        let is_expected = expected.is_empty() || expected.contains(&status) || is_nobodys;
        (!is_right || !is_expected).then(|| format!("{case}: {status}"))
    });
    let wrong: Vec<_> = wrong.buffer_unordered(16).filter_map(std::future::ready).collect().await;
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(server.request(Method::GET, "/healthz").send().await.unwrap().status().is_success());
}
