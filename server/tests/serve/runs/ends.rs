//! The reasons, owners and usage of runs, in responses, logs, metrics and the admin console.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::fs::{self, File};
use tempfile::TempDir;

/// Returns a config in which the first agent has a tool that calls a model and that a page may
/// call, too.
fn config(model: &str) -> String {
    format!(
        r#"
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}
  - {{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: told, limits: {{ requests: 3 }} }}
    tools: [write]
  - {{ id: other, type: Agent, connectionId: demo, properties: {{ model: demo }} }}
  - {{ id: broken, type: Agent, connectionId: lost, properties: {{ model: gone, maxRetries: 0 }} }}
api:
  - id: write
    description: Writes.
    payloadSchema: {{ type: object }}
    routine:
      - {{ id: text, type: GenerateText, connectionId: demo, properties: {{ model: demo, prompt: hello }} }}
      - ":return": {{ _step: text }}
pages:
  - {{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}
prices:
  demo: {{ input: 1000, output: 1000 }}
"#
    )
    .replace("connectionId: lost", "connectionId: nowhere")
    .replace(
        "  - { id: demo, type: Demo",
        "  - { id: nowhere, type: OpenAICompatible, properties: { baseURL: \"http://127.0.0.1:9/v1\" } }\n  - { id: demo, type: Demo",
    )
}

async fn fetch_json(request: RequestBuilder) -> Value {
    request.send().await.unwrap().json().await.unwrap()
}

async fn serve(folder: &TempDir) -> (Server, File) {
    fs::write(folder.path().join("chatwright.yaml"), config(&start_provider().await)).unwrap();
    let log = File::create_new(folder.path().join("log")).unwrap();
    let server = Server::start_logging(&["--config", folder.path().to_str().unwrap()], log.try_clone().unwrap());
    (server, log)
}

