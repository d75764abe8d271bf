//! Questions of programs with the agent's tools, generated titles, and the position of a failing step
//! in the log: from the config to the effect.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use crate::runs::turn_operators::start_echo_provider;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs::File;
use tempfile::TempDir;

/// A config whose `helper` follows its prompts, and whose conversations another model names.
async fn config() -> String {
    let (model, titles) = (start_provider().await, start_echo_provider(&["/model", "/max_tokens"]).await);
    format!(
        r#"
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}
  - {{ id: titles, type: OpenAICompatible, properties: {{ baseURL: "{titles}" }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m, generateTitle: {{ model: small, connectionId: titles }} }}
    tools: [find, {{ endpointId: send, confirm: true }}, breaks]
  - id: hurried
    type: Agent
    connectionId: model
    properties: {{ model: m, limits: {{ requests: 1 }} }}
    tools: [find]
api:
  - {{ id: find, description: Finds., payloadSchema: {{ type: object }}, routine: [{{ ":return": found }}] }}
  - {{ id: send, description: Sends., payloadSchema: {{ type: object }}, routine: [{{ ":return": sent }}] }}
  - id: breaks
    description: Breaks.
    payloadSchema: {{ type: object }}
    routine:
      - :if: true
        :then:
          - {{ id: inner, type: CallEndpoint, properties: {{ endpointId: deeper }} }}
  - id: deeper
    type: InternalApi
    routine:
      - {{ id: asked, type: GenerateText, connectionId: model, properties: {{ model: m, prompt: {{ _expr: "1 / 0 + missing()" }} }} }}
pages: [{{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"#
    )
}

async fn start(log: Option<File>) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config().await).unwrap();
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let server = match log {
        Some(log) => Server::start_logging(&arguments, log),
        None => Server::start_with(&arguments),
    };
    (server, folder)
}

/// Only the tools that the program asks for are offered. A call that needs an approval is denied
/// unless the program approved the tool.
#[tokio::test]
async fn question_of_a_program_uses_the_wanted_tools() {
    let (server, _folder) = start(None).await;
    let invoke = async |prompt: &str, more: Value| {
        let mut body = json!({ "agent_name": "helper", "input": { "prompt": prompt } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = server.request(Method::POST, "/api/runs/invoke").json(&body).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        answer["output"].as_str().map_or_else(|| answer["error"].to_string(), str::to_owned)
    };
    assert_eq!(invoke("find {}", json!({ "tools": true })).await, "found | find send breaks");
    assert_eq!(invoke("find {}", json!({ "tools": ["find"] })).await, "found | find");
    let denied = invoke("send {}", json!({ "tools": true })).await;
    assert!(denied.starts_with("Not run: it needs the user's approval"), "{denied}");
    assert_eq!(invoke("send {}", json!({ "tools": ["send"], "approved_tools": ["send"] })).await, "sent | send");
    let limited = invoke("find {}", json!({ "agent_name": "hurried", "tools": true })).await;
    assert_eq!(limited, "\"The agent reached its limit of model requests for one answer.\"");
    let refused = invoke("find {}", json!({ "tools": ["nowhere"] })).await;
    assert!(refused.contains("The agent has no tool `nowhere`"), "{refused}");
}

#[tokio::test]
async fn conversation_is_named_by_the_model_of_the_config() {
    let (server, _folder) = start(None).await;
    let answer = chunks(server.message_to("desk/helper", "c1", "say hello").send().await.unwrap()).await;
    let title = answer.iter().find(|chunk| chunk["type"] == "data-chat-title");
    assert_eq!(title.map(|title| &title["data"]["title"]), Some(&json!(r#"["small",400]"#)));
    assert_eq!(server.conversation("c1").await["title"], r#"["small",400]"#);
}

/// A client may begin a conversation with earlier messages; what cannot be kept is named.
#[tokio::test]
async fn conversation_begins_with_the_messages_of_the_client() {
    let (server, _folder) = start(None).await;
    let send = async |conversation: &str, earlier: Value| {
        let newest = json!({ "id": "new", "role": "user", "parts": [{ "type": "text", "text": "say hello" }] });
        let mut messages = earlier.as_array().unwrap().clone();
        messages.push(newest);
        let path = format!("/api/agent/desk/helper?conversationId={conversation}");
        server.request(Method::POST, &path).json(&json!({ "messages": messages })).send().await.unwrap()
    };
    let call = json!({ "type": "tool-find", "toolCallId": "c", "state": "output-available", "input": {}, "output": 1 });
    let earlier = json!([
        { "id": "own-1", "role": "user", "parts": [{ "type": "text", "text": "Find it" }] },
        { "id": "own-2", "role": "assistant", "parts": [call, { "type": "text", "text": "Found." }] },
    ]);
    chunks(send("c1", earlier).await).await;
    let kept = server.conversation("c1").await;
    let ids: Vec<_> = kept["messages"].as_array().unwrap().iter().map(|message| &message["id"]).collect();
    assert_eq!(ids[..3], [&json!("own-1"), &json!("own-2"), &json!("new")]);
    assert_eq!(kept["messages"][1]["parts"][0]["type"], "tool-find");
    let refused = async |earlier: Value, path: &str| {
        let answer: Value = send("c2", earlier).await.json().await.unwrap();
        assert_eq!((&answer["error"]["code"], &answer["error"]["path"]), (&json!("invalid"), &json!(path)));
    };
    refused(json!([{ "id": "a b", "role": "user", "parts": [] }]), "/messages/0/id").await;
    refused(json!([{ "id": "a", "role": "robot", "parts": [] }]), "/messages/0").await;
    // In a conversation that the server has, they do not matter.
    let unread = json!([{ "id": "a", "role": "robot", "parts": [] }]);
    assert!(send("c1", unread).await.status().is_success());
}

/// The operator finds the failing step in the config; the model reads no position.
#[tokio::test]
async fn failing_step_is_logged_with_its_position() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("log");
    let (server, _folder) = start(Some(File::create(&log).unwrap())).await;
    let answer = chunks(server.message_to("desk/helper", "c1", "breaks {}").send().await.unwrap()).await;
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("chatwright.yaml:29:9"), "{text}");
    assert!(!format!("{answer:?}").contains("chatwright.yaml"));
}

/// The operator reads the value of the limit; the program reads which one it was.
#[tokio::test]
async fn limit_of_a_question_is_logged_with_its_value() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("log");
    let (server, _folder) = start(Some(File::create(&log).unwrap())).await;
    let body = json!({ "agent_name": "hurried", "input": { "prompt": "find {}" }, "tools": true });
    let answer = server.request(Method::POST, "/api/runs/invoke").json(&body).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["reason"], "requests", "{answer}");
    let mut text = String::new();
    for _ in 0..600 {
        text = std::fs::read_to_string(&log).unwrap();
        if text.contains("limits.requests: 1") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(text.contains("an invocation failed") && text.contains("limits.requests: 1"), "{text}");
    assert!(!answer.to_string().contains("limits.requests"), "{answer}");
}
