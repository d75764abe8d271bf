//! Questions of MCP servers to the user of a running call, from the config to the answer.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Writes a config with the MCP reference server from the journeys' packages.
fn write_config(model: &str, more: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let package =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/node_modules/@modelcontextprotocol/server-everything");
    let config = format!(
        "
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}
  - {{ id: everything, type: Mcp, properties: {{ command: node, args: ['{package}/dist/index.js', stdio]{more} }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    mcp: [{{ connectionId: everything, timeoutMs: 5000 }}]
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    folder
}

/// A stream that is read chunk by chunk.
pub(super) struct Reader {
    response: Response,
    /// The bytes that were received and not read, which may end within a character.
    received: Vec<u8>,
    /// Everything that was read.
    pub(super) seen: String,
}

impl Reader {
    /// Returns the next data part with a question, or `None` at the end of the stream.
    pub(super) async fn question(&mut self) -> Option<Value> {
        loop {
            while let Some(end) = self.received.windows(2).position(|pair| pair == b"\n\n") {
                let event = String::from_utf8(self.received.drain(..end + 2).collect()).unwrap();
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default();
                let chunk: Value = serde_json::from_str(data).unwrap_or_default();
                self.seen.push_str(&event);
                if chunk["type"] == "data-tool-question" {
                    return Some(chunk["data"].clone());
                }
            }
            let more = self.response.chunk().await.unwrap()?;
            self.received.extend_from_slice(&more);
        }
    }
}

pub(super) async fn ask(server: &Server, conversation: &str, text: &str) -> Reader {
    let message =
        json!({ "id": format!("m-{conversation}"), "role": "user", "parts": [{ "type": "text", "text": text }] });
    // A client that names the chat shows what its tools ask.
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message], "blockId": "chat" });
    let path = format!("/api/agent/demo/helper?conversationId={conversation}");
    let response = server.request(Method::POST, &path).json(&body).send().await.unwrap();
    Reader { response, received: Vec::new(), seen: String::new() }
}

pub(super) async fn answer(server: &Server, id: &Value, body: Value) -> (u16, Value) {
    let path = format!("/api/tool-questions/{}", id.as_str().unwrap());
    let response = server.request(Method::POST, &path).json(&body).send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
}

/// Returns the parts of a type of the newest message.
async fn parts(server: &Server, conversation: &str, kind: &str) -> Vec<Value> {
    let view = server.conversation(conversation).await;
    let last = view["messages"].as_array().unwrap().last().unwrap().clone();
    last["parts"].as_array().unwrap().iter().filter(|part| part["type"] == kind).cloned().collect()
}

const FORM: &str = "trigger-elicitation-request {}";

#[tokio::test]
async fn a_running_tool_asks_the_user() {
    let folder = write_config(&start_provider().await, "");
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let mut stream = ask(&server, "c1", FORM).await;
    let question = stream.question().await.unwrap();
    assert_eq!((&question["server"], &question["outcome"]), (&json!("everything"), &Value::Null));
    assert_eq!(question["form"]["properties"]["check"]["type"], "boolean");
    let id = &question["id"];
    // Longer than the tool's own time, which stands still.
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;

    let accept = |content: Value| json!({ "action": "accept", "content": content });
    let (status, error) = answer(&server, id, accept(json!({ "name": "Ada", "integer": "many" }))).await;
    assert_eq!((status, &error["error"]["path"]), (422, &json!("/content/integer")), "{error}");
    let (status, error) = answer(&server, id, accept(json!({ "name": "Ada", "password": "x" }))).await;
    assert_eq!((status, &error["error"]["path"]), (422, &json!("/content/password")), "{error}");
    assert_eq!(answer(&server, &json!("none"), accept(json!({}))).await.0, 404);
    let values = json!({ "name": "Ada Lovelace", "check": true, "integer": 7 });
    assert_eq!(answer(&server, id, accept(values)).await.0, 204);
    assert_eq!(answer(&server, id, accept(json!({}))).await.0, 404, "it was answered");

    // The conversation keeps how it has ended, and neither the values nor the form.
    let ended = stream.question().await.unwrap();
    assert_eq!((&ended["id"], &ended["outcome"], &ended["form"]), (id, &json!("accepted"), &Value::Null));
    assert_eq!(stream.question().await, None);
    let called = parts(&server, "c1", "tool-trigger-elicitation-request").await;
    assert!(called[0]["output"].to_string().contains("Ada Lovelace"), "{called:?}");
    assert_eq!(parts(&server, "c1", "data-tool-question").await.len(), 1);
}

#[tokio::test]
async fn the_user_declines_or_opens_a_page() {
    let folder = write_config(&start_provider().await, "");
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let check = async |conversation: &str, text: &str, action: &str, expected: (&str, &str)| {
        let mut stream = ask(&server, conversation, text).await;
        let question = stream.question().await.unwrap();
        assert_eq!(answer(&server, &question["id"], json!({ "action": action })).await.0, 204);
        assert_eq!(stream.question().await.unwrap()["outcome"], expected.0, "{text}");
        assert_eq!(stream.question().await, None);
        let message = server.conversation(conversation).await["messages"].to_string();
        assert!(message.contains(expected.1), "{text}: {message}");
        question
    };
    check("c1", FORM, "decline", ("declined", "declined")).await;
    check("c2", FORM, "cancel", ("cancelled", "cancel")).await;
    let page = r#"trigger-url-elicitation {"url":"https://id.example.com/sign-in?a=1"}"#;
    let question = check("c3", page, "accept", ("accepted", "accept")).await;
    assert_eq!((&question["url"], &question["form"]), (&json!("https://id.example.com/sign-in?a=1"), &Value::Null));
    assert_eq!(question["host"], "id.example.com");
}

#[tokio::test]
async fn nobody_is_asked_outside_of_pages_or_against_the_config() {
    let folder = write_config(&start_provider().await, "");
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let run = json!({ "agent_name": "helper", "input": { "prompt": FORM }, "tools": true });
    let answer = server.request(Method::POST, "/api/runs/invoke").json(&run).send().await.unwrap();
    let text = answer.text().await.unwrap();
    assert!(text.contains("nobody can be asked here"), "{text}");
    // A client of the API that does not say that it shows questions.
    let received = chunks(server.message_to("demo/helper", "c1", FORM).send().await.unwrap()).await;
    let output = received.iter().find(|chunk| chunk["type"] == "tool-output-available").unwrap();
    assert!(output["output"].to_string().contains("nobody can be asked here"), "{output}");
    drop(server);

    let folder = write_config(&start_provider().await, ", elicitation: false");
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let mut stream = ask(&server, "c1", FORM).await;
    assert_eq!(stream.question().await, None, "the server does not even offer the tool");
}

/// The call is lost with its server, and so is its question.
#[tokio::test]
async fn a_question_ends_with_its_server() {
    let folder = write_config(&start_provider().await, "");
    let database = format!("sqlite://{}", folder.path().join("data.db").display());
    let config = folder.path().to_str().unwrap().to_owned();
    let start = || Server::start_with(&["--config", &config, "--database", &database]);
    let mut server = start();
    let mut stream = ask(&server, "c1", FORM).await;
    let question = stream.question().await.unwrap();
    server.kill();
    let server = start();
    let called = parts(&server, "c1", "tool-trigger-elicitation-request").await;
    // The user decides whether it runs again.
    assert_eq!(called[0]["state"], "approval-requested", "{called:?}");
    let accept = json!({ "action": "accept", "content": { "name": "Ada" } });
    assert_eq!(answer(&server, &question["id"], accept).await.0, 404, "no call waits for it");
}
