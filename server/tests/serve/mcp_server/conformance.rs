//! The conformance suite of the Model Context Protocol. It expects tools and prompts with certain names. Its tools are
//! endpoints here, as far as the product supports them; the tool that asks the user is an agent; and its prompts are prompts
//! of the user. The config has a document, so that the list of resources is not empty.

use crate::process::Server;
use crate::provider::start_calling_provider;
use reqwest::Method;
use serde_json::json;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

const CONFIG: &str = r##"
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: asking, type: OpenAICompatible, properties: { baseURL: "ASKING" } }
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo } }
  - { id: test_elicitation, type: Agent, connectionId: asking, properties: { model: m, askUser: true } }
pages: [{ id: desk, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
api:
  - id: test_simple_text
    description: Returns a text.
    payloadSchema: { type: object }
    routine: [{ ":return": This is a simple text response for testing. }]
  - id: test_error_handling
    description: Fails.
    payloadSchema: { type: object }
    routine: [{ ":throw": This tool intentionally returns an error for testing }]
  - id: test_tool_with_progress
    description: Reports its progress.
    payloadSchema: { type: object }
    routine: [{ ":status": First }, { ":status": Second }, { ":status": Third }, { ":return": Done }]
  - id: test_image_content
    description: Returns an image.
    payloadSchema: { type: object }
    routine: [{ ":return": { content: [{ type: image, data: iVBORw0KGgo=, mimeType: image/png }] } }]
  - id: test_audio_content
    description: Returns a sound.
    payloadSchema: { type: object }
    routine: [{ ":return": { content: [{ type: audio, data: UklGRg==, mimeType: audio/wav }] } }]
  - id: test_embedded_resource
    description: Returns a resource.
    payloadSchema: { type: object }
    routine:
      - ":return":
          content: [{ type: resource, resource: { uri: "test://embedded", mimeType: text/plain, text: Embedded } }]
  - id: test_multiple_content_types
    description: Returns a text, an image and a resource.
    payloadSchema: { type: object }
    routine:
      - ":return":
          content:
            - { type: text, text: "Several types:" }
            - { type: image, data: iVBORw0KGgo=, mimeType: image/png }
            - { type: resource, resource: { uri: "test://mixed", mimeType: application/json, text: "{}" } }
  - id: json_schema_2020_12_tool
    description: Tool with JSON Schema 2020-12 features
    payloadSchema:
      $schema: https://json-schema.org/draft/2020-12/schema
      type: object
      $defs: { address: { type: object, properties: { street: { type: string }, city: { type: string } } } }
      properties: { name: { type: string }, address: { $ref: "#/$defs/address" } }
      additionalProperties: false
    routine: [{ ":return": { _payload: name } }]
libraries: [{ id: handbook, documents: [{ name: pump.md, text: The pump runs at night. }] }]
prompts: {}
mcpApi:
  documents: true
  agents: [helper, test_elicitation]
  endpoints:
    - test_simple_text
    - test_error_handling
    - test_tool_with_progress
    - { endpointId: test_image_content, returnsContent: true }
    - { endpointId: test_audio_content, returnsContent: true }
    - { endpointId: test_embedded_resource, returnsContent: true }
    - { endpointId: test_multiple_content_types, returnsContent: true }
    - json_schema_2020_12_tool
"##;

/// Adds the prompts that the suite asks for.
async fn add_prompts(server: &Server) {
    let simple = "This is a simple prompt for testing.";
    let with_arguments = "Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'";
    for (name, text) in [("test_simple_prompt", simple), ("test_prompt_with_arguments", with_arguments)] {
        let body = json!({ "name": name, "description": "For the suite.", "text": text });
        let made = server.request(Method::POST, "/api/prompts").json(&body).send().await.unwrap();
        assert_eq!(made.status(), 201, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_suite_passes() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = TempDir::new().unwrap();
    let field = |key: &str, label: &str| json!({ "key": key, "label": label, "type": "text", "required": true });
    let fields = [field("username", "User's response"), field("email", "User's email address")];
    let question = json!({ "kind": "missing_info", "question": "Please provide your information", "fields": fields });
    let config = CONFIG.replace("ASKING", &start_calling_provider("ask-user", &question).await);
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    add_prompts(&server).await;
    let mut command = Command::new("node");
    command.arg(here.join("../end2end/mcp/conformance.mjs")).args(["server", "--suite", "all", "--url"]);
    command.arg(format!("{}/mcp", server.origin)).arg("--expected-failures");
    // A scenario that is listed and passes is a failure as well.
    command.arg(here.join("tests/serve/mcp_server/expected_failures.yaml")).arg("-o").arg(folder.path());
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
}
