//! The API of OpenAI, with clients of it as published.

mod clients;
mod disconnects;
mod limits;

use crate::process::Server;
use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;

/// Starts a server with an agent that has a tool of its own and one that needs an approval, and with
/// `model` as its provider.
fn start(model: &str, section: &str) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    let config = format!(
        r#"
connections: [{{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}]
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    tools: [find, {{ endpointId: send, confirm: true }}]
  - {{ id: second, type: Agent, connectionId: model, properties: {{ model: m, limits: {{ requests: 1 }} }}, tools: [find] }}
api:
  - {{ id: find, description: Finds., payloadSchema: {{ type: object }}, routine: [{{ ":return": found }}] }}
  - {{ id: send, description: Sends., payloadSchema: {{ type: object }}, routine: [{{ ":return": sent }}] }}
pages: [{{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
{section}
"#
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

/// Sends a request; returns the status and the body.
async fn post(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    let response = server.request(Method::POST, path).json(body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}
