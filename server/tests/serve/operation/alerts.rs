//! Alerts: a share of failed answers leaves its bounds and comes back; a webhook and a mail server are told.

use super::mail_server::start_mail_server;
use crate::http::chunks;
use crate::process::Server;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use webhooks::{Scheme, Verifier};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const CONFIG: &str = r#"
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: broken, type: OpenAI, properties: { apiKey: none, baseURL: "http://127.0.0.1:MODEL/v1" } }
  - { id: mail, type: Smtp, properties: { host: 127.0.0.1, port: SMTP, security: none, from: "Chat <chat@example.com>" } }
  - { id: hook, type: OutgoingWebhook, properties: { url: { _secret: HOOK_URL }, secret: { _secret: HOOK_SECRET }, allowPrivate: true } }
  - { id: gone, type: OutgoingWebhook, properties: { url: "http://127.0.0.1:HOOK/refused", allowPrivate: true } }
agents:
  - { id: demo, type: Agent, connectionId: demo, properties: { model: demo } }
  - { id: broken, type: Agent, connectionId: broken, properties: { model: gpt-5 } }
alerts:
  - id: failures
    when: { type: failures, abovePercent: 50, atLeast: 1 }
    notify:
      - { connectionId: hook }
      - { connectionId: mail, to: [ops@example.com, boss@example.com] }
  - id: cost
    when: { type: cost, per: day, aboveUsd: 1 }
    notify: [{ connectionId: gone }]
pages:
  - { id: demo, blocks: [{ id: demo, type: AgentChat, properties: { agentId: demo } }] }
  - { id: broken, blocks: [{ id: broken, type: AgentChat, properties: { agentId: broken } }] }
"#;

/// The requests that a webhook has received.
#[derive(Clone)]
struct Hook {
    requests: UnboundedSender<(HeaderMap, Bytes)>,
    /// How many of the next requests are answered with 503.
    failures: Arc<Mutex<u32>>,
}

async fn receive(State(hook): State<Hook>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut failures = hook.failures.lock().await;
    hook.requests.send((headers, body)).unwrap();
    if *failures == 0 {
        return StatusCode::NO_CONTENT;
    }
    *failures -= 1;
    StatusCode::SERVICE_UNAVAILABLE
}

async fn start_hook() -> (u16, UnboundedReceiver<(HeaderMap, Bytes)>, Hook) {
    let (requests, received) = unbounded_channel();
    let hook = Hook { requests, failures: Arc::default() };
    let routes = Router::new()
        .route("/alerts", post(receive))
        .route("/refused", post(async || StatusCode::GONE))
        .with_state(hook.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (port, received, hook)
}

async fn next<T>(received: &mut UnboundedReceiver<T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), received.recv()).await.unwrap().unwrap()
}

async fn api(server: &Server, method: Method, path: &str) -> Value {
    let response = server.request(method, path).send().await.unwrap();
    let (status, body) = (response.status(), response.text().await.unwrap());
    assert!(status.is_success(), "{path}: {status} {body}");
    serde_json::from_str(&body).unwrap_or_default()
}

