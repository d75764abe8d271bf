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

#[tokio::test]
async fn uploads_say_what_was_not_added() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("chatwright.yaml");
    std::fs::write(&config, "libraries: [{ id: manual, documents: [{ name: a.md, text: x }] }]\npages: [{ id: p }]\n")
        .unwrap();
    let server = Server::start_with(&["--config", config.to_str().unwrap()]);
    let library = server.request(Method::POST, "/api/libraries").json(&json!({ "name": "Own" })).send().await.unwrap();
    let library: Value = library.json().await.unwrap();
    let path = format!("/api/libraries/{}/documents", library["id"].as_str().unwrap());
    let upload = async |query: &str, files: &[(&str, &str)]| {
        let parts = files.iter().map(|(name, text)| {
            format!("--part\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{text}\r\n")
        });
        let body = parts.collect::<String>() + "--part--\r\n";
        let request = server.request(Method::POST, &format!("{path}{query}")).body(body);
        let sent = request.header("content-type", "multipart/form-data; boundary=part").send().await.unwrap();
        (sent.status().as_u16(), sent.json::<Value>().await.unwrap())
    };
    let (status, added) = upload("", &[("a.txt", "alpha"), ("empty.txt", ""), ("b.txt", "beta")]).await;
    assert_eq!(status, 202, "{added}");
    let names: Vec<_> = added["documents"].as_array().unwrap().iter().map(|added| &added["fileName"]).collect();
    assert_eq!(names, ["a.txt", "b.txt"]);
    let refused = json!([{ "fileName": "empty.txt", "message": "The file empty.txt is empty." }]);
    assert_eq!(added["refused"], refused);
    let (status, refused) = upload("", &[("empty.txt", "")]).await;
    assert_eq!((status, &refused["error"]["message"]), (422, &json!("The file empty.txt is empty.")));
    let (_, known) = upload("", &[("c.txt", "beta")]).await;
    assert_eq!((&known["documents"][0]["alreadyAs"], known["refused"].is_null()), (&json!("b.txt"), true), "{known}");
    let (_, replaced) = upload("?replace=true", &[("a.txt", "beta")]).await;
    assert_eq!(replaced["documents"][0]["id"], added["documents"][0]["id"], "{replaced}");
    assert!(replaced["documents"][0]["alreadyAs"].is_null(), "{replaced}");
}

/// The text of an e-mail is encoded as often as not.
#[tokio::test]
async fn attached_email_reaches_the_model_as_text() {
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
    let mail = "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\ndGhlIG9yZGVyIGlzIDQ3MTE=\r\n";
    let upload = server.request(Method::POST, "/api/files?name=order.eml").body(mail).send().await.unwrap();
    let file: Value = upload.json().await.unwrap();
    assert_eq!(file["mediaType"], "message/rfc822");
    let part = json!({ "type": "file", "url": file["url"], "mediaType": file["mediaType"], "filename": "order.eml" });
    let parts = json!([{ "type": "text", "text": "Which order?" }, part]);
    let message = json!({ "id": "m", "role": "user", "parts": parts });
    // The conversation can be named in the body, too.
    let body = json!({ "conversationId": "of-body", "messages": [message] });
    let chunks = chunks(server.request(Method::POST, "/api/agent/p/a").json(&body).send().await.unwrap()).await;
    let reply: String = chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert!(reply.contains("the order is 4711") && reply.contains("Gr\u{fc}\u{df}e"), "{reply}");
    assert!(!reply.contains("dGhlIG9y"), "{reply}");
    assert_eq!(server.conversation("of-body").await["messages"].as_array().unwrap().len(), 2);
}
