//! Tests of runs whose client cancels the call or disconnects.

use super::{ACCEPTED, SECTION, call, config_folder, message, start};
use crate::process::Server;
use crate::provider::start_silent_provider;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::pin::pin;
use std::time::Duration;

/// Returns the outcome of the newest conversation's answer, when it has one or `text` is written.
async fn newest_answer(server: &Server, is_wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let get = async |path: &str| -> Value {
            server.request(Method::GET, path).send().await.unwrap().json().await.unwrap()
        };
        let all = get("/api/conversations").await;
        if let Some(id) = all["items"][0]["id"].as_str() {
            let shown = get(&format!("/api/conversations/{id}")).await;
            let answer = shown["messages"][1].clone();
            if is_wanted(&answer) {
                return answer;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Calls the agent in a session, and waits until it writes.
async fn begin(server: &Server, session: &str) -> Response {
    let body = call(7, "helper", &json!({ "message": "Hi" }));
    let response = message(server, &body).header("mcp-session-id", session).send().await.unwrap();
    newest_answer(server, |answer| answer["parts"].to_string().contains("Well")).await;
    response
}

async fn cancel(server: &Server, session: &str, request_id: Value) {
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": request_id } });
    let response = message(server, &body).header("mcp-session-id", session).send().await.unwrap();
    assert_eq!(response.status(), 202);
}

/// The newest version of the protocol.
const NEWEST: &str = "2026-07-28";

const SESSION: &str = "0123456789abcdef0123456789abcdef";

#[tokio::test(flavor = "multi_thread")]
async fn notification_stops_the_run_of_its_session_only() {
    let (server, _folder) = start(&start_silent_provider().await, SECTION);
    let response = begin(&server, SESSION).await;
    cancel(&server, &SESSION.replace('0', "1"), json!(7)).await;
    cancel(&server, SESSION, json!("7")).await;
    let other = newest_answer(&server, |_| true).await;
    assert_eq!(other["metadata"]["outcome"], Value::Null);
    cancel(&server, SESSION, json!(7)).await;
    // The stream ends, and what was written stays.
    assert!(response.text().await.unwrap().contains(r#""outcome":"stopped""#));
    let stopped = newest_answer(&server, |answer| answer["metadata"]["outcome"].is_string()).await;
    assert_eq!((&stopped["metadata"]["outcome"], &stopped["parts"][1]["text"]), (&json!("stopped"), &json!("Well")));
}

#[tokio::test(flavor = "multi_thread")]
async fn run_ends_when_its_client_disconnects() {
    let (server, _folder) = start(&start_silent_provider().await, SECTION);
    drop(begin(&server, SESSION).await);
    let stopped = newest_answer(&server, |answer| answer["metadata"]["outcome"].is_string()).await;
    assert_eq!(stopped["metadata"]["reason"], "stoppedByUser");
}

/// A key that is revoked ends what it has begun.
#[tokio::test(flavor = "multi_thread")]
async fn run_ends_with_the_key() {
    let (server, _folder) = start(&start_silent_provider().await, SECTION);
    let body = call(7, "helper", &json!({ "message": "Hi" }));
    check_run_ends_with_the_key(&server, message(&server, &body)).await;
}

/// With this version, rmcp sends nothing before the first message.
#[tokio::test(flavor = "multi_thread")]
async fn run_of_the_newest_version_ends_with_the_key() {
    let (server, _folder) = start(&start_silent_provider().await, SECTION);
    let mut body = call(7, "helper", &json!({ "message": "Hi" }));
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = server.request(Method::POST, "/mcp").header("accept", ACCEPTED).json(&body);
    let request = request.header("mcp-protocol-version", NEWEST);
    check_run_ends_with_the_key(&server, request.header("mcp-method", "tools/call").header("mcp-name", "helper")).await;
}

async fn check_run_ends_with_the_key(server: &Server, request: RequestBuilder) {
    let key = server.api_key(&["agents"]).await;
    // The stream begins while the agent answers.
    let response = request.bearer_auth(key).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    newest_answer(server, |answer| answer["parts"].to_string().contains("Well")).await;
    let keys: Value = server.request(Method::GET, "/api/keys").send().await.unwrap().json().await.unwrap();
    let id = keys[0]["id"].as_str().or(keys["items"][0]["id"].as_str()).unwrap().to_owned();
    let revoked = server.request(Method::DELETE, &format!("/api/keys/{id}")).send().await.unwrap();
    assert!(revoked.status().is_success());
    drop(response.text().await);
    let stopped = newest_answer(server, |answer| answer["metadata"]["outcome"].is_string()).await;
    assert_eq!(stopped["metadata"]["outcome"], "stopped");
}

/// The notification may reach another server than the one that runs the agent.
#[tokio::test(flavor = "multi_thread")]
async fn notification_to_another_server_stops_the_run() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = config_folder(&start_silent_provider().await, SECTION);
    let start = || Server::start_with(&["--config", folder.path().to_str().unwrap(), "--database", &url]);
    let (first, second) = (start(), start());
    let mut answer = pin!(begin(&first, SESSION).await.text());
    let text = loop {
        tokio::select! {
            text = &mut answer => break text.unwrap(),
            () = tokio::time::sleep(Duration::from_millis(100)) => cancel(&second, SESSION, json!(7)).await,
        }
    };
    assert!(text.contains(r#""outcome":"stopped""#), "{text}");
}