/// Waits until all deliveries of the newest message have ended.
async fn deliveries(server: &Server) -> Value {
    loop {
        let found = api(server, Method::GET, "/api/admin/alerts").await["messages"][0]["deliveries"].clone();
        if found.as_array().unwrap().iter().all(|delivery| delivery["outcome"] != "waiting") {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn operators_are_told_by_webhook_and_e_mail_when_answers_fail_and_when_it_is_over() {
    let folder = TempDir::new().unwrap();
    let (hook_port, mut requests, hook) = start_hook().await;
    let (smtp_port, mut mails) = start_mail_server().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let config = CONFIG
        .replace("HOOK/", &format!("{hook_port}/"))
        .replace("SMTP", &smtp_port.to_string())
        .replace("MODEL", &closed.to_string());
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let url = format!("http://127.0.0.1:{hook_port}/alerts?key=canary-in-an-address");
    let folder = folder.path().display().to_string();
    let server = Server::start_with_env(&[("HOOK_SECRET", SECRET), ("HOOK_URL", &url)], &["--config", &folder]);

    let before = api(&server, Method::POST, "/api/admin/alerts/check").await;
    assert_eq!(before["messages"], json!([]));
    assert_eq!(before["alerts"][0]["receivers"], json!(["hook", "mail to ops@example.com, boss@example.com"]));

    // One answer fails, so all have. The webhook is away at first.
    *hook.failures.lock().await = 1;
    chunks(server.message_to("broken/broken", "c1", "hello").send().await.unwrap()).await;
    let fired = api(&server, Method::POST, "/api/admin/alerts/check").await;
    let value = |alerts: &Value| (alerts["value"].clone(), alerts["isFiring"].clone());
    assert_eq!(value(&fired["alerts"][0]), (json!("100\u{a0}%"), json!(true)), "{fired}");
    assert_eq!(value(&fired["alerts"][1]), (json!("$0.00"), json!(false)));
    let mail = next(&mut mails).await;
    for expected in [
        "RCPT TO:<ops@example.com>",
        "RCPT TO:<boss@example.com>",
        "From: Chat <chat@example.com>",
        "Subject: Chatwright: ",
        "The limit is 50",
        "Auto-Submitted: auto-generated",
    ] {
        assert!(mail.contains(expected), "{expected}: {mail}");
    }
    let (first, second) = (next(&mut requests).await, next(&mut requests).await);
    let verifier = Verifier::new(Scheme::Standard, [SECRET]).unwrap();
    let now = jiff::Timestamp::now().as_second();
    let ids = [&first, &second].map(|(headers, body)| verifier.verify(headers, body, now).unwrap().id.unwrap());
    assert_eq!(ids[0], ids[1], "the second attempt is the same message");
    let body: Value = serde_json::from_slice(&second.1).unwrap();
    assert_eq!((&body["type"], &body["data"]["alertId"]), (&json!("alert.firing"), &json!("failures")));
    assert_eq!(body["text"], "Failed answers: 100\u{a0}%. The limit is 50\u{a0}%.");
    assert_eq!(
        deliveries(&server).await,
        json!([
            { "receiver": "hook", "outcome": "sent" },
            { "receiver": "mail to ops@example.com, boss@example.com", "outcome": "sent" },
        ])
    );

    // An alert is not sent again while its state stays the same.
    let same = api(&server, Method::POST, "/api/admin/alerts/check").await;
    assert_eq!(same["messages"].as_array().unwrap().len(), 1);

    // Another answer succeeds: half of them have failed, which is the limit.
    chunks(server.message_to("demo/demo", "c2", "hello").send().await.unwrap()).await;
    let over = api(&server, Method::POST, "/api/admin/alerts/check").await;
    assert_eq!(value(&over["alerts"][0]), (json!("50\u{a0}%"), json!(false)), "{over}");
    assert_eq!(over["messages"][0]["kind"], "resolved");
    let body: Value = serde_json::from_slice(&next(&mut requests).await.1).unwrap();
    assert_eq!(body["type"], "alert.resolved");
    assert!(next(&mut mails).await.contains("Subject: Chatwright: Failed answers: back within its limit"));

    // A test of receivers, one of which is gone for good; the page shows it, and no key of an address.
    api(&server, Method::POST, "/api/admin/alerts/cost/test").await;
    let refused = deliveries(&server).await;
    assert_eq!(refused, json!([{ "receiver": "gone", "outcome": "failed", "cause": "The receiver answered 410." }]));
    let page = server.request(Method::GET, "/admin/alerts").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("Cost of the day: test") && page.contains("The receiver answered 410."), "{page}");
    assert!(!page.contains("canary-in-an-address"));
    let audit = api(&server, Method::GET, "/api/admin/audit?tool=admin:test_alert").await;
    assert_eq!(audit["items"].as_array().map(Vec::len), Some(1), "{audit}");
    assert_eq!(server.request(Method::POST, "/api/admin/alerts/none/test").send().await.unwrap().status(), 404);
}
