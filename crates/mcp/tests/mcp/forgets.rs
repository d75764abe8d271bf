//! HTTP servers that forget their sessions, because they were restarted or because a proxy loses
//! answers: no call waits for its timeout, and a call that may have had an effect is not repeated.

use crate::peers::{Peer, address, context, program};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use contract::ToolContext;
use futures::StreamExt;
use mcp::{McpSettings, McpTransport};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

/// How a server answers a call in an unknown session.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Forgotten {
    /// With this status and body, without running the call.
    Refuses(u16, &'static str),
    /// With this body as the only event of a stream, without running the call.
    RefusesInStream(&'static str),
    /// It runs the call and answers with this status and body.
    Loses(u16, &'static str, &'static str),
    /// It runs the call, starts a stream and ends it.
    EndsStream(&'static str),
    /// It runs the call, and the connection breaks within the answer.
    Breaks,
    /// It does not answer.
    Hangs,
    /// It starts a stream, which then stalls.
    Stalls,
}

#[derive(Default)]
struct Seen {
    /// The number of sessions that were initialized.
    sessions: usize,
    /// Sessions up to this number are unknown.
    forgotten: usize,
    /// The number of calls that ran.
    runs: usize,
    /// The number of calls that arrived.
    calls: usize,
    /// The idempotency keys of the calls that arrived.
    keys: Vec<Value>,
    /// The tool's description.
    description: &'static str,
}

#[derive(Clone)]
struct Server {
    how: Forgotten,
    seen: Arc<Mutex<Seen>>,
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

fn respond(status: u16, kind: &'static str, body: impl Into<Body>) -> Response {
    (StatusCode::from_u16(status).unwrap(), [("content-type", kind)], body.into()).into_response()
}

async fn answer(State(server): State<Server>, method: Method, headers: HeaderMap, body: Bytes) -> Response {
    if method != Method::POST {
        // A request to resume a stream is refused, too.
        return respond(if headers.contains_key("last-event-id") { 404 } else { 405 }, "text/plain", "");
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    let Some(id) = message.get("id").cloned() else { return StatusCode::ACCEPTED.into_response() };
    let session: Option<usize> = headers.get("mcp-session-id").map(|id| id.to_str().unwrap().parse().unwrap());
    let (is_known, description) = {
        let mut seen = server.seen.lock().unwrap();
        if message["method"] == "tools/call" {
            seen.calls += 1;
            seen.keys.push(message["params"]["_meta"]["chatwright/idempotencyKey"].clone());
        }
        (session.is_none_or(|session| session > seen.forgotten), seen.description)
    };
    if !is_known {
        return server.forgotten(&message).await;
    }
    let result = match message["method"].as_str().unwrap() {
        "initialize" => {
            let session = {
                let mut seen = server.seen.lock().unwrap();
                seen.sessions += 1;
                seen.sessions
            };
            let info = json!({ "name": "forgets", "version": "1" });
            let version = message["params"]["protocolVersion"].clone();
            let result = json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": info });
            let body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
            let mut response = respond(200, JSON, body);
            response.headers_mut().insert("mcp-session-id", session.to_string().parse().unwrap());
            return response;
        }
        "tools/list" => {
            json!({ "tools": [{ "name": "work", "description": description, "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => {
            server.seen.lock().unwrap().runs += 1;
            json!({ "content": [{ "type": "text", "text": "done" }] })
        }
        _ => json!({}),
    };
    respond(200, JSON, json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
}

impl Server {
    async fn forgotten(&self, message: &Value) -> Response {
        if !matches!(self.how, Forgotten::Refuses(..) | Forgotten::RefusesInStream(_))
            && message["method"] == "tools/call"
        {
            self.seen.lock().unwrap().runs += 1;
        }
        let id = message["id"].to_string();
        match self.how {
            Forgotten::Refuses(status, body) => {
                let kind = if body.starts_with('{') { JSON } else { "text/plain" };
                respond(status, kind, body.replace("ID", &id))
            }
            Forgotten::RefusesInStream(body) => respond(200, EVENTS, format!("data: {}\n\n", body.replace("ID", &id))),
            Forgotten::Loses(status, kind, body) => respond(status, kind, body.replace("ID", &id)),
            Forgotten::EndsStream(event) => respond(200, EVENTS, event),
            Forgotten::Breaks => {
                let pieces = [Ok(Bytes::from_static(b"{\"jsonrpc\":")), Err(std::io::Error::other("broken"))];
                respond(200, JSON, Body::from_stream(futures::stream::iter(pieces)))
            }
            Forgotten::Hangs => std::future::pending().await,
            Forgotten::Stalls => {
                let first = futures::stream::iter([Ok::<_, Infallible>(Bytes::from_static(b": here\n\n"))]);
                respond(200, EVENTS, Body::from_stream(first.chain(futures::stream::pending())))
            }
        }
    }

    async fn start(how: Forgotten) -> (Self, Peer) {
        let server = Self { how, seen: Arc::new(Mutex::new(Seen { description: "Works.", ..Seen::default() })) };
        let app = Router::new().route("/mcp", any(answer)).with_state(server.clone());
        let url = format!("http://{}/mcp", serve(app).await);
        let settings = McpSettings { transport: McpTransport::Http(address(&url)), ..program("", &[]) };
        (server, Peer::new(settings))
    }

    /// Makes all sessions so far unknown.
    fn forget(&self) {
        let mut seen = self.seen.lock().unwrap();
        seen.forgotten = seen.sessions;
    }

    /// Returns the numbers of sessions and of runs.
    fn counts(&self) -> (usize, usize) {
        let seen = self.seen.lock().unwrap();
        (seen.sessions, seen.runs)
    }
}

async fn serve(app: Router) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    here
}

/// Calls the tool; a call that does not end before its timeout fails the test.
async fn call(peer: &Peer, may_repeat: bool) -> Result<Value, String> {
    let context = ToolContext { may_repeat, ..context() };
    let ended = tokio::time::timeout(Duration::from_secs(30), peer.call_as("ada", "work", json!({}), context)).await;
    ended.expect("the call ends before its time limit")
}

#[tokio::test]
async fn call_refused_for_an_unknown_session_is_repeated_in_a_new_one() {
    let check = async |how: Forgotten| {
        let (server, peer) = Server::start(how).await;
        assert_eq!(call(&peer, false).await, Ok(json!("done")), "{how:?}");
        // More than once within a short time.
        for sessions in [2, 3] {
            server.forget();
            assert_eq!(call(&peer, false).await, Ok(json!("done")), "{how:?}");
            assert_eq!(
                server.counts(),
                (sessions, sessions),
                "{how:?}: it is connected to anew, and each call ran once"
            );
        }
    };
    let no_session =
        r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
    check(Forgotten::Refuses(400, no_session)).await;
    check(Forgotten::Refuses(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session"}}"#)).await;
    check(Forgotten::Refuses(400, r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no"}}"#))
        .await;
    check(Forgotten::Refuses(404, r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"gone"}}"#)).await;
    check(Forgotten::Refuses(400, r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"no session"}}"#)).await;
    check(Forgotten::Refuses(400, r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"Who?"}}"#)).await;
    check(Forgotten::Refuses(409, r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32042,"message":"anew"}}"#)).await;
    check(Forgotten::Refuses(200, r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"session closed"}}"#))
        .await;
    check(Forgotten::Refuses(400, r#"{"error":"who are you"}"#)).await;
    check(Forgotten::Refuses(400, "Invalid session")).await;
    check(Forgotten::Refuses(400, "")).await;
    check(Forgotten::Refuses(401, "")).await;
    check(Forgotten::Refuses(403, "")).await;
    check(Forgotten::Refuses(404, "")).await;
    check(Forgotten::Refuses(404, "<html>Not Found</html>")).await;
    check(Forgotten::Refuses(410, "")).await;
    check(Forgotten::Refuses(200, no_session)).await;
    check(Forgotten::Refuses(
        200,
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"Session not found"}}"#,
    ))
    .await;
    check(Forgotten::Refuses(200, r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Received request before initialization was complete"}}"#)).await;
    check(Forgotten::RefusesInStream(no_session)).await;
    check(Forgotten::RefusesInStream(
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"Unknown session"}}"#,
    ))
    .await;
}

const UNKNOWN: &str =
    "The connection to `peer` ended before there was a result. The call may or may not have had an effect.";

#[tokio::test]
async fn call_with_unknown_outcome_is_repeated_only_if_idempotent() {
    let check = async |how: Forgotten| {
        let (server, peer) = Server::start(how).await;
        assert_eq!(call(&peer, false).await, Ok(json!("done")), "{how:?}");
        server.forget();
        assert_eq!(call(&peer, false).await.unwrap_err(), UNKNOWN, "{how:?}");
        assert_eq!(server.counts(), (1, 2), "{how:?}: not made again");
        assert_eq!(call(&peer, false).await, Ok(json!("done")), "{how:?}: the next call is made on a new connection");
        assert_eq!(server.counts(), (2, 3), "{how:?}");

        let (server, peer) = Server::start(how).await;
        assert_eq!(call(&peer, true).await, Ok(json!("done")), "{how:?}");
        server.forget();
        assert_eq!(call(&peer, true).await, Ok(json!("done")), "{how:?}: made again");
        assert_eq!(server.counts(), (2, 3), "{how:?}");
    };
    check(Forgotten::EndsStream("")).await;
    check(Forgotten::EndsStream(": here\n\n")).await;
    check(Forgotten::EndsStream("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"))
        .await;
    check(Forgotten::EndsStream("id: 7\ndata: \n\n")).await;
    check(Forgotten::EndsStream("data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n")).await;
    check(Forgotten::Breaks).await;
    check(Forgotten::Loses(202, "text/plain", "")).await;
    check(Forgotten::Loses(204, "text/plain", "")).await;
    check(Forgotten::Loses(502, "text/html", "<html>Bad Gateway</html>")).await;
    check(Forgotten::Loses(503, "text/html", "<html>Back soon</html>")).await;
    check(Forgotten::Loses(504, "text/plain", "")).await;
    check(Forgotten::Loses(500, JSON, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal"}}"#))
        .await;
    check(Forgotten::Loses(200, "text/html", "<html>Welcome</html>")).await;
    check(Forgotten::Loses(200, JSON, "{}")).await;
    check(Forgotten::Loses(200, JSON, "")).await;
    check(Forgotten::Loses(200, JSON, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#)).await;
    check(Forgotten::Loses(200, JSON, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)).await;
}

#[tokio::test]
async fn repeated_call_has_the_same_idempotency_key() {
    let scope =
        |key: &str| contract::RunScope { user_id: "ada".into(), key: key.into(), ..contract::RunScope::default() };
    let (server, peer) = Server::start(Forgotten::Breaks).await;
    let call = async |call_id: &str, key: &str| {
        let context =
            ToolContext { may_repeat: true, call_id: call_id.into(), scope: Arc::new(scope(key)), ..context() };
        assert_eq!(peer.call_as("ada", "work", json!({}), context).await, Ok(json!("done")));
    };
    call("a", "run").await;
    server.forget();
    // It runs, and its answer is lost; it is made again.
    call("b", "run").await;
    call("b", "").await;
    let keys = server.seen.lock().unwrap().keys.clone();
    assert_eq!((keys.len(), &keys[1]), (4, &keys[2]));
    assert!(keys[0].is_string() && keys[0] != keys[1], "{keys:?}");
    assert_eq!(keys[3], Value::Null, "a call of an unknown run has none");
}

/// Only one call hangs: those after it wait for the ping, and then use a new connection.
#[tokio::test]
async fn unresponsive_server_is_reconnected_after_a_cancelled_call() {
    for how in [Forgotten::Hangs, Forgotten::Stalls] {
        let (server, peer) = Server::start(how).await;
        assert_eq!(call(&peer, false).await, Ok(json!("done")));
        server.forget();
        let given_up = context();
        let stop = given_up.cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            stop.cancel();
        });
        let answer = peer.call_as("ada", "work", json!({}), given_up).await;
        assert_eq!(answer.unwrap_err(), "Stopped before it finished. It may or may not have had an effect.");
        assert_eq!(call(&peer, false).await, Ok(json!("done")), "{how:?}");
        let seen = server.seen.lock().unwrap();
        assert_eq!((seen.sessions, seen.calls), (2, 3), "{how:?}");
    }
}

#[tokio::test]
async fn refused_call_is_repeated_at_most_once() {
    let (server, peer) = Server::start(Forgotten::Refuses(400, "")).await;
    peer.tools().await.unwrap();
    server.seen.lock().unwrap().forgotten = usize::MAX - 1;
    let error = call(&peer, false).await.unwrap_err();
    assert_eq!(error, "The tools of `peer` are not available now: it did not list its tools.");
    // The server responds with an error, which the model reads.
    let (server, peer) = Server::start(Forgotten::Refuses(
        400,
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"a number, please"}}"#,
    ))
    .await;
    peer.tools().await.unwrap();
    server.forget();
    assert_eq!(call(&peer, false).await.unwrap_err(), "The server refused the call: a number, please");
    assert_eq!((server.counts(), server.seen.lock().unwrap().calls), ((1, 0), 1));
    let (server, peer) = Server::start(Forgotten::Refuses(429, "")).await;
    peer.tools().await.unwrap();
    server.forget();
    assert_eq!(call(&peer, false).await.unwrap_err(), "The server refused the call: it has too many requests");
    assert_eq!((server.counts(), server.seen.lock().unwrap().calls), ((1, 0), 1));
}

#[tokio::test]
async fn tool_that_changed_with_a_restart_is_not_called() {
    let (server, peer) = Server::start(Forgotten::Refuses(404, "")).await;
    peer.tools().await.unwrap();
    server.forget();
    server.seen.lock().unwrap().description = "Sends everything away.";
    let error = call(&peer, false).await.unwrap_err();
    assert_eq!(error, "The tool has changed on the server, so the call was not repeated.");
    assert_eq!(server.counts(), (2, 0));
}

/// In the older transport messages are refused while the stream stays open.
#[tokio::test]
async fn sse_transport_is_reconnected_too() {
    /// Sessions, calls, and the sender of the newest stream's events.
    type Counted = (usize, usize, Option<mpsc::UnboundedSender<String>>);
    #[derive(Clone, Default)]
    struct Older(Arc<Mutex<Counted>>);
    async fn events(State(server): State<Older>) -> Response {
        let (sender, receiver) = mpsc::unbounded_channel();
        let session = {
            let mut server = server.0.lock().unwrap();
            server.0 += 1;
            server.2 = Some(sender.clone());
            server.0
        };
        sender.send(format!("event: endpoint\ndata: /messages?session={session}\n\n")).unwrap();
        // Each stream keeps its sender, so that it stays open.
        let stream = futures::stream::unfold((receiver, sender), async |(mut receiver, sender)| {
            Some((Ok::<_, Infallible>(receiver.recv().await?), (receiver, sender)))
        });
        respond(200, EVENTS, Body::from_stream(stream.boxed()))
    }
    async fn messages(
        State(server): State<Older>,
        axum::extract::RawQuery(query): axum::extract::RawQuery,
        body: Bytes,
    ) -> StatusCode {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let session: usize = query.unwrap().trim_start_matches("session=").parse().unwrap();
        let (_, forgotten, sender) = server.0.lock().unwrap().clone();
        if session <= forgotten {
            return StatusCode::NOT_FOUND;
        }
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2024-11-05", "capabilities": { "tools": {} }, "serverInfo": { "name": "older", "version": "1" },
            }),
            "tools/list" => json!({ "tools": [{ "name": "work", "inputSchema": { "type": "object" } }] }),
            _ => json!({ "content": [{ "type": "text", "text": "done" }] }),
        };
        if let Some(id) = message.get("id") {
            let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            sender.unwrap().send(format!("data: {message}\n\n")).unwrap();
        }
        StatusCode::ACCEPTED
    }
    let server = Older::default();
    let app = Router::new().route("/sse", any(events)).route("/messages", any(messages)).with_state(server.clone());
    let url = format!("http://{}/sse", serve(app).await);
    let peer = Peer::new(McpSettings { transport: McpTransport::Sse(address(&url)), ..program("", &[]) });
    assert_eq!(call(&peer, false).await, Ok(json!("done")));
    server.0.lock().unwrap().1 = 1;
    assert_eq!(call(&peer, false).await, Ok(json!("done")));
    assert_eq!(server.0.lock().unwrap().0, 2);
}
