//! Why runs end, whom they belong to and what they use, from the config to who reads it.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::provider;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::fs::{self, File};
use tempfile::TempDir;

/// Two agents on one page; the first one has a tool that asks a model, which a button may call, too.
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

async fn json_of(request: RequestBuilder) -> Value {
    request.send().await.unwrap().json().await.unwrap()
}

async fn serve(folder: &TempDir) -> (Server, File) {
    fs::write(folder.path().join("chatwright.yaml"), config(&provider().await)).unwrap();
    let log = File::create_new(folder.path().join("log")).unwrap();
    let server = Server::start_logging(&["--config", folder.path().to_str().unwrap()], log.try_clone().unwrap());
    (server, log)
}

/// The log once it has this text; lines are written beside the server's work.
async fn logged(folder: &TempDir, text: &str) -> String {
    let mut log = String::new();
    for _ in 0..100 {
        log = fs::read_to_string(folder.path().join("log")).unwrap();
        if log.contains(text) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    log
}

#[tokio::test]
async fn a_conversation_is_with_one_agent() {
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
async fn what_routines_ask_of_models_is_counted() {
    let folder = TempDir::new().unwrap();
    let (server, _log) = serve(&folder).await;
    chunks(server.message_to("desk/helper", "c1", "write {}").send().await.unwrap()).await;
    let took = json_of(server.ask(Method::GET, "/api/conversations/c1/usage")).await;
    let requests = took["requests"].as_array().unwrap();
    let seen: Vec<_> =
        requests.iter().map(|step| (&step["agentId"], &step["model"], step["callId"].is_string())).collect();
    let (helper, told, demo) = (json!("helper"), json!("told"), json!("demo"));
    assert_eq!(seen, [(&helper, &told, false), (&helper, &demo, true), (&helper, &told, false)], "{took}");
    assert!(requests[1]["usage"]["outputTokens"].as_u64().unwrap() > 0, "{took}");
    assert!(took["costUsd"].as_f64().unwrap() > 0.0, "{took}");
    let message = &server.conversation("c1").await["messages"][1]["metadata"];
    assert_eq!(message["usage"]["outputTokens"], took["usage"]["outputTokens"]);

    let called = server.ask(Method::POST, "/api/endpoints/desk/write").json(&json!({})).send().await.unwrap();
    assert_eq!(called.status(), StatusCode::OK);
    let metrics = server.ask(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let counted = |agent: &str| {
        let start = format!(r#"chatwright_tokens_total{{agent="{agent}",model="demo/demo",kind="output"}}"#);
        metrics.lines().any(|line| line.starts_with(&start))
    };
    assert!(counted("helper") && counted("endpoint:write"), "{metrics}");
    let used = json_of(server.ask(Method::GET, "/api/admin/overview?days=7")).await.to_string();
    assert!(used.contains("endpoint:write"), "{used}");
}

#[tokio::test]
async fn ends_are_logged_and_counted_with_their_reasons() {
    let folder = TempDir::new().unwrap();
    let (server, _log) = serve(&folder).await;
    chunks(server.message_to("desk/other", "c1", "hello").send().await.unwrap()).await;
    chunks(server.message_to("desk/broken", "c2", "a prompt for nobody").send().await.unwrap()).await;
    let metrics = server.ask(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    for expected in [
        r#"chatwright_run_ends_total{agent="other",reason="done"} 1"#,
        r#"chatwright_run_ends_total{agent="broken",reason="modelAway"} 1"#,
    ] {
        assert!(metrics.lines().any(|line| line == expected), "{expected} is not in {metrics}");
    }
    let log = logged(&folder, "run failed").await;
    let line = |text: &str| log.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}: {log}"));
    let (ended, failed) = (line("run ended"), line("run failed"));
    assert!(ended.contains("INFO") && ended.contains("done") && ended.contains("other"), "{ended}");
    assert!(failed.contains("WARN") && failed.contains("modelAway") && failed.contains("broken"), "{failed}");
    assert!(!log.contains("a prompt for nobody"), "{log}");
    let runs = server.ask(Method::GET, "/admin/agents/broken").send().await.unwrap().text().await.unwrap();
    assert!(runs.contains("Failed: the provider is away"), "{runs}");
}

/// A limit of cost whose operator comes to nothing is no turn without a limit.
#[tokio::test]
async fn a_bound_that_comes_to_nothing_is_an_error_of_the_turn() {
    let folder = TempDir::new().unwrap();
    let file = config(&provider().await)
        .replace("limits: { requests: 3 }", "limits: { requests: { _payload: urlQuery.most } }");
    fs::write(folder.path().join("chatwright.yaml"), file).unwrap();
    let log = File::create_new(folder.path().join("log")).unwrap();
    let server = Server::start_logging(&["--config", folder.path().to_str().unwrap()], log);
    let refused = server.message_to("desk/helper", "c1", "write {}").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let log = logged(&folder, "cannot be evaluated").await;
    let cause = "chatwright.yaml:10:40: the operator of `limits.requests` came to nothing, so the bound cannot be kept";
    assert!(log.contains(cause), "{log}");
}

/// A model that an operator names, and whose price nobody knows, is not asked where the cost is limited.
#[tokio::test]
async fn a_model_without_a_price_is_not_asked_where_the_cost_is_limited() {
    let folder = TempDir::new().unwrap();
    let file = config(&provider().await).replace(
        "{ model: told, limits: { requests: 3 } }",
        "{ model: { _payload: urlQuery.model }, limits: { costUsd: 1 } }",
    );
    fs::write(folder.path().join("chatwright.yaml"), file).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "write {}" }] });
    let body =
        json!({ "id": "chat", "trigger": "submit-message", "messages": [message], "urlQuery": { "model": "own" } });
    let request = server.ask(Method::POST, "/api/agent/desk/helper?conversationId=c1").json(&body);
    let told = chunks(request.send().await.unwrap()).await;
    let said = serde_json::to_string(&told).unwrap();
    assert!(said.contains("The price of the model own is not known, so the cost limit cannot be kept."), "{said}");
    assert!(said.contains(r#""reason":"unknownPrice""#), "{said}");
}
