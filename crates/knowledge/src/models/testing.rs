//! Stand-ins for the services.

use super::embeddings::ApiEmbedder;
use super::{Embedded, Embedder, EmbeddingFailure, Models, Purpose, Reranker};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use contract::{ModelId, Usage};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// The answer of a stand-in.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: &'static str,
    pub(crate) body: Value,
    pub(crate) delay: Duration,
}

impl From<Value> for Answer {
    fn from(body: Value) -> Self {
        Self { status: 200, retry_after: "", body, delay: Duration::ZERO }
    }
}

impl From<u16> for Answer {
    fn from(status: u16) -> Self {
        Self { status, ..json!({ "error": "secret-key is wrong" }).into() }
    }
}

type Respond = dyn Fn(usize, &Value) -> Answer + Send + Sync;

/// A server that answers by a function of the number of the request, from 0, and its body.
#[derive(Clone)]
pub(crate) struct StandIn {
    pub(crate) origin: String,
    respond: Arc<Respond>,
    seen: Arc<Mutex<Seen>>,
}

/// The requests to a stand-in.
#[derive(Default)]
struct Seen {
    requests: Vec<(String, Value)>,
    open: usize,
    most_open: usize,
}

impl StandIn {
    pub(crate) async fn start(respond: impl Fn(usize, &Value) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let stand_in = Self { origin, respond: Arc::new(respond), seen: Arc::default() };
        let router = Router::new().fallback(answer).with_state(stand_in.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        stand_in
    }

    /// A server with the API of embeddings, whose vectors say how many words of some groups a text has.
    pub(crate) async fn embeddings() -> Self {
        Self::start(|_, body| embedded(body).into()).await
    }

    /// Returns path and key of the requests so far, and their bodies.
    pub(crate) fn requests(&self) -> Vec<(String, Value)> {
        self.seen.lock().requests.clone()
    }

    /// Returns how many requests were open at once.
    pub(crate) fn most_open(&self) -> usize {
        self.seen.lock().most_open
    }

    pub(crate) fn embedder(&self, more: Value) -> Arc<dyn Embedder> {
        let mut settings =
            json!({ "url": self.origin, "model": "concepts", "apiKey": "secret-key", "allowPrivate": true });
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Arc::new(ApiEmbedder::new(serde_json::from_value(settings).unwrap()).unwrap())
    }

    pub(crate) fn reranker(&self, timeout_ms: u64) -> Reranker {
        let settings = json!({ "url": format!("{}/v2/", self.origin), "model": "judge", "costUsd": 0.25, "timeoutMs": timeout_ms, "allowPrivate": true });
        Reranker::new(serde_json::from_value(settings).unwrap(), 50).unwrap()
    }
}

/// Models with this one and this one before.
pub(crate) fn models(embedder: Option<Arc<dyn Embedder>>, previous: Option<Arc<dyn Embedder>>) -> Models {
    Models { embedder, previous, reranker: None }
}

/// A model in this process with the vectors of the stand-in.
pub(crate) struct LocalEmbedder;

impl Embedder for LocalEmbedder {
    fn key(&self) -> &str {
        "local"
    }

    fn round(&self) -> usize {
        32
    }

    fn bill(&self) -> Option<(ModelId, bool)> {
        None
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: Purpose) -> BoxFuture<'a, Result<Embedded, EmbeddingFailure>> {
        let vectors = texts.iter().map(|text| vector(text)).collect();
        Box::pin(std::future::ready(Ok(Embedded { vectors, usage: Usage::default(), cost_usd: None })))
    }
}

const GROUPS: [&[&str]; 3] = [&["cat", "feline", "kitten"], &["car", "automobile", "vehicle"], &["bread", "loaf"]];

/// Returns how many words of each group a text has.
fn vector(text: &str) -> Vec<f32> {
    let count = |words: &[&str]| words.iter().filter(|word| text.contains(**word)).count() as f32;
    GROUPS.iter().map(|words| count(words)).chain([1.0]).collect()
}

/// Returns an answer to a request for embeddings.
pub(crate) fn embedded(body: &Value) -> Value {
    let texts = body["input"].as_array().unwrap().iter().enumerate();
    let data: Vec<_> = texts
        .map(|(index, text)| json!({ "object": "embedding", "index": index, "embedding": vector(text.as_str().unwrap()) }))
        .collect();
    json!({ "object": "list", "data": data, "usage": { "prompt_tokens": data.len() * 10, "total_tokens": data.len() * 10 } })
}

async fn answer(State(stand_in): State<StandIn>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 8 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let key = parts.headers.get("authorization").map_or("", |key| key.to_str().unwrap());
    let number = {
        let mut seen = stand_in.seen.lock();
        seen.requests.push((format!("{} {key}", parts.uri).trim().to_owned(), body.clone()));
        seen.open += 1;
        seen.most_open = seen.most_open.max(seen.open);
        seen.requests.len() - 1
    };
    let Answer { status, retry_after, body, delay } = (stand_in.respond)(number, &body);
    tokio::time::sleep(delay).await;
    stand_in.seen.lock().open -= 1;
    let mut headers = HeaderMap::from_iter([("content-type".parse().unwrap(), "application/json".parse().unwrap())]);
    if !retry_after.is_empty() {
        headers.insert("retry-after", retry_after.parse().unwrap());
    }
    (StatusCode::from_u16(status).unwrap(), headers, body.to_string()).into_response()
}
