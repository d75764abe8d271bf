//! The MCP server, with clients of it as published.

mod asking;
mod cancel;
mod clients;
mod conformance;
mod prompts;
mod protocol;
mod resources;
mod rights;

use crate::process::Server;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The section of most tests.
const SECTION: &str = "mcpApi: { agents: [helper], endpoints: [{ endpointId: find, readOnly: true }, fail, { endpointId: mail/send, idempotent: true }] }";

/// The header `Accept` of clients: both forms of a response.
const ACCEPTED: &str = "application/json, text/event-stream";

/// Starts a server with an agent that has a tool of its own and one that needs an approval, and with
/// `model` as its provider.
fn start(model: &str, rest: &str) -> (Server, TempDir) {
    let folder = config_folder(model, rest);
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

fn config_folder(model: &str, rest: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config(model, rest)).unwrap();
    folder
}

fn config(model: &str, rest: &str) -> String {
    format!(
        r#"
connections: [{{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}]
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    tools: [find, {{ endpointId: mail/send, name: send, confirm: true }}]
  - {{ id: second, type: Agent, connectionId: model, properties: {{ model: m }} }}
api:
  - {{ id: find, description: Finds., payloadSchema: {{ type: object, properties: {{ query: {{ type: string }} }} }}, routine: [{{ ":return": {{ found: {{ _payload: query }} }} }}] }}
  - {{ id: echo, description: Echoes., payloadSchema: {{ type: object, properties: {{ value: {{}} }} }}, routine: [{{ ":return": {{ _payload: value }} }}] }}
  - {{ id: fail, description: Fails., payloadSchema: {{ type: object }}, routine: [{{ ":reject": There is nothing. }}] }}
  - {{ id: mail/send, description: Sends., payloadSchema: {{ type: object }}, routine: [{{ ":return": sent }}] }}
pages: [{{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
{rest}
"#
    )
}

/// Returns a request with a message, as clients send it.
fn message(server: &Server, body: &Value) -> RequestBuilder {
    let request = server.request(Method::POST, "/mcp").header("accept", ACCEPTED);
    request.header("mcp-protocol-version", "2025-11-25").json(body)
}

/// Returns the message of JSON-RPC that calls a tool.
fn call(id: u32, tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// Returns the last message of a response, which is JSON or a stream.
fn last_message(body: &str) -> Value {
    let last = body.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(body);
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{body}"))
}

/// Calls a tool; returns the result.
async fn result_of(server: &Server, tool: &str, arguments: Value) -> Value {
    let response = message(server, &call(1, tool, &arguments)).send().await.unwrap();
    last_message(&response.text().await.unwrap())["result"].clone()
}

/// Returns the result or the error of a request.
async fn answer(request: RequestBuilder) -> Value {
    let answer = last_message(&request.send().await.unwrap().text().await.unwrap());
    answer.get("result").or(answer.get("error")).cloned().unwrap_or_else(|| panic!("{answer}"))
}

/// Returns the capabilities that the server announces to a client.
async fn capabilities(server: &Server, key: Option<&str>) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let request = server.request(Method::POST, "/mcp").header("accept", ACCEPTED).json(&body);
    let request = match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    answer(request).await["capabilities"].clone()
}
