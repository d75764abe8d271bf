//! Requests that are none, byte by byte, at every route that the server tells programs of (B1): an error or a closed connection, never a
//! failure of ours, and whoever asks next is answered.

use crate::process::Server;
use futures::{StreamExt, stream};
use reqwest::Method;
use serde_json::Value;
use std::fs;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const JSON: &str = "content-type: application/json\r\n";

/// What is sent after the method and the path, with what it may be answered; 0 is a closed connection.
fn broken(host: &str) -> Vec<(&'static str, String, &'static [u16])> {
    let head = |more: &str, body: &str| format!(" HTTP/1.1\r\nhost: {host}\r\n{more}\r\n{body}");
    let refused: &[u16] = &[0, 400];
    vec![
        ("less than it says", head(&format!("{JSON}content-length: 500\r\n"), "{}"), &[0, 400, 404, 405, 408]),
        ("two lengths", head(&format!("{JSON}content-length: 2\r\ncontent-length: 3\r\n"), "{}x"), refused),
        ("a length that is none", head(&format!("{JSON}content-length: -2\r\n"), "{}"), refused),
        ("a length beyond all", head(&format!("{JSON}content-length: 99999999999999999999\r\n"), "{}"), refused),
        (
            "a length and pieces",
            head(&format!("{JSON}content-length: 2\r\ntransfer-encoding: chunked\r\n"), "2\r\n{}\r\n0\r\n\r\n"),
            &[],
        ),
        (
            "pieces of no size",
            head(&format!("{JSON}transfer-encoding: chunked\r\n"), "zz\r\n{}\r\n0\r\n\r\n"),
            &[0, 400, 404, 405],
        ),
        (
            "pieces of all sizes",
            head(&format!("{JSON}transfer-encoding: chunked\r\n"), "ffffffffffffffffff\r\n{}"),
            &[0, 400, 404, 405],
        ),
        ("pieces within pieces", head(&format!("{JSON}transfer-encoding: chunked, chunked\r\n"), "0\r\n\r\n"), &[]),
        (
            "a body that waits to be asked for",
            head(&format!("{JSON}content-length: 2\r\nexpect: 100-continue\r\n"), ""),
            &[],
        ),
        ("no host", format!(" HTTP/1.1\r\n{JSON}content-length: 2\r\n\r\n{{}}"), &[0, 400, 421]),
        ("two hosts", head("host: evil.test\r\n", ""), &[0, 400, 421]),
        ("a host with something behind it", " HTTP/1.1\r\nhost: [::1]evil\r\n\r\n".to_owned(), &[0, 400, 421]),
        ("two origins", head(&format!("origin: http://{host}\r\norigin: https://evil.test\r\n"), ""), refused),
        ("two keys", head("x-api-key: a\r\nx-api-key: b\r\n", ""), refused),
        ("another host", " HTTP/1.1\r\nhost: evil.test\r\n\r\n".to_owned(), &[421]),
        ("200 headers", head(&"x-a: 1\r\n".repeat(200), ""), &[0, 400, 431]),
        ("a header of 64 KiB", head(&format!("x-a: {}\r\n", "a".repeat(64 << 10)), ""), &[]),
        ("a header of 2 MB", head(&format!("x-a: {}\r\n", "a".repeat(2 << 20)), ""), &[0, 400, 431]),
        ("a header with a line end", head("x-a: 1\rx-b: 2\r\n", ""), refused),
        ("a header without a name", head(": 1\r\n", ""), refused),
        ("a header on two lines", head("x-a: 1\r\n two\r\n", ""), refused),
        ("another protocol", format!(" HTTP/9.9\r\nhost: {host}\r\n\r\n"), &[0, 400, 505]),
        ("no protocol", "\r\n\r\n".to_owned(), &[0, 400]),
    ]
}

/// The status, 0 without one; whether the answer, as far as it came, shows a fault of ours.
async fn send(address: &str, bytes: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // Who is refused in the midst of his words hears no more.
    let _ = timeout(Duration::from_secs(5), stream.write_all(bytes)).await;
    let mut head = [0; 12];
    let read =
        timeout(Duration::from_secs(10), stream.read_exact(&mut head)).await.expect("it neither answers nor closes");
    match read {
        Ok(_) => String::from_utf8_lossy(&head[9..]).parse().unwrap(),
        Err(_) => 0,
    }
}

#[tokio::test]
async fn requests_that_are_none() {
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
    let document: Value = server.ask(Method::GET, "/api/openapi.json").send().await.unwrap().json().await.unwrap();
    let mut routes = vec![("POST".to_owned(), "/ui/page".to_owned(), true), ("GET".to_owned(), "/p".to_owned(), false)];
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{page}", "p").replace("{agent}", "a").replace(['{', '}'], "");
        for (method, operation) in methods.as_object().unwrap() {
            routes.push((method.to_uppercase(), path.clone(), operation["requestBody"].is_object()));
        }
    }
    assert!(routes.len() > 60, "{routes:?}");
    let requests = routes.iter().flat_map(|(method, path, reads)| {
        let all = broken(host).into_iter();
        all.map(move |(what, rest, expected)| {
            (format!("{method} {path}: {what}"), format!("{method} {path}{rest}"), expected, *reads)
        })
    });
    let wrong = stream::iter(requests).map(async |(case, request, expected, reads)| {
        let status = send(host, request.as_bytes()).await;
        let is_right = status < 500 || status == 505;
        // What takes no body does not look at it, and probes are asked by any name.
        let is_body = case.contains("pieces") || case.contains("less than");
        let is_probe = case.contains("host") && (case.contains("/healthz") || case.contains("/readyz"));
        let is_nobodys = [401, 403, 404].contains(&status) || !reads && is_body || is_probe;
        let is_expected = expected.is_empty() || expected.contains(&status) || is_nobodys;
        (!is_right || !is_expected).then(|| format!("{case}: {status}"))
    });
    let wrong: Vec<_> = wrong.buffer_unordered(16).filter_map(std::future::ready).collect().await;
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(server.ask(Method::GET, "/healthz").send().await.unwrap().status().is_success());
}
