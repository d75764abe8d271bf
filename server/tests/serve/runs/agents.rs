//! Nested sub-agents, from the config to the stream: their shown steps, and an approval request
//! that survives a restart.

use crate::http::{chunks, reply_text};
use crate::process::Server;
use crate::provider::start_provider;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Writes a config with three agents: the director delegates to the boss, the boss to the clerk,
/// and the clerk's tool needs approval.
fn write_config(model: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("chat.db").display().to_string();
    std::fs::write(folder.path().join("chatwright.yaml"), format!("
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}
  - {{ id: notes, type: Sql, properties: {{ url: 'sqlite://{store}.notes', init: 'create table if not exists notes (text)' }} }}
agents:
  - id: director
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    agents: [boss]
  - id: boss
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    agents: [{{ agentId: clerk, description: Writes notes. }}]
  - id: clerk
    type: Agent
    connectionId: model
    properties: {{ model: m, askUser: true }}
    tools: [{{ endpointId: write, confirm: true }}]
api:
  - id: write
    description: Writes a note
    payloadSchema: {{ type: object, properties: {{ text: {{ type: string }} }}, required: [text] }}
    routine:
      - {{ id: w, type: SqlExecute, connectionId: notes, properties: {{ query: 'insert into notes values (:t)', parameters: {{ t: {{ _payload: text }} }} }} }}
      - :return: {{ written: {{ _payload: text }} }}
  - id: count
    routine:
      - {{ id: n, type: SqlQuery, connectionId: notes, properties: {{ query: 'select count(*) as n from notes' }} }}
      - :return: {{ _step: n.0.n }}
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: director }} }}] }}]
store: {{ url: 'sqlite://{store}' }}
")).unwrap();
    folder
}

fn start(folder: &TempDir) -> Server {
    Server::start_with(&["--config", folder.path().to_str().unwrap()])
}

async fn count_notes(server: &Server) -> Value {
    let asked = server.request(reqwest::Method::POST, "/api/endpoints/demo/count").json(&json!({}));
    asked.send().await.unwrap().json().await.unwrap()
}

/// Returns the stored message and its part for the call of the boss.
async fn sub_agent_call(server: &Server, conversation: &str) -> (Value, Value) {
    let message = server.conversation(conversation).await["messages"][1].clone();
    let part = message["parts"].as_array().unwrap().iter().find(|part| part["type"] == "tool-boss").unwrap().clone();
    (message, part)
}

async fn decide(server: &Server, conversation: &str, approved: bool) -> Vec<Value> {
    let (mut message, call) = sub_agent_call(server, conversation).await;
    for part in message["parts"].as_array_mut().unwrap() {
        if part["toolCallId"] == call["toolCallId"] {
            part["state"] = "approval-responded".into();
            part["approval"] = json!({ "id": call["approval"]["id"], "approved": approved, "reason": "as I say" });
        }
    }
    let body = json!({ "id": conversation, "messages": [message] });
    let request =
        server.request(reqwest::Method::POST, &format!("/api/agent/demo/director?conversationId={conversation}"));
    chunks(request.json(&body).send().await.unwrap()).await
}

fn nested_task(of: &str) -> String {
    let inner = json!({ "task": format!("clerk {}", json!({ "task": format!("write {}", json!({ "text": of })) })) });
    format!("boss {inner}")
}

#[tokio::test]
async fn approval_request_of_a_nested_sub_agent_survives_a_restart() {
    let folder = write_config(&start_provider().await);
    let server = start(&folder);
    let asked = chunks(server.message_to("demo/director", "c1", &nested_task("milk")).send().await.unwrap()).await;
    assert!(asked.iter().any(|chunk| chunk["type"] == "tool-approval-request"), "{asked:?}");
    assert!(!asked.iter().any(|chunk| chunk["type"].as_str().unwrap().starts_with("data-")), "{asked:?}");
    let (message, call) = sub_agent_call(&server, "c1").await;
    let question = json!({ "toolName": "write", "input": { "text": "milk" } });
    assert_eq!((&call["state"], &call["output"]["waiting"]), (&json!("approval-requested"), &question));
    assert!(!message.to_string().contains("suspended"), "internal state is exposed: {message}");
    assert_eq!(count_notes(&server).await, json!(0));

    drop(server);
    let server = start(&folder);
    let received = decide(&server, "c1", true).await;
    assert_eq!(count_notes(&server).await, json!(1));
    let shown = received.iter().rfind(|chunk| chunk["type"] == "tool-output-available").unwrap();
    assert_eq!(shown["output"]["state"], "done");
    let clerk = &shown["output"]["steps"][0]["output"];
    assert_eq!((&clerk["agentId"], &clerk["steps"][0]["state"]), (&json!("clerk"), &json!("done")));
    // The clerk is not offered client tools, and each level reads the answer of the level below.
    assert_eq!(reply_text(&received), "{\"written\":\"milk\"} | write | clerk | boss");
    // The usage includes every level and the steps before the restart.
    let usage: Value =
        server.request(reqwest::Method::GET, "/api/conversations/c1/usage").send().await.unwrap().json().await.unwrap();
    let requests = usage["requests"].as_array().unwrap().iter();
    let agents: Vec<_> = requests.map(|step| step["agentId"].as_str().unwrap()).collect();
    assert_eq!(agents, ["director", "boss", "clerk", "clerk", "boss", "director"], "{usage}");
    // A repeated decision has no effect.
    decide(&server, "c1", true).await;
    assert_eq!(count_notes(&server).await, json!(1));
}

#[tokio::test]
async fn denial_reaches_the_nested_sub_agent() {
    let folder = write_config(&start_provider().await);
    let server = start(&folder);
    chunks(server.message_to("demo/director", "c1", &nested_task("milk")).send().await.unwrap()).await;
    let received = decide(&server, "c1", false).await;
    assert_eq!(count_notes(&server).await, json!(0));
    let shown = received.iter().rfind(|chunk| chunk["type"] == "tool-output-available").unwrap();
    let clerk = &shown["output"]["steps"][0]["output"];
    assert_eq!((&clerk["steps"][0]["state"], &clerk["text"]), (&json!("denied"), &json!("as I say | write")));
}

#[tokio::test]
async fn new_message_denies_a_pending_approval_request() {
    let folder = write_config(&start_provider().await);
    let server = start(&folder);
    chunks(server.message_to("demo/director", "c1", &nested_task("milk")).send().await.unwrap()).await;
    chunks(server.message_to("demo/director", "c1", &nested_task("bread")).send().await.unwrap()).await;
    let (_, call) = sub_agent_call(&server, "c1").await;
    assert_eq!(call["state"], "output-denied");
    assert_eq!(count_notes(&server).await, json!(0));
}