/// Returns the log when it contains this text; lines are written asynchronously.
async fn wait_for_log(folder: &TempDir, text: &str) -> String {
    let mut log = String::new();
    for _ in 0..600 {
        log = fs::read_to_string(folder.path().join("log")).unwrap();
        if log.contains(text) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    log
}

#[tokio::test]
async fn conversation_belongs_to_one_agent() {
    let folder = TempDir::new().unwrap();
    let (server, _log) = serve(&folder).await;
    chunks(server.message_to("desk/other", "c1", "hello").send().await.unwrap()).await;
    let response = server.message_to("desk/helper", "c1", "write {}").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::CONFLICT);
    let error = response.json::<Value>().await.unwrap()["error"].clone();
    assert_eq!(error["code"], "other_agent");
    assert!(error["message"].as_str().unwrap().contains("Start a new conversation"), "{error}");
    assert_eq!(server.conversation("c1").await["messages"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn model_usage_of_routines_is_recorded() {
    let folder = TempDir::new().unwrap();
    let (server, _log) = serve(&folder).await;
    chunks(server.message_to("desk/helper", "c1", "write {}").send().await.unwrap()).await;
    let usage = fetch_json(server.request(Method::GET, "/api/conversations/c1/usage")).await;
    let requests = usage["requests"].as_array().unwrap();
    let seen: Vec<_> =
        requests.iter().map(|step| (&step["agentId"], &step["model"], step["callId"].is_string())).collect();
    let (helper, told, demo) = (json!("helper"), json!("told"), json!("demo"));
    assert_eq!(seen, [(&helper, &told, false), (&helper, &demo, true), (&helper, &told, false)], "{usage}");
    assert!(requests[1]["usage"]["outputTokens"].as_u64().unwrap() > 0, "{usage}");
    assert!(usage["costUsd"].as_f64().unwrap() > 0.0, "{usage}");
    let message = &server.conversation("c1").await["messages"][1]["metadata"];
    assert_eq!(message["usage"]["outputTokens"], usage["usage"]["outputTokens"]);

    let called = server.request(Method::POST, "/api/endpoints/desk/write").json(&json!({})).send().await.unwrap();
    assert_eq!(called.status(), StatusCode::OK);
    let metrics = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let counted = |agent: &str| {
        let start = format!(r#"chatwright_tokens_total{{agent="{agent}",model="demo/demo",kind="output"}}"#);
        metrics.lines().any(|line| line.starts_with(&start))
    };
    assert!(counted("helper") && counted("endpoint:write"), "{metrics}");
    let used = fetch_json(server.request(Method::GET, "/api/admin/overview?days=7")).await.to_string();
    assert!(used.contains("endpoint:write"), "{used}");
}

#[tokio::test]
async fn end_reasons_are_logged_and_counted() {
    let folder = TempDir::new().unwrap();
    let (server, _log) = serve(&folder).await;
    chunks(server.message_to("desk/other", "c1", "hello").send().await.unwrap()).await;
    chunks(server.message_to("desk/broken", "c2", "a prompt for nobody").send().await.unwrap()).await;
    let metrics = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    for expected in [
        r#"chatwright_run_ends_total{agent="other",reason="done"} 1"#,
        r#"chatwright_run_ends_total{agent="broken",reason="modelAway"} 1"#,
    ] {
        assert!(metrics.lines().any(|line| line == expected), "{expected} is not in {metrics}");
    }
    let log = wait_for_log(&folder, "run failed").await;
    let line = |text: &str| log.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}: {log}"));
    let (ended, failed) = (line("run ended"), line("run failed"));
    assert!(ended.contains("INFO") && ended.contains("done") && ended.contains("other"), "{ended}");
    assert!(failed.contains("WARN") && failed.contains("modelAway") && failed.contains("broken"), "{failed}");
    assert!(!log.contains("a prompt for nobody"), "{log}");
    let runs = server.request(Method::GET, "/admin/agents/broken").send().await.unwrap().text().await.unwrap();
    assert!(runs.contains("Failed: the provider is unavailable"), "{runs}");
    // With the cause, which the user does not read.
    let read = server.request(Method::GET, "/admin/conversations/c2").send().await.unwrap().text().await.unwrap();
    assert!(read.contains("Failed: the provider is unavailable ("), "{read}");
}

/// The turn fails instead of running without the limit.
#[tokio::test]
async fn limit_that_evaluates_to_nothing_fails_the_turn() {
    let folder = TempDir::new().unwrap();
    let file = config(&start_provider().await)
        .replace("limits: { requests: 3 }", "limits: { requests: { _payload: urlQuery.most } }");
    fs::write(folder.path().join("chatwright.yaml"), file).unwrap();
    let log = File::create_new(folder.path().join("log")).unwrap();
    let server = Server::start_logging(&["--config", folder.path().to_str().unwrap()], log);
    let refused = server.message_to("desk/helper", "c1", "write {}").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let log = wait_for_log(&folder, "cannot be evaluated").await;
    let cause =
        "chatwright.yaml:10:40: the operator of `limits.requests` has no value, so the limit cannot be enforced";
    assert!(log.contains(cause), "{log}");
}

/// The model's name comes from an operator, so its price is unknown when the config is loaded.
#[tokio::test]
async fn model_without_a_price_is_refused_under_a_cost_limit() {
    let folder = TempDir::new().unwrap();
    let file = config(&start_provider().await).replace(
        "{ model: told, limits: { requests: 3 } }",
        "{ model: { _payload: urlQuery.model }, limits: { costUsd: 1 } }",
    );
    fs::write(folder.path().join("chatwright.yaml"), file).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "write {}" }] });
    let body =
        json!({ "id": "chat", "trigger": "submit-message", "messages": [message], "urlQuery": { "model": "own" } });
    let request = server.request(Method::POST, "/api/agent/desk/helper?conversationId=c1").json(&body);
    let received = chunks(request.send().await.unwrap()).await;
    let streamed = serde_json::to_string(&received).unwrap();
    assert!(
        streamed.contains("The price of the model own is not known, so the cost limit cannot be kept."),
        "{streamed}"
    );
    assert!(streamed.contains(r#""reason":"unknownPrice""#), "{streamed}");
}
