//! A server that answers as a test specifies, and records its requests.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use contract::{Tool, ToolContext};
use remote_agents::{Discovery, RemoteAgent, RemoteAgentSettings, RemoteTool, UserToken};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The keys of these tests.
pub(crate) const KEY: &str = "key-canary-1";
pub(crate) const TOKEN: &str = "token-canary-2";
pub(crate) const VARIABLE: &str = "db://canary-3";

/// A request that the server received.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Starts a server that answers every request with `answer`.
    pub(crate) async fn with(answer: impl Fn(&Seen) -> Response + Clone + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let remembered = seen.clone();
        let router = Router::new().fallback(move |request: Request| {
            let (answer, remembered) = (answer.clone(), remembered.clone());
            async move {
                let (head, body) = request.into_parts();
                let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                let line = format!("{} {}", head.method, head.uri);
                let seen = Seen { line, headers: head.headers, body: String::from_utf8(body.into()).unwrap() };
                remembered.lock().unwrap().push(seen.clone());
                answer(&seen)
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, seen }
    }

    /// Starts a server that lists one tool, `find`, and answers its calls and the request for
    /// context with `answer`.
    pub(crate) async fn finding(answer: impl Fn() -> Response + Clone + Send + Sync + 'static) -> Self {
        Self::with(move |seen| {
            if seen.line.starts_with("GET") {
                Json(json!({ "tools": [{ "name": "find", "description": "Finds." }] })).into_response()
            } else {
                answer()
            }
        })
        .await
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn settings(&self) -> RemoteAgentSettings {
        RemoteAgentSettings {
            base_url: format!("http://{}/v1/", self.address).parse().unwrap(),
            api_key: KEY.into(),
            user_token: Some(UserToken::Fixed(TOKEN.into())),
            variables: vec![("dburi".to_owned(), SecretString::from(VARIABLE))],
            user_variables: None,
            prefix: None,
            allow_private: true,
            call_time: Duration::from_secs(60),
        }
    }

    pub(crate) fn agent(&self) -> RemoteAgent {
        RemoteAgent::new(self.settings()).unwrap()
    }

    pub(crate) async fn discover(&self) -> Discovery {
        self.agent().discover().await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the only tool.
    pub(crate) async fn tool(&self) -> RemoteTool {
        self.discover().await.tools.pop().unwrap()
    }

    /// Calls the only tool and returns what the model reads.
    pub(crate) async fn call(&self, input: Value) -> String {
        match self.tool().await.call(input, caller()).await {
            Ok(value) => value.to_string(),
            Err(error) => format!("error: {error}"),
        }
    }
}

pub(crate) fn caller() -> ToolContext {
    let [call_id, user_id, conversation_id] = ["1", "ada", "c"].map(str::to_owned);
    ToolContext {
        call_id,
        scope: Arc::new(contract::RunScope { user_id, conversation_id, ..contract::RunScope::default() }),
        cancel: CancellationToken::new(),
        reports: contract::CallReports::default(),
        may_repeat: false,
        models: contract::ModelUse::default(),
    }
}

pub(crate) fn answer(status: u16, body: impl Into<Bytes>) -> Response {
    (StatusCode::from_u16(status).unwrap(), Body::from(body.into())).into_response()
}
