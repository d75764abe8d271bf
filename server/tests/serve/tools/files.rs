//! An agent with a `fileSystem`, from its config to the stream.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Writes a config beside a file that must not be read.
fn write_config(model: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write("app/docs/guides/setup.md", "Turn it on.\nWait.\n");
    write("app/docs/README.md", "Start with the guides.\n");
    write("secret.txt", "canary");
    write("app/chatwright.yaml", &format!("
connections: [{{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}]
agents: [{{ id: reader, type: Agent, connectionId: model, properties: {{ model: m, fileSystem: {{ basePath: docs }} }} }}]
pages: [{{ id: help, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: reader }} }}] }}]
"));
    folder
}

#[tokio::test]
async fn agent_reads_only_files_below_its_base_path() {
    let folder = write_config(&start_provider().await);
    let server = Server::start_with(&["--config", folder.path().join("app").to_str().unwrap()]);
    let check = async |id: &str, asked: &str, answer: Result<Value, &str>| {
        let message = json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": asked }] });
        let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message] });
        let request = server.request(Method::POST, &format!("/api/agent/help/reader?conversationId={id}"));
        let chunks = chunks(request.json(&body).send().await.unwrap()).await;
        let part = |kind: &str| chunks.iter().find(|chunk| chunk["type"] == kind);
        let (output, error) = (part("tool-output-available"), part("tool-output-error"));
        let expected = match &answer {
            Ok(output) => output.as_str().map_or_else(|| output.to_string(), str::to_owned),
            Err(error) => (*error).to_owned(),
        };
        assert_eq!(output.map(|chunk| chunk["output"].clone()), answer.clone().ok(), "{asked}");
        assert_eq!(error.and_then(|chunk| chunk["errorText"].as_str()), answer.err(), "{asked}");
        let reply: String = chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
        assert!(!reply.contains("canary"));
        assert!(
            reply.contains(&expected) && reply.ends_with("| read-file list-files search-files stat-file"),
            "{reply}"
        );
    };
    check("c1", r#"read-file {"path":"guides/setup.md"}"#, Ok(json!("Turn it on.\nWait.\n"))).await;
    let listed = json!([
        { "name": "README.md", "path": "README.md", "type": "file", "size": 23 },
        { "name": "setup.md", "path": "guides/setup.md", "type": "file", "size": 18 },
    ]);
    check("c2", r#"list-files {"glob":"**/*.md"}"#, Ok(listed)).await;
    let context = json!({ "before": "Turn it on.", "after": null });
    let found =
        json!([{ "path": "guides/setup.md", "matches": [{ "lineNumber": 2, "line": "Wait.", "context": context }] }]);
    check("c3", r#"search-files {"query":"wait"}"#, Ok(found)).await;
    let outside = "Path \"../../secret.txt\" resolves outside the base directory.";
    check("c4", r#"read-file {"path":"../../secret.txt"}"#, Err(outside)).await;
}
