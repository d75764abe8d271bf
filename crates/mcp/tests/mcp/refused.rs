//! Servers that refuse the token of a user while a connection is opened.

use crate::peers::{address, context, everything, scope_of};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use capability::{
    AfterRefusal, AskToOpen, PageToOpen, ProvideTokens, ServiceTokens, TokenProblem, TokenRefusal, UserValues,
};
use contract::{Bearer, RunScope, Tool, ToolContext, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use mcp::{HttpServerSettings, McpFeatures, McpServer, McpSettings, McpSource, McpTransport};
use serde_json::{Value, json};
use settings::user_auth::{AccountAuth, Service, UserAuth, UserVariables};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A user, their account, and the server at which they have it.
#[derive(Clone, Default)]
struct World(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The token that the server accepts.
    accepted: String,
    /// The token of the account, if it is connected.
    token: Option<String>,
    connected_at: i64,
    /// How often the token was read.
    reads: usize,
    /// The questions to the user.
    asked: Vec<String>,
}

impl World {
    fn set(&self, accepted: &str, token: &str) {
        let mut state = self.0.lock().unwrap();
        state.accepted = accepted.to_owned();
        state.token = Some(token.to_owned());
    }

    /// Returns how often the token was read since this was called last.
    fn reads(&self) -> usize {
        std::mem::take(&mut self.0.lock().unwrap().reads)
    }

    fn answer(&self, authorization: &str, message: &Value) -> Response {
        if authorization != format!("Bearer {}", self.0.lock().unwrap().accepted) {
            return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response();
        }
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {}, "resources": {} },
                "serverInfo": { "name": "peer", "version": "1" },
            }),
            Some("tools/list") => json!({ "tools": [{ "name": "work", "inputSchema": { "type": "object" } }] }),
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "done" }] }),
            Some("resources/read") => json!({ "contents": [{ "uri": "file:///a", "text": "read" }] }),
            Some(_) => return StatusCode::ACCEPTED.into_response(),
            None => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
        };
        Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).into_response()
    }

    /// Starts the server. Returns its URL.
    async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let world = self.clone();
        let handler = move |request: Request| {
            let world = world.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let sent = head.headers.get(header::AUTHORIZATION).map_or("", |value| value.to_str().unwrap());
                world.answer(sent, &serde_json::from_slice(&body).unwrap_or_default())
            }
        };
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(handler)).await });
        url
    }

    /// The tools of an agent that uses the server on behalf of the user.
    async fn source(&self) -> McpSource {
        let user_auth = Some(UserAuth::Account(AccountAuth::default()));
        let transport = McpTransport::Http(HttpServerSettings { user_auth, ..address(&self.start().await) });
        let features = McpFeatures { resources: true, ..McpFeatures::default() };
        let settings = McpSettings { name: "peer".to_owned(), transport, shared: false, features };
        let tokens = ServiceTokens::default();
        tokens.provide(Arc::new(self.clone()));
        tokens.ask_with(Arc::new(self.clone()));
        McpSource::new(Arc::new(McpServer::new(settings).with_tokens(tokens)), everything()).unwrap()
    }
}

impl ProvideTokens for World {
    fn token<'a>(&'a self, _: &'a Service, _: &'a RunScope) -> BoxFuture<'a, Result<Bearer, TokenProblem>> {
        let mut state = self.0.lock().unwrap();
        state.reads += 1;
        let problem = TokenProblem::NotConnected { page: "/connect".to_owned() };
        std::future::ready(state.token.as_deref().map(Bearer::new).ok_or(problem)).boxed()
    }

    fn refused<'a>(&'a self, _: &'a Service, _: &'a RunScope, _: TokenRefusal<'a>) -> BoxFuture<'a, AfterRefusal> {
        self.0.lock().unwrap().token = None;
        std::future::ready(AfterRefusal::Connect { page: "/connect".to_owned() }).boxed()
    }

    fn connected_at<'a>(&'a self, _: &'a Service, _: &'a RunScope) -> BoxFuture<'a, Option<i64>> {
        let state = self.0.lock().unwrap();
        std::future::ready(state.token.is_some().then_some(state.connected_at)).boxed()
    }

    fn variables<'a>(&'a self, _: &'a UserVariables, _: &'a RunScope) -> BoxFuture<'a, Result<UserValues, String>> {
        std::future::ready(Ok(UserValues::new())).boxed()
    }

    fn page(&self, _: &str) -> String {
        "/connect".to_owned()
    }
}

