//! Stand-ins for servers on the web.

use crate::connection::{ProviderKind, ProviderSettings};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use config::SecretText;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// An answer: status, value of `Retry-After`, body.
type StandInAnswer = (u16, &'static str, String);

/// A server that gives its answers one after the other, the last one for ever, and keeps what it was
/// asked: method, path, the header with the key, body.
#[derive(Clone, Default)]
pub(crate) struct StandIn {
    pub(crate) origin: String,
    answers: Arc<Mutex<VecDeque<StandInAnswer>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

/// The headers that the stand-in records.
const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-subscription-token"];

impl StandIn {
    /// Starts a server with these answers.
    pub(crate) async fn start(answers: Vec<StandInAnswer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let stand_in = Self { origin, answers: Arc::new(Mutex::new(answers.into())), ..Self::default() };
        let router = Router::new().fallback(answer).with_state(stand_in.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        stand_in
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().clone()
    }
}

async fn answer(State(stand_in): State<StandIn>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let key = KEYS.iter().find_map(|name| Some(format!("{name}: {}", parts.headers.get(*name)?.to_str().unwrap())));
    let asked = [
        Some(parts.method.to_string()),
        Some(parts.uri.to_string()),
        key,
        Some(String::from_utf8_lossy(&body).into_owned()),
    ];
    stand_in.requests.lock().push(asked.into_iter().flatten().collect::<Vec<_>>().join(" ").trim().to_owned());
    let mut answers = stand_in.answers.lock();
    let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
    let (status, retry_after, body) = next.unwrap();
    let mut headers = HeaderMap::from_iter([("content-type".parse().unwrap(), "application/json".parse().unwrap())]);
    if !retry_after.is_empty() {
        headers.insert("retry-after", retry_after.parse().unwrap());
    }
    (StatusCode::from_u16(status).unwrap(), headers, body).into_response()
}

/// Returns the settings of a provider at this address.
pub(crate) fn settings(kind: ProviderKind, origin: &str) -> ProviderSettings {
    let key: SecretText = serde_json::from_value("secret-key".into()).unwrap();
    ProviderSettings {
        kind,
        url: origin.parse().unwrap(),
        api_key: (kind != ProviderKind::SearXng).then_some(key),
        allow_private: true,
        cost_usd: 0.25,
        timeout: Duration::from_secs(10),
    }
}
