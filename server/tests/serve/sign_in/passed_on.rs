//! Forwarding of a user's token: to the remote agent whose connection asks for it, and to no other
//! server.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use crate::sign_in::callers::TokenIssuer;
use axum::extract::Request;
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Json, Router};
use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, COOKIE};
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The path and the bearer token of each request that a remote agent received.
type ReceivedRequests = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// Starts a remote agent with two tools: `who` returns the token, `away` redirects to another
/// server.
async fn start_remote_agent(elsewhere: Option<String>) -> (String, ReceivedRequests) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let asked = ReceivedRequests::default();
    let kept = asked.clone();
    let answer = move |request: Request| {
        let token = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
        let path = request.uri().path().to_owned();
        let response = respond(&path, token.as_deref(), elsewhere.as_deref());
        kept.lock().unwrap().push((path, token));
        std::future::ready(response)
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    (origin, asked)
}

fn respond(path: &str, token: Option<&str>, elsewhere: Option<&str>) -> Response {
    match (path, elsewhere) {
        ("/tools", _) => Json(json!({ "tools": [{ "name": "who" }, { "name": "away" }] })).into_response(),
        ("/tools/away", Some(elsewhere)) => Redirect::temporary(elsewhere).into_response(),
        _ => Json(json!({ "success": true, "data": { "text": format!("It is {token:?}.") } })).into_response(),
    }
}

fn write_config(auth: &str, model: &str, connections: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let text = format!(
        "connections:\n  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}\n{connections}\
         agents:\n  - id: helper\n    type: Agent\n    connectionId: model\n    properties: {{ model: m }}\n    remoteAgents: \
         [{{ connectionId: own, prefix: own }}, {{ connectionId: other, prefix: other }}]\n\
         pages: [{{ id: p, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]\n\
         auth: {auth}\n"
    );
    fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    folder
}

fn connection_yaml(id: &str, origin: &str, more: &str) -> String {
    let properties = format!("{{ baseURL: '{origin}', apiKey: {{ _secret: AGENT_KEY }}, allowPrivate: true{more} }}");
    format!("  - {{ id: {id}, type: RemoteAgent, properties: {properties} }}\n")
}

/// Returns the result or the error of the turn's tool call.
async fn tool_result(request: RequestBuilder) -> String {
    let received = chunks(request.send().await.unwrap()).await;
    let result = received.iter().find_map(|chunk| chunk.get("output").or_else(|| chunk.get("errorText")));
    result.and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn user_token_is_sent_to_the_configured_connection_only() {
    let (thief, stolen) = start_remote_agent(None).await;
    let (own, asked) = start_remote_agent(Some(thief)).await;
    let (other, others) = start_remote_agent(None).await;
    let connections =
        [connection_yaml("own", &own, ", userToken: true"), connection_yaml("other", &other, "")].concat();
    let host = TokenIssuer::new();
    let folder = write_config(&host.auth_config(), &start_provider().await, &connections);
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let server = Server::start_logging_with_env(&[("AGENT_KEY", "key-canary-1")], &arguments, log);
    let say = |chat: &str, text: &str| server.message_to("p/helper", chat, text);
    let (ada, bob) = (host.token("ada", "chat", 60), host.token("bob", "chat", 60));
    let by = |request: RequestBuilder, token: &str| request.header(AUTHORIZATION, format!("Bearer {token}"));

    // The tool returns the token, and it is removed from the result.
    assert_eq!(tool_result(by(say("c1", "own__who {}"), &ada)).await, r#"It is Some("Bearer [secret]")."#);
    assert_eq!(tool_result(by(say("c2", "other__who {}"), &ada)).await, "It is None.");
    let in_cookie = say("c3", "own__who {}").header(COOKIE, format!("host_token={bob}"));
    assert_eq!(tool_result(in_cookie).await, r#"It is Some("Bearer [secret]")."#);
    assert!(tool_result(by(say("c4", "own__away {}"), &ada)).await.contains("redirects to another origin"));

    let calls = |asked: &ReceivedRequests| {
        let asked = asked.lock().unwrap().clone();
        let calls = asked.into_iter().filter(|(path, _)| path.starts_with("/tools/"));
        calls.map(|(_, token)| token).collect::<Vec<_>>()
    };
    let bearer = |token: &str| Some(format!("Bearer {token}"));
    assert_eq!(calls(&asked), [bearer(&ada), bearer(&bob), bearer(&ada)]);
    // The list of tools is requested without a user.
    assert!(asked.lock().unwrap().iter().all(|(path, token)| path != "/tools" || token.is_none()));
    assert!(others.lock().unwrap().iter().all(|(_, token)| token.is_none()));
    assert_eq!(stolen.lock().unwrap().len(), 0);

    // Neither the database nor the log contains the token or its signature.
    let database = server.database.strip_prefix("sqlite://").unwrap().to_owned();
    let files = [database.clone(), format!("{database}-wal"), folder.path().join("log").display().to_string()];
    let held: Vec<Vec<u8>> = files.iter().filter_map(|file| fs::read(file).ok()).collect();
    assert!(held.len() >= 2 && held.last().unwrap().len() > 1_000);
    for token in [&ada, &bob] {
        for part in [token.as_str(), token.rsplit('.').next().unwrap()] {
            let is_there = |bytes: &Vec<u8>| bytes.windows(part.len()).any(|window| window == part.as_bytes());
            assert!(!held.iter().any(is_there), "{part}");
        }
    }
}

#[tokio::test]
async fn access_token_from_a_proxy_is_forwarded() {
    let (own, asked) = start_remote_agent(None).await;
    let (other, _) = start_remote_agent(None).await;
    let connections =
        [connection_yaml("own", &own, ", userToken: true"), connection_yaml("other", &other, "")].concat();
    let auth = "{ mode: proxy, publicUrls: ['https://chat.test'], trustedProxies: ['127.0.0.0/8'] }";
    let folder = write_config(auth, &start_provider().await, &connections);
    let server =
        Server::start_with_env(&[("AGENT_KEY", "key-canary-1")], &["--config", folder.path().to_str().unwrap()]);
    let say = |chat: &str| server.message_to("p/helper", chat, "own__who {}").header("x-forwarded-user", "ada");
    let token = say("c1").header("x-forwarded-access-token", "of-ada-1");
    assert_eq!(tool_result(token).await, r#"It is Some("Bearer [secret]")."#);
    // The API key alone could have more rights than this user.
    let expected = "The tool gave no result: it requires the user's own token, and this user has none.";
    assert_eq!(tool_result(say("c2")).await, expected);
    let asked = asked.lock().unwrap();
    let calls: Vec<_> = asked.iter().filter(|(path, _)| path == "/tools/who").collect();
    assert_eq!(calls, [&("/tools/who".to_owned(), Some("Bearer of-ada-1".to_owned()))]);
}
