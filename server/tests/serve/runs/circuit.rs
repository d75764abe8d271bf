//! The circuit breaker for a failing provider, and waits that all turns share.

use crate::http::chunks;
use crate::process::Server;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// A provider with a configurable behavior, which records its requests.
#[derive(Clone, Default)]
struct FakeProvider(Arc<Mutex<ProviderState>>);

#[derive(Default)]
struct ProviderState {
    behavior: Behavior,
    requests: Vec<(String, Instant)>,
}

#[derive(Clone, Copy, Default)]
enum Behavior {
    #[default]
    Healthy,
    Down,
    /// Asks to retry after two seconds, and answers requests after that.
    Busy(Option<Instant>),
}

impl FakeProvider {
    fn set_behavior(&self, behavior: Behavior) {
        self.0.lock().unwrap().behavior = behavior;
    }

    fn request_times(&self, model: &str) -> Vec<Instant> {
        self.0.lock().unwrap().requests.iter().filter(|(requested, _)| requested == model).map(|(_, at)| *at).collect()
    }

    fn respond(&self, body: &str) -> Response {
        let ProviderState { behavior, requests } = &mut *self.0.lock().unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let now = Instant::now();
        requests.push((body["model"].as_str().unwrap().to_owned(), now));
        let is_early = match behavior {
            Behavior::Busy(since) => now < *since.get_or_insert(now) + Duration::from_secs(2),
            _ => false,
        };
        match behavior {
            _ if is_early => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "2")], "").into_response(),
            Behavior::Down => (StatusCode::SERVICE_UNAVAILABLE, "").into_response(),
            _ => {
                let delta =
                    json!({ "choices": [{ "index": 0, "delta": { "content": "well" }, "finish_reason": "stop" }] });
                ([("content-type", "text/event-stream")], format!("data: {delta}\n\ndata: [DONE]\n\n")).into_response()
            }
        }
    }
}

async fn start_fake_provider() -> (String, FakeProvider) {
    let fake = FakeProvider::default();
    let answers = fake.clone();
    let answer = move |body: String| std::future::ready(answers.respond(&body));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, fake)
}

fn serve(base_url: &str) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let fallback = "fallbackModels: [{ connectionId: demo, model: demo }]";
    let config = format!(
        "
connections:
  - {{ id: far, type: OpenAICompatible, properties: {{ baseURL: '{base_url}' }} }}
  - {{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}
agents:
  - {{ id: hasty, type: Agent, connectionId: far, properties: {{ model: m, maxRetries: 0 }} }}
  - {{ id: prepared, type: Agent, connectionId: far, properties: {{ model: m, {fallback} }} }}
  - {{ id: patient, type: Agent, connectionId: far, properties: {{ model: n }} }}
pages: [{{ id: p }}]
"
    );
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

/// Sends a message; returns the error of the turn, if it failed.
async fn error_of_turn(server: &Server, agent: &str, conversation: &str) -> Option<Value> {
    let sent = server.message_to(&format!("p/{agent}"), conversation, "Hello").send().await.unwrap();
    let received = chunks(sent).await;
    assert!(received.iter().any(|chunk| chunk["type"] == "error" || chunk["type"] == "text-delta"), "{received:?}");
    received.into_iter().find(|chunk| chunk["type"] == "error")
}

/// Returns whether the circuit is open (1 or 0) and the number of requests that it refused.
async fn circuit_metrics(server: &Server, model: &str) -> [Option<u64>; 2] {
    let text = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    ["open", "refused_total"].map(|name| {
        let begin = format!(r#"chatwright_model_circuit_{name}{{connection="far",model="openai/{model}"}} "#);
        text.lines().find_map(|line| line.strip_prefix(&begin)?.parse().ok())
    })
}

#[tokio::test]
async fn circuit_opens_for_a_failing_provider_and_closes_again() {
    let (address, fake) = start_fake_provider().await;
    let (server, _folder) = serve(&address);
    fake.set_behavior(Behavior::Down);
    for turn in 0..10 {
        assert!(error_of_turn(&server, "hasty", &format!("down-{turn}")).await.is_some());
    }
    assert_eq!(fake.request_times("m").len(), 5, "the circuit is open after five failures");
    assert_eq!(circuit_metrics(&server, "m").await, [Some(1), Some(5)]);
    // An agent with a fallback model uses it without another request to the failing provider.
    assert_eq!(error_of_turn(&server, "prepared", "elsewhere").await, None);
    assert_eq!(fake.request_times("m").len(), 5);
    // Another model of the same connection is not affected.
    assert!(circuit_metrics(&server, "n").await[0].is_none_or(|open| open == 0));

    fake.set_behavior(Behavior::Healthy);
    let (opened, mut refused) = (fake.request_times("m")[4], 6);
    while error_of_turn(&server, "hasty", &format!("early-{refused}")).await.is_some() {
        assert!(opened.elapsed() < Duration::from_secs(120), "no trial is let through");
        refused += 1;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let trial = fake.request_times("m")[5];
    assert!(trial - opened >= Duration::from_secs(5), "the circuit stays open for a while");
    for turn in 0..2 {
        assert_eq!(error_of_turn(&server, "hasty", &format!("well-{turn}")).await, None);
    }
    assert_eq!((fake.request_times("m").len(), circuit_metrics(&server, "m").await), (8, [Some(0), Some(refused)]));
}

/// A wait that the provider asks one turn for also delays the others; then all are answered.
#[tokio::test]
async fn retry_after_applies_to_all_turns() {
    let (address, fake) = start_fake_provider().await;
    let (server, _folder) = serve(&address);
    fake.set_behavior(Behavior::Busy(None));
    let turns = (0..6).map(async |turn: u32| {
        // The wait of the first turn is known before the others start.
        while turn > 0 && circuit_metrics(&server, "n").await[0] != Some(1) && fake.request_times("n").len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        error_of_turn(&server, "patient", &format!("busy-{turn}")).await
    });
    assert!(futures::future::join_all(turns).await.iter().all(Option::is_none));
    let asked = fake.request_times("n");
    assert!(asked[1..].iter().all(|at| *at - asked[0] >= Duration::from_secs(2)), "{asked:?}");
    assert_eq!(asked.len(), 7, "one refused request, and one answered request per turn");
}
