//! An agent with MCP servers, from the config to the stream.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Writes a config with the MCP reference server from the journeys' packages, and one that does not
/// exist.
fn write_config(model: &str) -> TempDir {
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
async fn mcp_tools_are_called_and_missing_servers_are_reported() {
    let folder = write_config(&start_provider().await);
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let ask =
        async |id: &str, text: &str| chunks(server.message_to("demo/helper", id, text).send().await.unwrap()).await;
    let received = ask("c1", r#"all_echo {"message":"hi"}"#).await;
    let part = |kind: &str| received.iter().find(|chunk| chunk["type"] == kind).cloned().unwrap_or_default();
    assert_eq!(part("tool-output-available")["output"], "Echo: hi");
    let missing = json!({ "name": "nowhere", "message": "The tools of `nowhere` are not available now: it could not be started." });
    assert_eq!(part("data-source-unavailable")["data"], missing);
    let reply: String = received.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert!(reply.ends_with("Echo: hi | all_echo all_get-sum all_get-tiny-image"), "{reply}");

    let received = ask("c2", "all_get-tiny-image {}").await;
    let image = received.iter().find(|chunk| chunk["type"] == "tool-output-available").unwrap();
    assert_eq!(image["output"]["content"][1]["mimeType"], "image/png");
    // Chat Completions has no images in tool results, so the model reads a placeholder.
    let reply: String = received.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert!(reply.contains("[a file of the type image/png, which cannot be shown here]"), "{reply}");
}

#[tokio::test]
async fn invalid_arguments_are_reported_to_the_model() {
    let folder = write_config(&start_provider().await);
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let received =
        chunks(server.message_to("demo/helper", "c1", r#"all_get-sum {"a":"x"}"#).send().await.unwrap()).await;
    let refused = received.iter().find(|chunk| chunk["type"] == "tool-output-error").unwrap();
    let text = refused["errorText"].as_str().unwrap();
    assert!(text.starts_with("The arguments do not fit"), "{text}");
    assert_eq!(received.iter().filter(|chunk| chunk["output"] == Value::Null).count(), received.len());
}
