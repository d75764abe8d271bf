//! What a turn may take, from the config to the stream.

use crate::http::chunks;
use crate::process::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

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

fn metadata(chunks: &[Value]) -> Value {
    let mut told = chunks.iter().filter(|chunk| chunk["type"] == "message-metadata");
    told.next_back().unwrap()["messageMetadata"].clone()
}

#[tokio::test]
async fn a_limit_is_told_with_the_cost_and_the_next_turn_goes_on() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("chatwright.yaml");
    std::fs::write(&file, CONFIG).unwrap();
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let ask = |text: &'static str| server.message_to("demo/helper", "c1", text);
    let ended = metadata(&chunks(ask("What do you know about refunds?").send().await.unwrap()).await);
    assert_eq!((&ended["outcome"], &ended["limit"]), (&json!("limit"), &json!("requests")));
    let output = ended["usage"]["outputTokens"].as_f64().unwrap();
    assert!((ended["costUsd"].as_f64().unwrap() - output).abs() < 0.01, "{ended}");
    let next = metadata(&chunks(ask("hello").send().await.unwrap()).await);
    assert_eq!((&next["outcome"], &next["limit"]), (&json!("done"), &Value::Null));
    // Kept with the message.
    assert_eq!(server.conversation("c1").await["messages"][1]["metadata"]["limit"], "requests");
    // And what the conversation took in all.
    let took: Value =
        server.ask(reqwest::Method::GET, "/api/conversations/c1/usage").send().await.unwrap().json().await.unwrap();
    let sum = ended["usage"]["outputTokens"].as_u64().unwrap() + next["usage"]["outputTokens"].as_u64().unwrap();
    assert_eq!((&took["steps"], &took["usage"]["outputTokens"]), (&json!(2), &json!(sum)), "{took}");
    let requests: Vec<_> = took["requests"].as_array().unwrap().iter().map(|step| &step["finishReason"]).collect();
    assert_eq!(requests, ["tool-calls", "stop"]);
    let other = server.ask(reqwest::Method::GET, "/api/conversations/c2/usage").send().await.unwrap();
    assert_eq!(other.status(), 404);
}
