//! An agent with MCP servers, from its config to the stream.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::provider;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The reference server from the packages of the journeys, and one that is not there.
fn config(model: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let package =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/node_modules/@modelcontextprotocol/server-everything");
    std::fs::write(
        folder.path().join("chatwright.yaml"),
        format!(
            "
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}
  - {{ id: everything, type: Mcp, properties: {{ command: node, args: ['{package}/dist/index.js', stdio] }} }}
  - {{ id: nowhere, type: Mcp, properties: {{ command: no-such-program-anywhere }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    mcp: [nowhere, {{ connectionId: everything, prefix: all_, allow: [echo, get-tiny-image, get-sum] }}]
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"
        ),
    )
    .unwrap();
    folder
}

#[tokio::test]
async fn tools_of_mcp_servers() {
    let folder = config(&provider().await);
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let ask =
        async |id: &str, text: &str| chunks(server.message_to("demo/helper", id, text).send().await.unwrap()).await;
    let told = ask("c1", r#"all_echo {"message":"hi"}"#).await;
    let part = |kind: &str| told.iter().find(|chunk| chunk["type"] == kind).cloned().unwrap_or_default();
    assert_eq!(part("tool-output-available")["output"], "Echo: hi");
    let missing = json!({ "name": "nowhere", "message": "The tools of `nowhere` are not available now: it could not be started." });
    assert_eq!(part("data-source-unavailable")["data"], missing);
    let said: String = told.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert!(said.ends_with("Echo: hi | all_echo all_get-sum all_get-tiny-image"), "{said}");

    let told = ask("c2", "all_get-tiny-image {}").await;
    let image = told.iter().find(|chunk| chunk["type"] == "tool-output-available").unwrap();
    assert_eq!(image["output"]["content"][1]["mimeType"], "image/png");
    // A model of Chat Completions reads of it that there is one.
    let said: String = told.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert!(said.contains("[a file of the type image/png, which cannot be shown here]"), "{said}");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model() {
    let folder = config(&provider().await);
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let told = chunks(server.message_to("demo/helper", "c1", r#"all_get-sum {"a":"x"}"#).send().await.unwrap()).await;
    let refused = told.iter().find(|chunk| chunk["type"] == "tool-output-error").unwrap();
    let text = refused["errorText"].as_str().unwrap();
    assert!(text.starts_with("The arguments do not fit"), "{text}");
    assert_eq!(told.iter().filter(|chunk| chunk["output"] == Value::Null).count(), told.len());
}
