//! The official package of Python, and an agent of another server.

use super::{SECTION, start};
use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use insta::assert_snapshot;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn package_of_python_works() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/python/bin/python");
    if !Path::new(python).exists() {
        eprintln!("skipped: no Python with the package `mcp`; `cargo xtask test` installs it where Python is");
        return;
    }
    let (server, _folder) = start(&start_provider().await, SECTION);
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/mcp_server/client.py"));
    command.arg(format!("{}/mcp", server.origin)).arg(server.api_key(&["agents", "endpoints"]).await);
    let output = command.env("no_proxy", "127.0.0.1").stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap().replace(&server.origin, "ORIGIN");
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_snapshot!(printed, @r#"
    --- auto
    tools: ["helper", "find", "fail", "mail__send"]
    agent: [false, ["hello", "To continue this conversation, call the tool again with `conversationId` ID."]]
    structured: {"answer": "hello", "conversationId": "ID", "url": "ORIGIN/desk?conversation=ID", "outcome": "done", "reason": "done", "waitsFor": []}
    continued: ["again", true]
    unknown conversation: [true, ["There is no conversation with this id. Leave `conversationId` out to begin a new one."]]
    waiting: [false, ["The user must approve or deny `send` before the agent goes on. They do that in the conversation, where the agent then goes on: ORIGIN/desk?conversation=ID", "To continue this conversation, call the tool again with `conversationId` ID."]]
    endpoint: [false, ["{\"found\":\"x\"}"]]
    rejected: [true, ["There is nothing."]]
    invalid: [true, ["The payload is invalid at /query: 1 is not of type \"string\""]]
    unknown tool: [-32602, "There is no tool with this name."]
    progress: ["Thinking", "Using find", "Thinking"]
    increases: true
    --- legacy
    tools: ["helper", "find", "fail", "mail__send"]
    agent: [false, ["hello", "To continue this conversation, call the tool again with `conversationId` ID."]]
    structured: {"answer": "hello", "conversationId": "ID", "url": "ORIGIN/desk?conversation=ID", "outcome": "done", "reason": "done", "waitsFor": []}
    continued: ["again", true]
    unknown conversation: [true, ["There is no conversation with this id. Leave `conversationId` out to begin a new one."]]
    waiting: [false, ["The user must approve or deny `send` before the agent goes on. They do that in the conversation, where the agent then goes on: ORIGIN/desk?conversation=ID", "To continue this conversation, call the tool again with `conversationId` ID."]]
    endpoint: [false, ["{\"found\":\"x\"}"]]
    rejected: [true, ["There is nothing."]]
    invalid: [true, ["The payload is invalid at /query: 1 is not of type \"string\""]]
    unknown tool: [-32602, "There is no tool with this name."]
    progress: ["Thinking", "Using find", "Thinking"]
    increases: true
    "#);
}

/// Servers use each other's agents. The client is rmcp's.
#[tokio::test(flavor = "multi_thread")]
async fn agent_of_another_server_uses_the_tools() {
    let model = start_provider().await;
    let (server, _folder) = start(&model, SECTION);
    let key = server.api_key(&["agents", "endpoints"]).await;
    let folder = TempDir::new().unwrap();
    let config = format!(
        "connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: \"{model}\" }} }}
  - {{ id: other, type: Mcp, properties: {{ url: \"{}/mcp\", allowPrivate: true, headers: {{ authorization: {{ _secret: OTHER_KEY }} }} }} }}
agents: [{{ id: asks, type: Agent, connectionId: model, properties: {{ model: m }}, mcp: [{{ connectionId: other, prefix: other_ }}] }}]
pages: [{{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: asks }} }}] }}]
",
        server.origin
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let bearer = format!("Bearer {key}");
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let asking = Server::start_with_env(&[("OTHER_KEY", &bearer)], &arguments);
    let ask = async |id: &str, text: &str| {
        let chunks = chunks(asking.message_to("desk/asks", id, text).send().await.unwrap()).await;
        chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect::<String>()
    };
    let answer = ask("c1", r#"other_helper {"message":"say hello"}"#).await;
    assert!(answer.contains(r#""answer":"hello""#) && answer.contains(r#""outcome":"done""#), "{answer}");
    let failed = ask("c2", "other_fail {}").await;
    assert!(failed.contains("There is nothing."), "{failed}");
}
