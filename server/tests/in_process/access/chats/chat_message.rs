//! The routes for clients of the Busibox agent service.

use crate::access::{call_route, caller, get, open, post};
use axum::Router;
use serde_json::{Value, json};

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
api: [{ id: search, description: Search the knowledge base, payloadSchema: { type: object, properties: { query: { type: string } } }, routine: [{ ':return': [] }] }]
agents:
  - id: helper
    type: Agent
    preset: chat
    connectionId: demo
    tools: [{ endpointId: search, name: search_knowledge_base }]
    properties:
      model: demo
      activeTools: { _if: { test: { _payload: switches.documents }, then: [search_knowledge_base], else: [] } }
  - { id: editor, type: Agent, connectionId: demo, properties: { model: demo }, auth: { roles: [editor] } }
pages: [{ id: home }]
chatMessage: { agentId: helper, maxCharacters: 100 }
";

async fn routes() -> Router {
    open(CONFIG).await.caller_routes()
}

async fn send(routes: &Router, user: &str, body: Value) -> (u16, Value) {
    let (status, answer) = call_route(routes, &caller((user, true, &[])), post("/chat/message".to_owned(), body)).await;
    (status, serde_json::from_str(&answer).unwrap_or(Value::Null))
}

/// Returns the names of the events, each once in a row.
async fn events(routes: &Router, body: Value) -> Vec<String> {
    let request = post("/chat/message/stream".to_owned(), body);
    let (status, answer) = call_route(routes, &caller(("ada", true, &[])), request).await;
    assert_eq!(status, 200, "{answer}");
    let mut names: Vec<_> = answer.lines().filter_map(|line| line.strip_prefix("event: ")).map(str::to_owned).collect();
    names.dedup();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_answered_in_conversations() {
    let routes = routes().await;
    let (status, first) = send(&routes, "ada", json!({ "content": "Hello" })).await;
    assert_eq!(status, 200, "{first}");
    assert!(!first["content"].as_str().unwrap().is_empty() && first["model"] == "demo/demo", "{first}");
    let conversation = first["conversation_id"].as_str().unwrap();
    let again = json!({ "message": "Hello again", "conversationId": conversation, "model": first["model"] });
    let (status, second) = send(&routes, "ada", again.clone()).await;
    assert_eq!((status, &second["conversation_id"]), (200, &first["conversation_id"]), "{second}");
    let path = format!("/api/conversations/{conversation}");
    let (_, view) = call_route(&routes, &caller(("ada", true, &[])), get(path)).await;
    let view: Value = serde_json::from_str(&view).unwrap();
    assert_eq!(view["messages"].as_array().unwrap().len(), 4, "{view}");
    // Another user's conversation, an unknown one, and an agent that the user may not use.
    assert_eq!(send(&routes, "bob", again).await.0, 404);
    assert_eq!(send(&routes, "ada", json!({ "message": "Hi", "conversation_id": "nothing" })).await.0, 404);
    assert_eq!(send(&routes, "ada", json!({ "message": "Hi", "selected_agents": ["editor"] })).await.0, 404);
    assert_eq!(send(&routes, "ada", json!({ "message": "Hi", "attachment_ids": ["nothing"] })).await.0, 404);
    assert_eq!(send(&routes, "ada", json!({ "message": "x".repeat(101) })).await.0, 413);
    assert_eq!(send(&routes, "ada", json!({ "message": "Hi", "model": "other" })).await.0, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn toggles_decide_which_tools_are_offered() {
    let routes = routes().await;
    let question = "Search for refunds";
    for is_on in [true, false] {
        let names = events(&routes, json!({ "content": question, "enableDocumentSearch": is_on })).await;
        assert_eq!(names[..3], ["conversation_created", "model_selected", "routing_decision"], "{names:?}");
        assert_eq!(names.last().map(String::as_str), Some("message_complete"), "{names:?}");
        assert!(names.iter().any(|name| name == "content_chunk"), "{names:?}");
        for event in ["tool_start", "tool_result"] {
            assert_eq!(names.iter().any(|name| name == event), is_on, "{event}: {names:?}");
        }
    }
}
