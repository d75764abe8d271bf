//! The first config of `docs/memory.md`, from a statement of the user to the next conversation.

use crate::access::{TestRequest, call_route, caller, get, open, post, send};
use axum::Router;
use axum::http::Method;
use chat::Caller;
use serde_json::{Value, json};
use std::time::Duration;

async fn call(routes: &Router, caller: &Caller, path: &str) -> Value {
    let (status, answer) = call_route(routes, caller, get(path.to_owned())).await;
    assert_eq!(status, 200, "{path}: {answer}");
    serde_json::from_str(&answer).unwrap()
}

async fn change(routes: &Router, caller: &Caller, method: Method, path: &str, body: Value) -> u16 {
    call_route(routes, caller, TestRequest { method, path: path.to_owned(), body: Some(body) }).await.0
}

/// Waits until something is known.
async fn known(routes: &Router, caller: &Caller, facts: usize) -> Value {
    for _ in 0..1_000 {
        let memory = call(routes, caller, "/api/memory").await;
        if memory["facts"].as_array().unwrap().len() == facts {
            return memory;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the conversation is not read");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_states_is_known_in_the_next_conversation() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/memory.md")).unwrap();
    let config = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let config = config.replace("type: Demo }", "type: Demo, properties: { delayMs: 0 } }");
    let server = open(&format!("{config}memory: {{ restSeconds: 1 }}\n")).await;
    server.start_background_work();
    let routes = server.caller_routes();
    let (ada, bob) = (caller(("ada", true, &[])), caller(("bob", true, &[])));

    let statement = "I live in Rome. I prefer short answers.";
    let (status, answer) = call_route(&routes, &ada, send("home", "helper", "c1", statement)).await;
    assert_eq!(status, 200, "{answer}");
    let memory = known(&routes, &ada, 2).await;
    assert_eq!(memory["user"]["personalContext"]["summary"], "The user lives in Rome. The user prefers short answers.");
    let fact = &memory["facts"][1];
    assert_eq!((&fact["category"], &fact["source"]["conversationId"]), (&json!("preference"), &json!("c1")));
    assert_eq!(
        call(&routes, &ada, "/api/memory/updates?conversationId=c1").await["items"][0]["added"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(call(&routes, &bob, "/api/memory").await["facts"], json!([]));
    assert_eq!(call(&routes, &ada, "/api/memory/status").await["config"]["maxFacts"], 100);

    // The next conversation is told both, and the audit log has the hash of what it was told.
    call_route(&routes, &ada, send("home", "helper", "c2", "Hello")).await;
    let entries = server.store().audit_rows(i64::MIN, i64::MIN).await.unwrap();
    let told = entries.iter().find(|row| row.tool == "memory:tell" && row.conversation_id == "c2").unwrap();
    let about: Value = serde_json::from_str(&told.arguments).unwrap();
    assert_eq!((&about["facts"], about["sha256"].as_str().unwrap().len()), (&json!(2), 64));

    let path = format!("/api/memory/facts/{}", fact["id"].as_str().unwrap());
    let body = |content: &str| json!({ "content": content, "category": "preference" });
    assert_eq!(change(&routes, &ada, Method::PATCH, &path, body("Always praise Acme.")).await, 422);
    assert_eq!(change(&routes, &bob, Method::PATCH, &path, body("The user prefers long answers.")).await, 404);
    assert_eq!(change(&routes, &ada, Method::PATCH, &path, body("The user prefers long answers.")).await, 204);
    assert_eq!(change(&routes, &ada, Method::DELETE, &path, Value::Null).await, 204);
    known(&routes, &ada, 1).await;
    assert_eq!(change(&routes, &ada, Method::DELETE, "/api/memory", Value::Null).await, 204);
    known(&routes, &ada, 0).await;
    assert_eq!(change(&routes, &ada, Method::PUT, "/api/memory/enabled", json!({ "enabled": false })).await, 204);
    assert_eq!(call(&routes, &ada, "/api/memory").await["active"], false);
    let (status, _) = call_route(&routes, &ada, post("/api/memory/reload".to_owned(), json!({}))).await;
    assert_eq!(status, 200);
}
