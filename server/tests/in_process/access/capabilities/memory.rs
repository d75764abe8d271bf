//! The first config of `docs/memory.md`, from a statement of the user to the next conversation.

use crate::access::{TestRequest, call_route, caller, get, message, open, post, send};
use auth::password::KeyScope;
use auth::{AuthMethod, Credentials};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use chat::{Caller, TextOrigin};
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;
use web::RequestContext;

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
async fn stated_facts_are_known_in_the_next_conversation() {
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

const ORIGINS: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
memory: { restSeconds: 1 }
agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: demo }, memory: true }]
pages: [{ id: p, blocks: [{ id: chat, type: AgentChat, properties: { agentId: a } }] }]
openaiApi: {}
agUi: {}
a2a: { agents: [a] }
chatMessage: { agentId: a, pageId: p }
";

/// Sends a request whose caller was identified in a way; returns the whole response.
async fn send_by(routes: &Router, auth_method: AuthMethod, path: &str, body: Value) -> String {
    let request = Request::post(path).header(header::HOST, "127.0.0.1").extension(caller(("ada", true, &[])));
    let request = request.header(header::CONTENT_TYPE, "application/json").header("a2a-version", "1.0");
    let request = request.header(header::ACCEPT, "application/json, text/event-stream");
    let mut request = request.body(Body::from(body.to_string())).unwrap();
    let credentials = Credentials::from_request(&request);
    request.extensions_mut().insert(web::Origin("http://127.0.0.1".to_owned()));
    request.extensions_mut().insert(RequestContext {
        credentials,
        auth_method,
        is_https: false,
        address: None,
        audit_address: None,
        has_sign_in: false,
    });
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    assert!(status.is_success(), "{path}: {status} {body}");
    body
}

/// Every way by which a text gets into a conversation in a user's name, or to an agent.
#[tokio::test(flavor = "multi_thread")]
async fn only_text_that_the_user_has_written_is_remembered() {
    let server = open(ORIGINS).await;
    server.start_background_work();
    let routes = server.caller_routes();
    let ada = caller(("ada", true, &[]));
    let key = || AuthMethod::Key(KeyScope::ALL.to_vec());
    let says = |text: &str, metadata: Value| {
        let mut message = message(text);
        message["metadata"] = metadata;
        json!({ "id": "chat", "trigger": "submit-message", "messages": [message] })
    };
    let agent = |id: &str| format!("/api/agent/p/a?conversationId={id}");

    send_by(&routes, AuthMethod::Primary, &agent("typed"), says("I live in Rome.", Value::Null)).await;
    let typed = json!({ "textOrigin": "user" });
    send_by(&routes, key(), &agent("passed-on"), says("I work at Acme.", typed)).await;
    let page = json!({ "textOrigin": "page" });
    send_by(&routes, AuthMethod::Primary, &agent("page"), says("I like page.", page)).await;
    send_by(&routes, key(), &agent("key"), says("I like keys.", Value::Null)).await;
    let mut history = says("Hello.", Value::Null);
    history["messages"].as_array_mut().unwrap().insert(0, message("I like history."));
    send_by(&routes, AuthMethod::Primary, &agent("history"), history).await;
    let mut state = says("Hello.", Value::Null);
    state["sharedState"] = json!({ "note": "I like pages." });
    send_by(&routes, AuthMethod::Primary, &agent("state"), state).await;
    let invoke = json!({ "agent_name": "a", "input": { "prompt": "I like invocations." } });
    send_by(&routes, AuthMethod::Primary, "/api/runs/invoke", invoke).await;
    let several = json!([
        { "role": "user", "content": "I like completions." },
        { "role": "assistant", "content": "I see." },
        { "role": "user", "content": "I like OpenAI." },
    ]);
    let completion = json!({ "model": "a", "messages": several });
    send_by(&routes, AuthMethod::Primary, "/v1/chat/completions", completion).await;
    let response = json!({ "model": "a", "input": "I like responses." });
    send_by(&routes, AuthMethod::Primary, "/v1/responses", response).await;
    let ag_ui = json!({
        "threadId": "ag-ui", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": "ag-ui-1", "role": "user", "content": "I like AG-UI." }],
    });
    send_by(&routes, key(), "/ag-ui/a", ag_ui).await;
    send_by(&routes, key(), "/chat/message", json!({ "message": "I like Busibox." })).await;
    let parts = json!([{ "text": "I like A2A." }]);
    let a2a = json!({ "messageId": "a2a-1", "role": "ROLE_USER", "parts": parts });
    let a2a = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": a2a } });
    let answer = send_by(&routes, AuthMethod::Primary, "/a2a/a", a2a).await;
    assert!(!answer.contains("\"error\""), "{answer}");

    let memory = known(&routes, &ada, 2).await;
    let facts = |memory: &Value| {
        let facts = memory["facts"].as_array().unwrap().iter();
        let mut facts: Vec<_> = facts.map(|fact| fact["content"].as_str().unwrap().to_owned()).collect();
        facts.sort();
        facts
    };
    let expected = ["The user lives in Rome.", "The user works at Acme."];
    assert_eq!(facts(&memory), expected);
    // Everything else was read by then, or is not read at all.
    for _ in 0..1_000 {
        let open = store::sql::query_scalar::<i64>(
            "SELECT count(*) FROM jobs WHERE kind = 'memory.extract' AND state IN ('waiting', 'running')",
        );
        let open = server.store().read(move |db| Box::pin(async move { Ok(open.fetch_one(db).await?) })).await.unwrap();
        if open == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(facts(&call(&routes, &ada, "/api/memory").await), expected);
    // The texts did arrive, with what is known of their origins.
    let origin = async |id: &str| {
        let view = call(&routes, &ada, &format!("/api/conversations/{id}")).await;
        TextOrigin::from_message(&serde_json::from_value(view["messages"][0].clone()).unwrap())
    };
    assert_eq!(origin("typed").await, TextOrigin::User);
    assert_eq!(origin("page").await, TextOrigin::Page);
    assert_eq!(origin("key").await, TextOrigin::Program);
    assert_eq!(origin("ag-ui").await, TextOrigin::Program);
    let list = call(&routes, &ada, "/api/conversations").await;
    let titles: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap()).collect();
    assert!(titles.contains(&"I like A2A.") && titles.contains(&"I like Busibox."), "{titles:?}");
}
