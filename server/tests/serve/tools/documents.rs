//! Attached documents, from the upload to the model's request, with the child process that reads
//! them.

use crate::http::chunks;
use crate::process::Server;
use axum::routing::post;
use axum::{Json, Router};
use documents::{Converter, FailureCode, Limits, READ_DOCUMENT};
use reqwest::Method;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use tokio::net::TcpListener;

const CHATWRIGHT: &str = env!("CARGO_BIN_EXE_chatwright");

/// Starts a provider that replies with the messages that it got.
async fn start_echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let reply = async |Json(request): Json<Value>| {
        let delta = json!({ "content": request["messages"].to_string() });
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": "stop" }]);
        let chunk = json!({ "id": "x", "object": "chat.completion.chunk", "choices": choices });
        ([("content-type", "text/event-stream")], format!("data: {chunk}\n\ndata: [DONE]\n\n"))
    };
    let router = Router::new().route("/v1/chat/completions", post(reply));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

#[tokio::test]
async fn attached_document_reaches_the_model_as_text() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("chatwright.yaml");
    let model = start_echo().await;
    let text = format!("
connections: [{{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}]
agents: [{{ id: a, type: Agent, connectionId: model, properties: {{ model: m }} }}]
pages: [{{ id: p, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: a, sender: {{ attachments: {{ enabled: true }} }} }} }}] }}]
");
    std::fs::write(&config, text).unwrap();
    let server = Server::start_with(&["--config", config.to_str().unwrap()]);
    // UTF-16, which is not text for the upload.
    let html = "\u{feff}<h1>Refunds</h1><p>Within <b>thirty</b> days.</p>";
    let bytes: Vec<u8> = html.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let upload = server.request(Method::POST, "/api/files?name=refunds.html").body(bytes).send().await.unwrap();
    assert_eq!(upload.status(), 201);
    let file: Value = upload.json().await.unwrap();
    let part =
        json!({ "type": "file", "url": file["url"], "mediaType": file["mediaType"], "filename": "refunds.html" });
    let parts = json!([{ "type": "text", "text": "How long?" }, part]);
    let message = json!({ "id": "m", "role": "user", "parts": parts });
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message] });
    let request = server.request(Method::POST, "/api/agent/p/a?conversationId=c");
    let chunks = chunks(request.json(&body).send().await.unwrap()).await;
    let reply: String = chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    let expected = r##"<file name=\"refunds.html\">\n# Refunds\n\nWithin **thirty** days.\n</file>"##;
    assert!(reply.contains(expected), "{reply}");
}

#[tokio::test]
async fn hidden_command_reads_documents_within_limits() {
    let converter = Converter::with_program(CHATWRIGHT.into(), [READ_DOCUMENT.into()], Limits::default());
    let convert = async |name: &str, bytes: &'static [u8]| converter.convert_bytes(name, None, bytes.into()).await;
    let document = convert("a.html", b"<title>A</title><p>Text</p>").await.unwrap();
    assert_eq!((document.title.as_str(), document.parts[0].text.as_str()), ("A", "Text"));
    let failure = convert("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\0").await.unwrap_err();
    assert_eq!(failure.code, FailureCode::Unsupported);
    let help = Command::new(CHATWRIGHT).arg("--help").output().unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains(READ_DOCUMENT));
    let status = Command::new(CHATWRIGHT).args([READ_DOCUMENT, "{}"]).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}
