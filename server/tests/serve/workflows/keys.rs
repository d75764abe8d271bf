//! The idempotency keys that a web service sees when steps of workflows are tried again.

use crate::process::Server;
use crate::provider::start_provider;
use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

type Keys = Arc<Mutex<Vec<String>>>;

/// A service that notes the keys of its requests. `/flaky` refuses every other request.
async fn start_service(keys: Keys) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let note = move |headers: HeaderMap| {
        let key = headers.get("idempotency-key").map_or("", |key| key.to_str().unwrap()).to_owned();
        let mut keys = keys.lock().unwrap();
        keys.push(key);
        keys.len()
    };
    let flaky = note.clone();
    let router = Router::new().route("/pay", post(async move |headers: HeaderMap| note(headers).to_string())).route(
        "/flaky",
        post(async move |headers: HeaderMap| match flaky(headers) % 2 {
            1 => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::OK,
        }),
    );
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

fn config(provider: &str, service: &str) -> String {
    let http = |path: &str| {
        format!(
            "{{ id: a, type: Http, connectionId: web, properties: {{ path: {path}, method: POST, body: {{ n: 1 }} }} }}"
        )
    };
    let (pay, flaky) = (http("pay"), http("flaky"));
    format!(
        "
connections:
  - {{ id: told, type: OpenAICompatible, properties: {{ baseURL: \"{provider}\", apiKey: {{ _secret: TOLD_KEY }} }} }}
  - {{ id: web, type: Http, properties: {{ baseURL: '{service}', allowPrivate: true }} }}
api:
  - {{ id: pay, description: Pays., payloadSchema: {{ type: object, properties: {{ to: {{ type: string }} }} }}, routine: [{pay}, {{ ':return': paid }}] }}
  - {{ id: flaky, routine: [{flaky}, {{ ':return': paid }}] }}
agents:
  - {{ id: clerk, type: Agent, connectionId: told, properties: {{ model: told }}, tools: [pay] }}
workflows:
  - id: asks
    steps:
      - id: ask
        type: agent
        agentId: clerk
        tools: [pay]
        prompt: 'pay {{\"to\": \"ada\"}}'
        responseSchema: {{ type: object, properties: {{ sum: {{ type: integer }} }}, required: [sum] }}
        retry: {{ attempts: 2, delaySeconds: 1, on: [invalid, failed] }}
  - id: child
    steps:
      - {{ id: flaky, type: endpoint, endpointId: flaky }}
  - id: parent
    steps:
      - {{ id: sub, type: workflow, workflowId: child, retry: {{ attempts: 2, delaySeconds: 1 }} }}
pages: [{{ id: home }}]
"
    )
}

#[tokio::test]
async fn service_sees_the_same_keys_when_steps_are_tried_again() {
    let keys = Keys::default();
    let folder = tempfile::tempdir().unwrap();
    let text = config(&start_provider().await, &start_service(keys.clone()).await);
    std::fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    let server = Server::start_with_env(&[("TOLD_KEY", "sk-test")], &["--config", folder.path().to_str().unwrap()]);
    let run = async |workflow: &str, state: &str| -> Vec<String> {
        keys.lock().unwrap().clear();
        let path = format!("/api/workflows/{workflow}/runs");
        let started = server.request(Method::POST, &path).json(&json!({})).send().await.unwrap();
        let started: Value = started.json().await.unwrap();
        let path = format!("/api/workflows/runs/{}", started["id"].as_str().unwrap_or_else(|| panic!("{started}")));
        let mut seen = Value::Null;
        for _ in 0..600 {
            seen = server.request(Method::GET, &path).send().await.unwrap().json().await.unwrap();
            if seen["endedAt"].is_i64() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(seen["state"], state, "{seen}");
        keys.lock().unwrap().clone()
    };
    // The model's answer does not fit the schema, so the step fails after its tool has paid, twice.
    let asked = run("asks", "failed").await;
    assert_eq!((asked.len(), asked[0].is_empty()), (2, false), "{asked:?}");
    assert_eq!(asked[0], asked[1]);
    // The run of the child goes on.
    let child = run("parent", "done").await;
    assert_eq!((child.len(), child[0].is_empty()), (2, false), "{child:?}");
    assert_eq!(child[0], child[1]);
    // Another run is another payment.
    assert_ne!(run("asks", "failed").await[0], asked[0]);
}
