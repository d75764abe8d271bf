//! Agents below agents, from the config to the stream: what is shown of them, and a question within that outlives the server.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::provider;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A clerk who must ask before writing, a boss who has the clerk, and a director who has the boss.
fn config(model: &str) -> TempDir {
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

async fn notes(server: &Server) -> Value {
    let asked = server.ask(reqwest::Method::POST, "/api/endpoints/demo/count").json(&json!({}));
    asked.send().await.unwrap().json().await.unwrap()
}

/// The call of the agent that is below the director, as it is stored.
async fn call_of(server: &Server, conversation: &str) -> (Value, Value) {
    let message = server.conversation(conversation).await["messages"][1].clone();
    let part = message["parts"].as_array().unwrap().iter().find(|part| part["type"] == "tool-boss").unwrap().clone();
    (message, part)
}

async fn decide(server: &Server, conversation: &str, approved: bool) -> Vec<Value> {
    let (mut message, call) = call_of(server, conversation).await;
    for part in message["parts"].as_array_mut().unwrap() {
        if part["toolCallId"] == call["toolCallId"] {
            part["state"] = "approval-responded".into();
            part["approval"] = json!({ "id": call["approval"]["id"], "approved": approved, "reason": "as I say" });
        }
    }
    let body = json!({ "id": conversation, "messages": [message] });
    let request = server.ask(reqwest::Method::POST, &format!("/api/agent/demo/director?conversationId={conversation}"));
    chunks(request.json(&body).send().await.unwrap()).await
}

fn task(of: &str) -> String {
    let inner = json!({ "task": format!("clerk {}", json!({ "task": format!("write {}", json!({ "text": of })) })) });
    format!("boss {inner}")
}

#[tokio::test]
async fn a_question_two_levels_down_outlives_the_server() {
    let folder = config(&provider().await);
    let server = start(&folder);
    let asked = chunks(server.message_to("demo/director", "c1", &task("milk")).send().await.unwrap()).await;
    assert!(asked.iter().any(|chunk| chunk["type"] == "tool-approval-request"), "{asked:?}");
    assert!(!asked.iter().any(|chunk| chunk["type"].as_str().unwrap().starts_with("data-")), "{asked:?}");
    let (message, call) = call_of(&server, "c1").await;
    let question = json!({ "toolName": "write", "input": { "text": "milk" } });
    assert_eq!((&call["state"], &call["output"]["waiting"]), (&json!("approval-requested"), &question));
    assert!(!message.to_string().contains("suspended"), "what it goes on from is the server's: {message}");
    assert_eq!(notes(&server).await, json!(0));

    drop(server);
    let server = start(&folder);
    let told = decide(&server, "c1", true).await;
    assert_eq!(notes(&server).await, json!(1));
    let shown = told.iter().rfind(|chunk| chunk["type"] == "tool-output-available").unwrap();
    assert_eq!(shown["output"]["state"], "done");
    let clerk = &shown["output"]["steps"][0]["output"];
    assert_eq!((&clerk["agentId"], &clerk["steps"][0]["state"]), (&json!("clerk"), &json!("done")));
    // The clerk has no tool of the browser, and each level reads the answer of the one below.
    let said: String =
        told.iter().filter(|chunk| chunk["type"] == "text-delta").filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert_eq!(said, "{\"written\":\"milk\"} | write | clerk | boss");
    // What each level took is known, from before the restart, too.
    let took: Value =
        server.ask(reqwest::Method::GET, "/api/conversations/c1/usage").send().await.unwrap().json().await.unwrap();
    let requests = took["requests"].as_array().unwrap().iter();
    let agents: Vec<_> = requests.map(|step| step["agentId"].as_str().unwrap()).collect();
    assert_eq!(agents, ["director", "boss", "clerk", "clerk", "boss", "director"], "{took}");
    // Once only.
    decide(&server, "c1", true).await;
    assert_eq!(notes(&server).await, json!(1));
}

#[tokio::test]
async fn a_no_is_heard_below() {
    let folder = config(&provider().await);
    let server = start(&folder);
    chunks(server.message_to("demo/director", "c1", &task("milk")).send().await.unwrap()).await;
    let told = decide(&server, "c1", false).await;
    assert_eq!(notes(&server).await, json!(0));
    let shown = told.iter().rfind(|chunk| chunk["type"] == "tool-output-available").unwrap();
    let clerk = &shown["output"]["steps"][0]["output"];
    assert_eq!((&clerk["steps"][0]["state"], &clerk["text"]), (&json!("denied"), &json!("as I say | write")));
}

#[tokio::test]
async fn a_new_message_passes_the_question_over() {
    let folder = config(&provider().await);
    let server = start(&folder);
    chunks(server.message_to("demo/director", "c1", &task("milk")).send().await.unwrap()).await;
    chunks(server.message_to("demo/director", "c1", &task("bread")).send().await.unwrap()).await;
    let (_, call) = call_of(&server, "c1").await;
    assert_eq!(call["state"], "output-denied");
    assert_eq!(notes(&server).await, json!(0));
}
