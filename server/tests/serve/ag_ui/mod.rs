//! AG-UI, with its client as published.

use crate::process::Server;
use crate::provider::{start_provider, start_silent_provider};
use insta::assert_snapshot;
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

/// Starts a server whose agents have `model` as their provider.
fn start(model: &str) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    let config = format!(
        r#"
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}
  - {{ id: away, type: OpenAICompatible, properties: {{ baseURL: "http://127.0.0.1:9/v1" }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m, instructions: Help. }}
    askUser: true
    tools: [find, {{ endpointId: send, confirm: true }}]
  - {{ id: broken, type: Agent, connectionId: away, properties: {{ model: m, maxRetries: 0 }} }}
  - {{ id: hidden, type: Agent, connectionId: model, properties: {{ model: m }} }}
api:
  - {{ id: find, description: Finds., payloadSchema: {{ type: object }}, routine: [{{ ":return": found }}] }}
  - {{ id: send, description: Sends., payloadSchema: {{ type: object }}, routine: [{{ ":return": {{ _payload: true }} }}] }}
pages: [{{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
agUi: {{ agents: [helper, broken] }}
"#
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

/// Returns what a script prints that uses the client with the server.
async fn run(model: &str, script: &str) -> String {
    let (server, _folder) = start(model);
    let body = json!({ "name": "test", "scopes": ["agents"], "expiresInDays": 1 });
    let made = server.request(Method::POST, "/api/keys").json(&body).send().await.unwrap();
    let key = made.json::<Value>().await.unwrap()["key"].as_str().unwrap().to_owned();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../end2end/ag_ui").join(script);
    let mut command = Command::new("node");
    command.arg(script).arg(&server.origin).arg(key).env("no_proxy", "127.0.0.1");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed
}

#[tokio::test(flavor = "multi_thread")]
async fn client_of_ag_ui_works() {
    assert_snapshot!(run(&start_provider().await, "client.mjs").await, @"");
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_stops_when_its_frontend_has_gone() {
    assert_snapshot!(run(&start_silent_provider().await, "abort.mjs").await, @"");
}
