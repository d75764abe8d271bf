//! The official package of Python, and an agent of another server.

use super::{SECTION, key, start};
use crate::process::Server;
use crate::provider::start_provider;
use insta::assert_snapshot;
use reqwest::Method;
use serde_json::{Value, json};
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
    command.arg(format!("{}/mcp", server.origin)).arg(key(&server, &["agents", "endpoints"]).await);
    let output = command.env("no_proxy", "127.0.0.1").stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap().replace(&server.origin, "ORIGIN");
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_snapshot!(printed, @"");
}

/// Servers use each other's agents. The client is rmcp's.
#[tokio::test(flavor = "multi_thread")]
async fn agent_of_another_server_uses_the_tools() {
    let model = start_provider().await;
    let (server, _folder) = start(&model, SECTION);
    let key = key(&server, &["agents", "endpoints"]).await;
    let folder = TempDir::new().unwrap();
    let config = format!(
        "connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: \"{model}\" }} }}
  - {{ id: other, type: Mcp, properties: {{ url: \"{}/mcp\", allowPrivate: true, headers: {{ authorization: {{ _secret: OTHER_KEY }} }} }} }}
agents: [{{ id: asks, type: Agent, connectionId: model, properties: {{ model: m }}, mcp: [other] }}]
pages: [{{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: asks }} }}] }}]
",
        server.origin
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let bearer = format!("Bearer {key}");
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let asking = Server::start_with_env(&[("OTHER_KEY", &bearer)], &arguments);
    let ask = async |text: &str| {
        let body = json!({ "agent_name": "asks", "input": { "prompt": text } });
        let answer = asking.request(Method::POST, "/api/runs/invoke").json(&body).send().await.unwrap();
        answer.json::<Value>().await.unwrap()
    };
    assert_snapshot!(ask(r#"other_helper {"message":"say hello"}"#).await, @"");
    assert_snapshot!(ask(r#"other_fail {}"#).await, @"");
}
