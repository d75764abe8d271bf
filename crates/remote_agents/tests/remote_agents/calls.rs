//! `POST /tools/{name}`.

use crate::server::{KEY, Server, TOKEN, VARIABLE, answer, caller};
use axum::response::IntoResponse;
use contract::Tool;
use serde_json::{Value, json};
use std::io::Write;

/// Checks the result for the model when the server answers with this body.
async fn check_body(status: u16, body: impl Into<Vec<u8>>, expected: &str) {
    let body = body.into();
    let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
    let server = Server::finding(move || answer(status, body.clone())).await;
    assert_eq!(server.call(json!({})).await, expected, "{status} {shown}");
}

async fn check(body: Value, expected: &str) {
    check_body(200, body.to_string(), expected).await;
}

/// Checks the result for this data, without a type.
async fn check_data(data: Value, expected: &str) {
    check(json!({ "success": true, "data": data }), expected).await;
}

#[tokio::test]
async fn calls_are_sent_with_headers_and_arguments() {
    let server = Server::finding(|| answer(200, r#"{"success":true,"data":{"text":"ok"}}"#)).await;
    assert_eq!(server.call(json!({ "query": "x", "n": [1] })).await, r#""ok""#);
    let seen = server.seen();
    let lines: Vec<_> = seen.iter().map(|seen| format!("{} {}", seen.line, seen.body)).collect();
    assert_eq!(lines, ["GET /v1/tools ", r#"POST /v1/tools/find {"query":"x","n":[1]}"#]);
    for seen in seen {
        assert_eq!(seen.headers["x-api-key"], KEY);
        assert_eq!(seen.headers["authorization"], format!("Bearer {TOKEN}"));
        assert_eq!(seen.headers["x-dburi"], VARIABLE);
        assert_eq!(seen.headers["content-type"], "application/json");
    }
}

#[tokio::test]
async fn results_with_a_type_are_converted() {
    let declared = |kind: &str, data: Value| json!({ "success": true, "responseType": kind, "data": data });
    check(declared("text", json!({ "text": "Found 3." })), r#""Found 3.""#).await;
    check(declared("html", json!({ "html": "<b>3</b>" })), r#"{"type":"html","html":"<b>3</b>"}"#).await;
    let medium = json!({
        "type": "image", "url": "https://x.org/a.png", "mimeType": "image/png", "description": "A", "metadata": { "w": 1 },
        "other": 1,
    });
    let shown =
        r#"{"type":"image","mimeType":"image/png","description":"A","url":"https://x.org/a.png","metadata":{"w":1}}"#;
    check(declared("media", json!({ "media": [medium] })), &format!(r#"{{"type":"media","media":[{shown}]}}"#)).await;
    let mixed = declared("mixed", json!({ "text": "a", "media": medium, "count": 2, "type": "html" }));
    let expected = format!(r#"{{"type":"mixed","text":"a","media":[{shown}],"data":{{"count":2,"type":"html"}}}}"#);
    check(mixed, &expected).await;
    // A type that does not match the data is ignored.
    check(declared("html", json!({ "text": "a" })), r#""a""#).await;
    check(declared("pdf", json!({ "pdf": "a" })), r#"{"type":"mixed","data":{"pdf":"a"}}"#).await;
    check(declared("text", json!({ "text": "a", "html": "b" })), r#""a""#).await;
    check(declared("mixed", json!({ "text": "a" })), r#"{"type":"mixed","text":"a"}"#).await;
}

#[tokio::test]
async fn results_without_a_type_are_converted() {
    check_data(json!({ "text": "a" }), r#""a""#).await;
    check_data(json!({ "text": { "n": 1 } }), r#""{\"n\":1}""#).await;
    check_data(json!({ "html": "<i>" }), r#"{"type":"html","html":"<i>"}"#).await;
    check_data(json!({ "media": [] }), r#"{"type":"media","media":[]}"#).await;
    check_data(json!({ "text": "a", "html": "b" }), r#"{"type":"mixed","text":"a","html":"b"}"#).await;
    check_data(json!({ "rows": [1] }), r#"{"type":"mixed","data":{"rows":[1]}}"#).await;
    check_data(json!({}), r#"{"type":"mixed"}"#).await;
    check_data(json!([1]), r#"{"type":"mixed","data":[1]}"#).await;
    check_data(json!("a"), r#""a""#).await;
    check_data(Value::Null, r#""The tool succeeded without a result.""#).await;
    check(json!({ "success": true }), r#""The tool succeeded without a result.""#).await;
}

#[tokio::test]
async fn media_without_an_http_url_are_left_out() {
    for url in [
        "javascript:alert(1)",
        "java\nscript:x",
        "data:text/html,x",
        "file:///etc/passwd",
        "x",
        "",
        "https://a:b@x.org/",
    ] {
        let expected = r#"{"type":"media","media":[],"omitted":1}"#;
        check_data(json!({ "media": [{ "type": "image", "url": url }] }), expected).await;
    }
    check_data(json!({ "media": [1, { "url": 2 }, {}] }), r#"{"type":"media","media":[],"omitted":3}"#).await;
    let long = format!("https://x.org/{}", "x".repeat(4_000));
    check_data(json!({ "media": { "url": long } }), r#"{"type":"media","media":[],"omitted":1}"#).await;
    let many = vec![json!({ "url": "http://x.org" }); 150];
    let kept = vec![r#"{"url":"http://x.org/"}"#; 100].join(",");
    check_data(json!({ "media": many }), &format!(r#"{{"type":"media","media":[{kept}],"omitted":50}}"#)).await;
}

#[tokio::test]
async fn success_takes_precedence_over_the_status() {
    let failed = |error: Value| json!({ "success": false, "error": error }).to_string();
    let full = json!({ "message": "No such user.", "code": 404, "details": "Ask for another." });
    for status in [200, 201, 404, 500] {
        check_body(status, r#"{"success":true,"data":{"text":"ok"}}"#, r#""ok""#).await;
        let expected = "error: The tool failed: No such user; code 404; Ask for another.";
        check_body(status, failed(full.clone()), expected).await;
    }
    check_body(200, failed(json!({ "message": "x", "details": "" })), "error: The tool failed: x.").await;
    check_body(
        200,
        failed(json!({ "message": "x", "code": "E1", "details": { "a": 1 } })),
        r#"error: The tool failed: x; code E1; {"a":1}."#,
    )
    .await;
    check_body(200, failed(json!("boom")), "error: The tool failed: boom.").await;
    check_body(200, failed(Value::Null), "error: The tool failed: it gave no reason.").await;
    check_body(401, failed(json!({})), "error: The tool failed: its server refused the credentials (status 401).")
        .await;
}

#[tokio::test]
async fn invalid_answers_are_errors() {
    let unreadable = "error: The tool failed: its server sent an invalid answer.";
    for body in ["", "ok", "{", "[]", "null", "{}", r#"{"success":"true"}"#, r#"{"success":1}"#, "\u{feff}{}"] {
        check_body(200, body, unreadable).await;
    }
    check_body(200, vec![b'"', 0xff, b'"'], unreadable).await;
    check_body(200, "[".repeat(100_000), unreadable).await;
    check_body(401, "{}", "error: The tool failed: its server refused the credentials (status 401).").await;
    check_body(403, "no", "error: The tool failed: its server refused the credentials (status 403).").await;
    check_body(404, r#"{"message":"x"}"#, "error: The tool failed: its server does not know it (status 404).").await;
    check_body(502, "<html>", "error: The tool failed: its server answered with the status 502.").await;
}

#[tokio::test]
async fn results_are_limited_in_size() {
    let text = |length: usize| json!({ "success": true, "data": { "text": "x".repeat(length) } }).to_string();
    check_body(200, text(1_000_000), &format!("{:?}", "x".repeat(1_000_000))).await;
    let large = "error: The tool gave no result: the response is larger than 1048576 bytes. It may or may not have had an effect.";
    check_body(200, text(1 << 20), large).await;
    // A number that is longer in the result than in the answer.
    let numbers = format!(r#"{{"success":true,"data":{{"n":[{}]}}}}"#, vec!["1e15"; 200_000].join(","));
    check_body(200, numbers, "error: The tool failed: its result is too large.").await;
    let deep = |depth: usize| format!(r#"{{"success":true,"data":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    check_body(200, deep(64), &format!(r#"{{"type":"mixed","data":{}{}}}"#, "[".repeat(64), "]".repeat(64))).await;
    check_body(200, deep(65), "error: The tool failed: its result is nested too deeply.").await;
}

#[tokio::test]
async fn compressed_answers_count_with_their_full_size() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&vec![b' '; 64 << 20]).unwrap();
    let packed = packer.finish().unwrap();
    assert!(packed.len() < 100_000);
    let server = Server::finding(move || ([("content-encoding", "gzip")], packed.clone()).into_response()).await;
    let expected = "error: The tool gave no result: the response is larger than 1048576 bytes. It may or may not have had an effect.";
    assert_eq!(server.call(json!({})).await, expected);
}

#[tokio::test]
async fn errors_are_truncated_and_sanitized() {
    let long = format!("a\u{200b}b\n\u{1b}[31mc\u{e0041} {}", "é".repeat(100_000));
    let body = json!({ "success": false, "error": { "message": long, "code": long, "details": long } }).to_string();
    let server = Server::finding(move || answer(200, body.clone())).await;
    let seen = server.call(json!({})).await;
    assert!(seen.starts_with("error: The tool failed: ab [31mc éé"), "{seen}");
    assert!(seen.len() < 2_300, "{}", seen.len());
}

#[tokio::test]
async fn a_stopped_call_ends_at_once() {
    let server = Server::finding(|| answer(200, "{}")).await;
    let (tool, context) = (server.tool().await, caller());
    context.cancel.cancel();
    let error = tool.call(json!({}), context).await.unwrap_err();
    assert_eq!(error.message, "Stopped before it finished. It may or may not have had an effect.");
    assert_eq!(server.seen().len(), 1, "the list, and no call");
}
