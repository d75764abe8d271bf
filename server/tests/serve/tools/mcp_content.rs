//! Resources and prompts of an MCP server, from the config to the answer.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use reqwest::Method;
use serde_json::Value;
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[tokio::test]
async fn an_agent_reads_resources_and_the_composer_has_prompts() {
    let folder = TempDir::new().unwrap();
    let package =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/node_modules/@modelcontextprotocol/server-everything");
    let model = start_provider().await;
    let config = format!(
        "
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}
  - id: everything
    type: Mcp
    properties: {{ command: node, args: ['{package}/dist/index.js', stdio], resources: true, prompts: true }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    mcp: [{{ connectionId: everything, allow: [echo], prefix: all_ }}]
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);

    let ask = async |id: &str, text: &str| {
        let received = chunks(server.message_to("demo/helper", id, text).send().await.unwrap()).await;
        let output = received.iter().find(|chunk| chunk["type"] == "tool-output-available").cloned();
        output.map_or_else(|| panic!("{received:?}"), |chunk| chunk["output"].clone())
    };
    let listed = ask("c1", "all_list_resources {}").await;
    assert!(listed["resources"].to_string().contains("features.md"), "{listed}");
    let read = ask("c2", r#"all_read_resource {"uri":"demo://resource/dynamic/text/3"}"#).await;
    assert!(read.as_str().unwrap().contains("Resource 3"), "{read}");
    let prompt = ask("c3", r#"all_get_prompt {"name":"all_args-prompt","arguments":{"city":"Oslo"}}"#).await;
    assert_eq!(prompt, Value::from("What's weather in Oslo?"));
    // The model's description of the prompts.
    let received = chunks(server.message_to("demo/helper", "c4", "instructions").send().await.unwrap()).await;
    let told: String = received.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert!(told.contains("- /all_args-prompt(city, state?): "), "{told}");

    // The composer gets the commands once the server has listed its prompts in the background.
    let begin = Instant::now();
    loop {
        let page = server.request(Method::GET, "/demo").send().await.unwrap().text().await.unwrap();
        if page.contains("/all_args-prompt") {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{page}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
