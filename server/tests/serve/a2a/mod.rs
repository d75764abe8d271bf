//! Agent2Agent, with clients of it as published.

mod clients;
mod push;
mod rest;
mod tasks;

use crate::process::Server;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The section of most tests.
const SECTION: &str = "a2a: { agents: [helper, broken] }";

/// Returns a config whose agents have `model` as their provider.
fn config(model: &str, section: &str) -> String {
    format!(
        r#"
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}
  - {{ id: away, type: OpenAICompatible, properties: {{ baseURL: "http://127.0.0.1:9/v1" }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    title: Helper
    description: Finds and sends things.
    properties: {{ model: m, askUser: true }}
    tools: [find, {{ endpointId: send, confirm: true }}]
  - {{ id: broken, type: Agent, connectionId: away, properties: {{ model: m, maxRetries: 0 }} }}
  - {{ id: hidden, type: Agent, connectionId: model, properties: {{ model: m }} }}
api:
  - {{ id: find, description: Finds., payloadSchema: {{ type: object }}, routine: [{{ ":return": found }}] }}
  - {{ id: send, description: Sends., payloadSchema: {{ type: object }}, routine: [{{ ":return": {{ _payload: true }} }}] }}
pages: [{{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
{section}
"#
    )
}

/// Starts a server with a config.
fn start(config: &str, arguments: &[&str]) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let arguments = [&["--config", folder.path().to_str().unwrap()], arguments].concat();
    (Server::start_with(&arguments), folder)
}

/// Returns a call of a method.
fn call(server: &Server, method: &str, params: &Value) -> RequestBuilder {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.request(Method::POST, "/a2a/helper").header("A2A-Version", "1.0").json(&body)
}

/// Returns a message with a text.
fn message(id: &str, text: &str) -> Value {
    json!({ "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

/// Sends a call; returns its result or error.
async fn result(request: RequestBuilder) -> Value {
    let mut answer: Value = request.send().await.unwrap().json().await.unwrap();
    let key = if answer.get("result").is_some() { "result" } else { "error" };
    answer[key].take()
}
