//! The limits of turns, from the config to the stream.

use crate::http::chunks;
use crate::process::Server;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CONFIG: &str = r#"
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: kb, type: Sql, properties: { url: "sqlite::memory:", init: "create table articles (title text, body text); insert into articles values ('Refunds', 'Within 30 days.')" } }
agents:
  - id: helper
    type: Agent
    connectionId: demo
    properties: { model: demo, limits: { requests: 1 } }
    tools: [search_articles]
api:
  - id: search_articles
    description: Search.
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ id: a, type: SqlQuery, connectionId: kb, properties: { query: "select title, body from articles" } }, { ":return": { articles: { _step: a } } }]
pages:
  - { id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }
prices:
  default: { input: 1, output: 1000000 }
"#;

fn last_metadata(chunks: &[Value]) -> Value {
    let mut received = chunks.iter().filter(|chunk| chunk["type"] == "message-metadata");
    received.next_back().unwrap()["messageMetadata"].clone()
}

#[tokio::test]
async fn limit_and_cost_are_reported_and_the_next_turn_works() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("chatwright.yaml");
    std::fs::write(&file, CONFIG).unwrap();
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let ask = |text: &'static str| server.message_to("demo/helper", "c1", text);
    let ended = last_metadata(&chunks(ask("What do you know about refunds?").send().await.unwrap()).await);
    assert_eq!((&ended["outcome"], &ended["limit"]), (&json!("limit"), &json!("requests")));
    let output = ended["usage"]["outputTokens"].as_f64().unwrap();
    assert!((ended["costUsd"].as_f64().unwrap() - output).abs() < 0.01, "{ended}");
    let next = last_metadata(&chunks(ask("hello").send().await.unwrap()).await);
    assert_eq!((&next["outcome"], &next["limit"]), (&json!("done"), &Value::Null));
    // The limit is stored with the message.
    assert_eq!(server.conversation("c1").await["messages"][1]["metadata"]["limit"], "requests");
    // The usage of the conversation is the sum of its turns.
    let usage: Value =
        server.request(Method::GET, "/api/conversations/c1/usage").send().await.unwrap().json().await.unwrap();
    let sum = ended["usage"]["outputTokens"].as_u64().unwrap() + next["usage"]["outputTokens"].as_u64().unwrap();
    assert_eq!((&usage["steps"], &usage["usage"]["outputTokens"]), (&json!(2), &json!(sum)), "{usage}");
    let requests: Vec<_> = usage["requests"].as_array().unwrap().iter().map(|step| &step["finishReason"]).collect();
    assert_eq!(requests, ["tool-calls", "stop"]);
    let other = server.request(Method::GET, "/api/conversations/c2/usage").send().await.unwrap();
    assert_eq!(other.status(), 404);
}

/// Starts a server whose only agent writes slowly.
fn serve_with_limits(limits: &str) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    let config = format!(
        "connections: [{{ id: demo, type: Demo, properties: {{ delayMs: 50 }} }}]\n\
         agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: demo }} }}]\n\
         pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]\n\
         limits: {{ {limits} }}\n"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

#[tokio::test]
async fn concurrent_runs_per_user_are_limited() {
    let (server, _folder) = serve_with_limits("runsPerUser: 2");
    let ask =
        async |conversation: &str| server.message_to("demo/helper", conversation, "count to 400").send().await.unwrap();
    let (first, second) = (ask("c1").await, ask("c2").await);
    assert_eq!((first.status(), second.status()), (StatusCode::OK, StatusCode::OK), "below and at the limit");
    let refused = ask("c3").await;
    assert_eq!(
        (refused.status(), refused.headers()["retry-after"].to_str().unwrap()),
        (StatusCode::TOO_MANY_REQUESTS, "10")
    );
    let body: Value = refused.json().await.unwrap();
    assert_eq!(
        body["error"]["message"],
        "2 other answers are being written for you. Wait for one, or stop one, then try again."
    );
    assert_eq!(
        server.request(Method::GET, "/api/conversations/c3").send().await.unwrap().status(),
        StatusCode::NOT_FOUND
    );
    // The end of a reply allows another one.
    let stop = server.request(Method::POST, "/api/agent/demo/helper/c1/stop").send().await.unwrap();
    assert!(stop.status().is_success(), "{stop:?}");
    first.text().await.unwrap();
    let mut again = ask("c3").await;
    for _ in 0..3000 {
        if again.status() == StatusCode::OK {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        again = ask("c3").await;
    }
    assert_eq!(again.status(), StatusCode::OK);
    drop(second);
}

/// Messages and questions of programs that arrive at once are not all checked against the same usage.
#[tokio::test]
async fn requests_at_the_same_time_stay_within_limits() {
    // The mode is `local`, so that nothing else limits how many answers a user gets at once.
    for (limits, accepted) in [("quotas: [{ per: day, messages: 3 }]", 3), ("runsPerUser: 2", 2)] {
        let (server, _folder) = serve_with_limits(limits);
        let (server, is_quota) = (&server, limits.starts_with("quotas"));
        let attempts = (0..20).map(|number| async move {
            let request = match number % 2 {
                0 if is_quota => server
                    .request(Method::POST, "/api/runs/invoke")
                    .json(&json!({ "agent_name": "helper", "input": { "prompt": "Hello" } })),
                _ => server.message_to("demo/helper", &format!("c{number}"), "count to 400"),
            };
            // The answer goes on while the others begin.
            request.send().await.unwrap().status()
        });
        let statuses = futures::future::join_all(attempts).await;
        let count = |wanted: StatusCode| statuses.iter().filter(|status| **status == wanted).count();
        assert_eq!(count(StatusCode::OK), accepted, "{limits}: {statuses:?}");
        assert_eq!(count(StatusCode::TOO_MANY_REQUESTS), 20 - accepted, "{limits}: {statuses:?}");
    }
}

#[tokio::test]
async fn message_size_is_limited() {
    let (server, _folder) = serve_with_limits("textBytes: 1024");
    for (length, expected) in [(1023, 200), (1024, 200), (1025, 413)] {
        let sent = server.message_to("demo/helper", &format!("c{length}"), &"x".repeat(length)).send().await.unwrap();
        assert_eq!(sent.status(), expected, "{length}");
        let text = sent.text().await.unwrap();
        assert!(expected == 200 || text.contains("The message is too long: 1 KB at most."), "{text}");
    }
}

/// The connection and its buffers are released.
#[tokio::test]
async fn client_that_does_not_read_is_disconnected() {
    let (server, _folder) = serve_with_limits("writeMs: 500");
    let host = server.origin.strip_prefix("http://").unwrap();
    let request = format!("GET /api/openapi.json HTTP/1.1\r\nhost: {host}\r\n\r\n");
    let mut idle = TcpStream::connect(host).await.unwrap();
    // First the responses fill the buffers, then the requests do.
    let written = tokio::time::timeout(Duration::from_secs(60), async {
        while idle.write_all(request.as_bytes()).await.is_ok() {}
    });
    assert!(written.await.is_ok(), "the connection stays open");
    // A client that reads receives every response on one connection.
    let (mut reads, mut writes) = TcpStream::connect(host).await.unwrap().into_split();
    let last = request.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    let sent = tokio::spawn(async move {
        for _ in 0..100 {
            writes.write_all(request.as_bytes()).await.unwrap();
        }
        writes.write_all(last.as_bytes()).await.unwrap();
        writes
    });
    let mut answers = Vec::new();
    reads.read_to_end(&mut answers).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answers).matches("HTTP/1.1 200").count(), 101);
    sent.await.unwrap();
}
