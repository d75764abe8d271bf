//! An agent that decides for each message how it answers, for clients of the Busibox agent service.

use crate::access::{call_route, caller, open, post};
use axum::Router;
use serde_json::{Value, json};

const CONFIG: &str = "
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: search, type: SearXNG, properties: { url: 'https://search.example.com' } }
libraries: [{ id: house, documents: [{ name: rules.md, text: The door is locked at ten. }] }]
agents:
  - id: assistant
    type: Agent
    preset: dispatcher
    connectionId: demo
    properties: { model: demo }
    knowledge: { libraries: [house], documents: optIn }
    webSearch: { connections: [search] }
    web: optIn
pages: [{ id: home }]
chatMessage: { agentId: assistant }
";

async fn routes() -> Router {
    open(CONFIG).await.caller_routes()
}

/// Returns the decisions that the stream shows.
async fn decisions(routes: &Router, body: Value) -> Vec<Value> {
    let request = post("/chat/message/stream".to_owned(), body);
    let (status, answer) = call_route(routes, &caller(("ada", true, &[])), request).await;
    assert_eq!(status, 200, "{answer}");
    let events = answer.split("\n\n").filter_map(|event| event.strip_prefix("event: routing_decision\ndata: "));
    events.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// The demo model takes the first way that is possible.
#[tokio::test(flavor = "multi_thread")]
async fn toggles_say_what_is_possible_and_the_model_decides_among_that() {
    let routes = routes().await;
    let check = async |documents: bool, web: bool, route: &str, alternatives: &[&str]| {
        let body = json!({ "content": "Hello", "enableDocumentSearch": documents, "enableWebSearch": web });
        let decisions = decisions(&routes, body).await;
        assert_eq!(decisions.len(), 1, "{decisions:?}");
        let decision = &decisions[0];
        assert_eq!(decision["selected_agents"], json!([route]), "{decision}");
        assert_eq!((decision["confidence"].as_f64(), &decision["alternatives"]), (Some(1.0), &json!(alternatives)));
        assert!(!decision["reasoning"].as_str().unwrap().is_empty());
    };
    check(false, false, "chat", &[]).await;
    check(true, false, "rag-search", &["chat"]).await;
    check(false, true, "web-search", &["chat"]).await;
    check(true, true, "rag-search", &["web-search", "chat"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_decision_is_part_of_the_answer() {
    let routes = routes().await;
    let request = post("/chat/message".to_owned(), json!({ "content": "Hello", "enableDocumentSearch": true }));
    let (status, answer) = call_route(&routes, &caller(("ada", true, &[])), request).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((status, &answer["routing_decision"]["selected_agents"]), (200, &json!(["rag-search"])), "{answer}");
}
