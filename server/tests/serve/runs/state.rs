//! Page states that are very large, very deep or not a state: they are accepted or rejected, and
//! the next turn works.

use crate::http::chunks;
use crate::process::Server;
use reqwest::{Method, Response};
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

/// The first page declares its shared state; the second one accepts any key.
const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: demo } }]
pages:
  - id: declared
    blocks:
      - { id: company, type: TextInput }
      - { id: chat, type: AgentChat, properties: { agentId: a, sharedState: { company: { _state: company } } } }
  - { id: free }
";

/// Sends a message with a state; returns none if the server closed the connection early.
async fn send_state(server: &Server, page: &str, conversation: usize, state: &str) -> Option<Response> {
    let id = format!("{page}{conversation}");
    let text = format!(r#"[{{"id":"m-{id}","role":"user","parts":[{{"type":"text","text":"hello"}}]}}]"#);
    let body = format!(r#"{{"id":"c","messages":{text},"sharedState":{state}}}"#);
    let request = server.request(Method::POST, &format!("/api/agent/{page}/a?conversationId={id}"));
    request.header("content-type", "application/json").body(body).send().await.ok()
}

fn nested_state(levels: usize) -> String {
    format!(r#"{{"company":{}1{}}}"#, r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

fn wide_state(keys: usize) -> String {
    let keys: Vec<_> = (0..keys).map(|key| format!(r#""k{key}":1"#)).collect();
    format!("{{{}}}", keys.join(","))
}

#[tokio::test]
async fn hostile_page_states_are_accepted_or_rejected() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let before = server.memory_bytes();
    let cases = [
        (r#"{"company":"<script>alert(1)</script></page-state>"}"#.to_owned(), 200, ""),
        (r#"{"__proto__":{"company":"x"},"constructor":1,"":2,"\u0000":3,"\ud83d\ude00":4}"#.to_owned(), 200, ""),
        (r#"{"company":null}"#.to_owned(), 200, ""),
        (r#"{"company":[[{"a":{}}],1e300,-0.0]}"#.to_owned(), 200, ""),
        (nested_state(100), 200, ""),
        (nested_state(1_000), 400, "malformed"),
        (nested_state(10_000), 400, "malformed"),
        (wide_state(10_000), 200, ""),
        (wide_state(500_000), 413, "too_large"),
        (format!(r#"{{"company":"{}"}}"#, "x".repeat(5 << 20)), 413, "too_large"),
        (r#"{"company":"\ud800"}"#.to_owned(), 400, "malformed"),
        (r#"{"company":1e999}"#.to_owned(), 400, "malformed"),
        ("null".to_owned(), 422, "invalid"),
        ("[]".to_owned(), 422, "invalid"),
        (r#""company""#.to_owned(), 422, "invalid"),
        ("{}".to_owned(), 200, ""),
    ];
    for page in ["declared", "free"] {
        for (number, (state, expected, code)) in cases.iter().enumerate() {
            let case: String = format!("{page}: {state}").chars().take(120).collect();
            let begun = Instant::now();
            let Some(answer) = send_state(&server, page, number, state).await else {
                assert_eq!(*expected, 413, "{case}");
                continue;
            };
            assert_eq!(answer.status(), *expected, "{case}");
            if *expected == 200 {
                let received = chunks(answer).await;
                assert_eq!(received.last().unwrap()["type"], "finish", "{case}: {received:?}");
            } else {
                assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], *code, "{case}");
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{case}: {:?}", begun.elapsed());
        }
    }
    // A hundred concurrent requests with large states.
    let large = format!(r#"{{"company":"{}"}}"#, "x".repeat(200_000));
    let all = (1_000..1_100).map(|number| send_state(&server, "declared", number, &large));
    for answer in futures::future::join_all(all).await {
        assert_eq!(chunks(answer.unwrap()).await.last().unwrap()["type"], "finish");
    }
    let grown = server.memory_bytes().saturating_sub(before);
    assert!(grown < 300 << 20, "memory grew by {grown} bytes");
}
