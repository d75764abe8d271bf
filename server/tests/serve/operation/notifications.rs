//! Notifications: a push service gets what a browser can read, when an answer stays unread, a question unanswered or a
//! trigger paused; browsers that are gone are forgotten.

use crate::http::chunks;
use crate::process::Server;
use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use web_push_native::p256::SecretKey;
use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint;
use web_push_native::{Auth, decrypt};

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: demo, type: Agent, title: Helper, connectionId: demo, properties: { model: demo } }]
notifications: { contact: mailto:ops@example.com, afterSeconds: 5, showTitles: true, allowPrivate: true }
pages: [{ id: demo, blocks: [{ id: demo, type: AgentChat, properties: { agentId: demo } }] }]
";

const WAITING: &str = "
connections: [{ id: demo, type: Demo }]
agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]
notifications: { contact: mailto:ops@example.com, afterSeconds: 8, showTitles: true, allowPrivate: true }
workflows:
  - { id: leave, title: Leave, steps: [{ id: ask, type: human, title: Is this fine?, roles: [admin] }] }
pages: [{ id: inbox, blocks: [{ id: tasks, type: WorkflowTasks }] }]
";

/// The secret of the browser.
const AUTH: [u8; 16] = [3; 16];

/// Starts a push service: what is sent to `/gone` is answered with 410.
async fn start_push_service() -> (u16, UnboundedReceiver<(String, HeaderMap, Bytes)>) {
    let (sender, received) = unbounded_channel();
    let take = async move |Path(name): Path<String>, headers: HeaderMap, body: Bytes| {
        let status = if name == "gone" { StatusCode::GONE } else { StatusCode::CREATED };
        sender.send((name, headers, body)).unwrap();
        status
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/{name}", post(take))).await });
    (port, received)
}

async fn next(received: &mut UnboundedReceiver<(String, HeaderMap, Bytes)>) -> (String, HeaderMap, Bytes) {
    tokio::time::timeout(Duration::from_secs(60), received.recv()).await.unwrap().unwrap()
}

async fn api(server: &Server, method: Method, path: &str, body: Value) -> Value {
    let (status, answer) = server.call(method, path, body).await;
    assert!((200..300).contains(&status), "{path}: {status} {answer}");
    answer
}

/// The key of the browser.
fn secret() -> SecretKey {
    SecretKey::from_slice(&[7; 32]).unwrap()
}

/// Turns notifications on in a browser.
async fn subscribe(server: &Server, port: u16, name: &str) {
    let key = URL_SAFE_NO_PAD.encode(secret().public_key().to_encoded_point(false).as_bytes());
    let keys = json!({ "p256dh": key, "auth": URL_SAFE_NO_PAD.encode(AUTH) });
    let browser = json!({ "endpoint": format!("http://127.0.0.1:{port}/{name}"), "keys": keys });
    api(server, Method::POST, "/api/notifications/browsers", browser).await;
}

/// Reads a message as the browser does.
fn read(body: &Bytes) -> Value {
    serde_json::from_slice(&decrypt(body.to_vec(), &secret(), &Auth::from(AUTH)).unwrap()).unwrap()
}

#[tokio::test]
async fn unread_answers_arrive_in_the_browsers_of_their_user() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
    let (port, mut received) = start_push_service().await;
    let server = Server::start_with(&["--config", &folder.path().display().to_string()]);

    for name in ["laptop", "gone"] {
        subscribe(&server, port, name).await;
    }

    chunks(server.message("c1", "What is the weather like?").send().await.unwrap()).await;
    let mut sent = [next(&mut received).await, next(&mut received).await];
    sent.sort_by(|one, other| one.0.cmp(&other.0));
    let (name, headers, body) = &sent[1];
    assert_eq!(
        (name.as_str(), &headers["urgency"], &headers["content-encoding"]),
        ("laptop", &"normal".parse().unwrap(), &"aes128gcm".parse().unwrap())
    );
    let known = api(&server, Method::GET, "/api/notifications", Value::Null).await;
    let public = known["publicKey"].as_str().unwrap();
    assert!(headers["authorization"].to_str().unwrap().ends_with(&format!(", k={public}")), "{headers:?}");
    let message = read(body);
    let conversation = message["tag"].as_str().unwrap().to_owned();
    let title = message["title"].as_str().unwrap();
    assert!(title.starts_with("Helper: "), "{message}");
    assert_eq!(
        (&message["body"], &message["url"]),
        (&json!("An answer is there."), &json!(format!("/demo?conversation={conversation}")))
    );

    // The browser that is gone is not asked again.
    let browsers = async || {
        let known = api(&server, Method::GET, "/api/notifications", Value::Null).await;
        known["browsers"].as_array().unwrap().clone()
    };
    while browsers().await.len() > 1 || browsers().await[0].get("sentAt").is_none() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    // An answer that is read in time causes no notification; a test is sent at once.
    chunks(server.message("c2", "And tomorrow?").send().await.unwrap()).await;
    let path = "/api/conversations/c2";
    api(&server, Method::PATCH, path, json!({ "unread": false })).await;
    tokio::time::sleep(Duration::from_secs(7)).await;
    assert_eq!(api(&server, Method::POST, "/api/notifications/test", Value::Null).await, json!({ "browsers": 1 }));
    let (_, _, body) = next(&mut received).await;
    assert_eq!(read(&body)["body"], "Notifications arrive in this browser.");
}

#[tokio::test]
async fn waiting_questions_and_paused_triggers_arrive_in_the_browsers_of_their_users() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), WAITING).unwrap();
    let (port, mut received) = start_push_service().await;
    let server = Server::start_with(&["--config", &folder.path().display().to_string()]);
    subscribe(&server, port, "laptop").await;

    let ask = async || {
        api(&server, Method::POST, "/api/workflows/leave/runs", json!({})).await;
        loop {
            let tasks = api(&server, Method::GET, "/api/workflows/tasks", Value::Null).await;
            if let Some(id) = tasks["items"][0]["id"].as_str() {
                break id.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let answer = async |id: &str| {
        api(&server, Method::POST, &format!("/api/workflows/tasks/{id}"), json!({ "approved": true })).await;
    };
    let task = ask().await;
    let (_, headers, body) = next(&mut received).await;
    assert_eq!(headers["urgency"], "high");
    let expected = json!({
        "title": "Leave: Is this fine?", "body": "A question waits for your answer.", "tag": format!("task:{task}"),
        "url": "/inbox",
    });
    assert_eq!(read(&body), expected);
    answer(&task).await;

    // A question that is answered in time causes no notification.
    answer(&ask().await).await;
    tokio::time::sleep(Duration::from_secs(10)).await;

    let definition = json!({
        "id": "broken", "title": "Broken", "steps": [{ "id": "no", "type": "fail", "message": "No." }],
        "triggers": [{ "id": "told", "type": "event", "event": "order.shipped", "runAs": { "roles": ["admin"] } }],
    });
    api(&server, Method::POST, "/api/workflows/definitions", json!({ "definition": definition })).await;
    for id in 0..5 {
        let event = json!({ "id": format!("order-{id}"), "data": {} });
        let report = async || {
            let request = server.request(Method::POST, "/api/events/order.shipped").json(&event);
            request.send().await.unwrap().status()
        };
        while report().await != StatusCode::ACCEPTED {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let (_, _, body) = next(&mut received).await;
    let expected = json!({
        "title": "Broken: told", "body": "A trigger was paused: its runs have failed.", "tag": "trigger:broken/told",
        "url": "/admin/triggers/broken/told",
    });
    assert_eq!(read(&body), expected);
}
