//! A provider that is down, and what turns share of it (F7).

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

/// How a provider answers, and when it was asked for which model.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    mood: Mood,
    asked: Vec<(String, Instant)>,
}

#[derive(Clone, Copy, Default)]
enum Mood {
    #[default]
    Well,
    Down,
    /// It wants to be asked again after two seconds, and answers whoever comes later.
    Busy(Option<Instant>),
}

impl Told {
    fn feels(&self, mood: Mood) {
        self.0.lock().unwrap().mood = mood;
    }

    fn asked(&self, model: &str) -> Vec<Instant> {
        self.0.lock().unwrap().asked.iter().filter(|(asked, _)| asked == model).map(|(_, at)| *at).collect()
    }

    fn answer(&self, body: &str) -> Response {
        let Script { mood, asked } = &mut *self.0.lock().unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let now = Instant::now();
        asked.push((body["model"].as_str().unwrap().to_owned(), now));
        let is_early = match mood {
            Mood::Busy(since) => now < *since.get_or_insert(now) + Duration::from_secs(2),
            _ => false,
        };
        match mood {
            _ if is_early => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "2")], "").into_response(),
            Mood::Down => (StatusCode::SERVICE_UNAVAILABLE, "").into_response(),
            _ => {
                let delta =
                    json!({ "choices": [{ "index": 0, "delta": { "content": "well" }, "finish_reason": "stop" }] });
                ([("content-type", "text/event-stream")], format!("data: {delta}\n\ndata: [DONE]\n\n")).into_response()
            }
        }
    }
}

async fn provider() -> (String, Told) {
    let told = Told::default();
    let answers = told.clone();
    let answer = move |body: String| std::future::ready(answers.answer(&body));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, told)
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

/// The error that is told to the user; none when there was an answer.
async fn ask(server: &Server, agent: &str, conversation: &str) -> Option<Value> {
    let sent = server.message_to(&format!("p/{agent}"), conversation, "Hello").send().await.unwrap();
    let told = chunks(sent).await;
    assert!(told.iter().any(|chunk| chunk["type"] == "error" || chunk["type"] == "text-delta"), "{told:?}");
    told.into_iter().find(|chunk| chunk["type"] == "error")
}

/// Whether the circuit is open, and how many requests it refused.
async fn figures(server: &Server, model: &str) -> [Option<u64>; 2] {
    let text = server.ask(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    ["open", "refused_total"].map(|name| {
        let begin = format!(r#"chatwright_model_circuit_{name}{{connection="far",model="openai/{model}"}} "#);
        text.lines().find_map(|line| line.strip_prefix(&begin)?.parse().ok())
    })
}

#[tokio::test]
async fn a_provider_that_is_down_is_left_alone_and_found_again() {
    let (address, told) = provider().await;
    let (server, _folder) = serve(&address);
    told.feels(Mood::Down);
    for turn in 0..10 {
        assert!(ask(&server, "hasty", &format!("down-{turn}")).await.is_some());
    }
    assert_eq!(told.asked("m").len(), 5, "after five failures nobody asks it");
    assert_eq!(figures(&server, "m").await, [Some(1), Some(5)]);
    // An agent with another model asks that one, without a further request to the one that is down.
    assert_eq!(ask(&server, "prepared", "elsewhere").await, None);
    assert_eq!(told.asked("m").len(), 5);
    // Another model of the same connection is not concerned.
    assert!(figures(&server, "n").await[0].is_none_or(|open| open == 0));

    told.feels(Mood::Well);
    let opened = told.asked("m")[4];
    tokio::time::sleep(Duration::from_secs(5).saturating_sub(opened.elapsed()) + Duration::from_millis(200)).await;
    for turn in 0..3 {
        assert_eq!(ask(&server, "hasty", &format!("well-{turn}")).await, None);
    }
    assert_eq!((told.asked("m").len(), figures(&server, "m").await), (8, [Some(0), Some(6)]));
}

/// What one turn is told to wait, the others wait as well; then all have their answers.
#[tokio::test]
async fn a_wait_that_is_asked_for_is_everybodys() {
    let (address, told) = provider().await;
    let (server, _folder) = serve(&address);
    told.feels(Mood::Busy(None));
    let turns = (0..6).map(async |turn: u32| {
        // The first one learns of it.
        tokio::time::sleep(Duration::from_millis(u64::from(turn.min(1)) * 500)).await;
        ask(&server, "patient", &format!("busy-{turn}")).await
    });
    assert!(futures::future::join_all(turns).await.iter().all(Option::is_none));
    let asked = told.asked("n");
    assert!(asked[1..].iter().all(|at| *at - asked[0] >= Duration::from_secs(2)), "{asked:?}");
    assert_eq!(asked.len(), 7, "one was refused, and each was answered");
}