impl AskToOpen for World {
    fn ask_to_open(&self, page: PageToOpen, _: ToolContext, _: CancellationToken) -> BoxFuture<'static, bool> {
        let mut state = self.0.lock().unwrap();
        state.asked.push(page.message);
        state.token = Some(state.accepted.clone());
        state.connected_at += 1;
        std::future::ready(true).boxed()
    }
}

fn scope() -> RunScope {
    RunScope {
        is_authenticated: true,
        conversation_id: "conversation".to_owned(),
        shows_questions: true,
        ..scope_of("ada")
    }
}

async fn tools(source: &McpSource) -> Vec<Arc<dyn Tool>> {
    source.tools(&scope()).await.unwrap().tools
}

#[tokio::test]
async fn user_is_asked_to_connect_when_the_token_is_refused_while_a_connection_is_opened() {
    let world = World::default();
    let source = world.source().await;
    let check = async |tool: &str, input: Value, expected: &str| {
        world.set("good", "good");
        let tools = tools(&source).await;
        let found = tools.iter().find(|known| known.spec().name.ends_with(tool)).unwrap();
        // By now the account has another token, so another connection is opened; and the server wants a third one.
        world.set("better", "stale");
        let answer = found.call(input, ToolContext { scope: Arc::new(scope()), ..context() }).await;
        assert!(answer.as_ref().is_ok_and(|answer| answer.to_string().contains(expected)), "{tool}: {answer:?}");
        let asked = std::mem::take(&mut world.0.lock().unwrap().asked);
        assert_eq!(asked, ["peer needs you to connect your account again, or to allow more."], "{tool}");
    };
    check("work", json!({}), "done").await;
    check("read_resource", json!({ "uri": "file:///a" }), "read").await;
}

#[tokio::test]
async fn tool_to_connect_is_offered_when_the_token_is_refused_while_a_connection_is_opened() {
    let world = World::default();
    let source = world.source().await;
    world.set("good", "stale");
    let names: Vec<_> = tools(&source).await.iter().map(|tool| tool.spec().name.clone()).collect();
    assert_eq!(names, ["peer_connect_account"]);
}

#[tokio::test]
async fn token_is_read_once_for_a_list_and_once_for_a_call() {
    let world = World::default();
    let source = world.source().await;
    world.set("good", "good");
    tools(&source).await;
    world.reads();
    let tools = tools(&source).await;
    // Whether the server has resources is looked up on the same connection.
    assert_eq!(world.reads(), 1);
    let work = tools.iter().find(|tool| tool.spec().name == "work").unwrap();
    work.call(json!({}), ToolContext { scope: Arc::new(scope()), ..context() }).await.unwrap();
    assert_eq!(world.reads(), 1);
}

#[tokio::test]
async fn server_that_does_not_accept_the_key_is_named_so_with_each_transport() {
    let world = World::default();
    world.set("good", "");
    let transports: [fn(HttpServerSettings) -> McpTransport; 2] = [McpTransport::Http, McpTransport::Sse];
    for transport in transports {
        let transport = transport(address(&world.start().await));
        let features = McpFeatures::default();
        let settings = McpSettings { name: "peer".to_owned(), transport, shared: false, features };
        let source = McpSource::new(Arc::new(McpServer::new(settings)), everything()).unwrap();
        let error = source.tools(&scope()).await.err().unwrap();
        assert_eq!(error.message, "The tools of `peer` are not available now: it does not accept the key.");
    }
}
