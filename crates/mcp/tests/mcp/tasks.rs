//! A server that runs calls as tasks.

use crate::peers::{Peer, address, context, scope_of};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use contract::{CallReport, CallReports, ToolSource};
use mcp::{McpFeatures, McpSettings, McpTransport};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A server and what it has seen.
#[derive(Clone)]
struct Server(Arc<Mutex<Script>>);

/// How a server runs its tasks.
struct Script {
    /// Whether it says that it runs tasks.
    is_declared: bool,
    /// The time until it answers a call.
    delay: Duration,
    /// The states of a task, one for each request; the last one stays. `null` is the end of the session.
    states: Vec<Value>,
    /// The answer to the request for the result: a result, or an error with a code.
    outcome: Value,
    /// The requests, without those that begin a connection.
    seen: Vec<String>,
    /// The `ttl` of the last task.
    ttl: Value,
}

fn working(message: &str) -> Value {
    json!({ "status": "working", "statusMessage": message })
}

fn ended(status: &str, message: Value) -> Value {
    json!({ "status": status, "statusMessage": message })
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn unknown_task() -> Value {
    json!({ "code": -32602, "message": "Failed to retrieve task: Task not found" })
}

/// Returns a task as the protocol has it; it should be asked for as often as possible.
fn task(state: &Value) -> Value {
    let time = "2026-01-01T00:00:00Z";
    let mut task =
        json!({ "taskId": "t-1", "createdAt": time, "lastUpdatedAt": time, "ttl": 60_000, "pollInterval": 1 });
    task.as_object_mut().unwrap().extend(state.as_object().unwrap().clone());
    task
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" }, "execution": { "taskSupport": name } })
}

impl Server {
    fn new(states: Vec<Value>, outcome: Value) -> Self {
        let (seen, ttl, delay) = (Vec::new(), Value::Null, Duration::ZERO);
        Self(Arc::new(Mutex::new(Script { is_declared: true, delay, states, outcome, seen, ttl })))
    }

    fn seen(&self) -> Vec<String> {
        self.0.lock().unwrap().seen.clone()
    }

    /// Waits until the server has seen a request.
    async fn has_seen(&self, request: &str) -> bool {
        for _ in 0..1_200 {
            if self.seen().iter().any(|seen| seen == request) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        false
    }

    /// Starts the server and connects to it.
    async fn connect(&self) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let transport = McpTransport::Http(address(&url));
        let features = McpFeatures::default();
        Peer::new(McpSettings { name: "peer".to_owned(), transport, shared: false, features })
    }

    /// Returns the result of a request, or its error with a code; `null` if the session is over.
    fn respond(&self, method: &str, params: &Value) -> Value {
        let mut script = self.0.lock().unwrap();
        if !["initialize", "tools/list"].contains(&method) {
            script.seen.push(method.to_owned());
        }
        match method {
            "initialize" => {
                let mut capabilities = json!({ "tools": {} });
                if script.is_declared {
                    capabilities["tasks"] = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
                }
                let info = json!({ "name": "peer", "version": "1" });
                json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info })
            }
            "tools/list" => json!({ "tools": [tool("required"), tool("optional"), tool("forbidden")] }),
            "tools/call" if params["task"].is_object() => {
                script.ttl = params["task"]["ttl"].clone();
                json!({ "task": task(&working("Begins")) })
            }
            "tools/call" => text(&format!("{} at once", params["name"].as_str().unwrap())),
            _ if params["taskId"] != "t-1" && method != "ping" => unknown_task(),
            "tasks/get" => {
                let state = if script.states.len() > 1 { script.states.remove(0) } else { script.states[0].clone() };
                if state.get("status").is_some() { task(&state) } else { state }
            }
            "tasks/result" => script.outcome.clone(),
            "tasks/cancel" => task(&ended("cancelled", Value::Null)),
            _ => json!({}),
        }
    }
}

async fn answer(State(server): State<Server>, body: String) -> Response {
    let message: Value = serde_json::from_str(&body).unwrap_or_default();
    let Some(method) = message["method"].as_str() else { return StatusCode::METHOD_NOT_ALLOWED.into_response() };
    if message.get("id").is_none() {
        return StatusCode::ACCEPTED.into_response();
    }
    if method == "tools/call" {
        let delay = server.0.lock().unwrap().delay;
        tokio::time::sleep(delay).await;
    }
    let answer = server.respond(method, &message["params"]);
    if answer.is_null() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let key = if answer.get("code").is_some() { "error" } else { "result" };
    Json(json!({ "jsonrpc": "2.0", "id": message["id"], key: answer })).into_response()
}

#[tokio::test]
async fn only_tools_that_require_it_are_called_as_tasks() {
    let server = Server::new(vec![ended("completed", Value::Null)], text("required as a task"));
    let peer = server.connect().await;
    assert_eq!(peer.names().await, ["forbidden", "optional", "required"]);
    let check = async |tool: &str, expected: &str, requests: &[&str]| {
        server.0.lock().unwrap().seen.clear();
        assert_eq!(peer.call(tool, json!({})).await, Ok(json!(expected)), "{tool}");
        assert_eq!(server.seen(), requests, "{tool}");
    };
    check("optional", "optional at once", &["tools/call"]).await;
    check("forbidden", "forbidden at once", &["tools/call"]).await;
    check("required", "required as a task", &["tools/call", "tasks/get", "tasks/result"]).await;
    // The timeout of a call, and the time for which it may wait for the user.
    assert_eq!(server.0.lock().unwrap().ttl, 620_000);
}

#[tokio::test]
async fn server_that_does_not_say_that_it_runs_tasks_gets_none() {
    let server = Server::new(vec![ended("completed", Value::Null)], text("done"));
    server.0.lock().unwrap().is_declared = false;
    let peer = server.connect().await;
    assert_eq!(peer.names().await, ["forbidden", "optional"]);
    let left_out = peer.source.tools(&scope_of("ada")).await.unwrap().left_out;
    let left_out: Vec<_> = left_out.iter().map(|tool| format!("{}: {}", tool.name, tool.reason)).collect();
    assert_eq!(left_out, ["required: it can only be called as a task, and its server does not say that it runs tasks"]);
}

#[tokio::test]
async fn messages_about_a_task_are_shown_as_progress() {
    let states = vec![working("Begins"), working("Wri\u{200b}tes"), ended("completed", json!("Is done"))];
    let peer = Server::new(states, text("done")).connect().await;
    let (reports, mut shown) = mpsc::channel(8);
    let mut followed = context();
    followed.reports = CallReports::new("call", reports);
    assert_eq!(peer.call_as("ada", "required", json!({}), followed).await, Ok(json!("done")));
    let mut seen = Vec::new();
    while let Ok((_, report)) = shown.try_recv() {
        let CallReport::Progress(progress) = report else { panic!("{report:?}") };
        seen.push(progress);
    }
    let told = |at: u64, message: &str| json!({ "progress": at, "message": message });
    assert_eq!(seen, [told(1, "Begins"), told(2, "Writes"), told(3, "Is done")]);
}

#[tokio::test]
async fn tasks_without_a_result_are_failures_that_the_model_reads() {
    let check = async |state: Value, outcome: Value, expected: &str| {
        let server = Server::new(vec![state.clone()], outcome);
        let peer = server.connect().await;
        let answer = peer.call("required", json!({})).await;
        assert_eq!(answer.unwrap_err(), expected, "{state}");
        assert_eq!(peer.call("optional", json!({})).await, Ok(json!("optional at once")), "{state}");
        let calls = server.seen().iter().filter(|seen| *seen == "tools/call").count();
        assert_eq!(calls, 2, "{state}: the task is not made again");
    };
    let no_result = |why: &str| format!("The task has no result: {why}. The call may or may not have had an effect.");
    let failed = || ended("failed", Value::Null);
    let error = json!({ "isError": true, "content": [{ "type": "text", "text": "Out of paper" }] });
    check(failed(), error, "Out of paper").await;
    check(failed(), text("Out of ink"), "Out of ink").await;
    let broken = json!({ "code": -32603, "message": "It broke." });
    check(failed(), broken, &no_result("It broke")).await;
    check(ended("cancelled", json!("Too late.")), json!({}), &no_result("Too late")).await;
    check(ended("cancelled", Value::Null), json!({}), &no_result("the server has cancelled it")).await;
    // It was kept for too short a time, or the server was restarted.
    let forgotten = no_result("Failed to retrieve task: Task not found");
    check(unknown_task(), json!({}), &forgotten).await;
    check(ended("completed", Value::Null), unknown_task(), &forgotten).await;
    let odd = no_result("the server's answer does not say what its state is");
    check(json!({ "status": "unheard" }), json!({}), &odd).await;
    check(json!({}), json!({}), &odd).await;
    let no_tool_result = "The server's answer is not the result of a tool call.";
    check(ended("completed", Value::Null), json!({ "other": 1 }), no_tool_result).await;
    let lost = "The connection to `peer` ended before there was a result. The call may or may not have had an effect.";
    check(Value::Null, json!({}), lost).await;
}

#[tokio::test]
async fn stopped_call_cancels_its_task() {
    let check = async |delay: u64, stopped_after: u64| {
        let server = Server::new(vec![working("Goes on")], text("never"));
        server.0.lock().unwrap().delay = Duration::from_millis(delay);
        let peer = server.connect().await;
        // So that the connection is open.
        peer.names().await;
        let given_up = context();
        let stop = given_up.cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(stopped_after)).await;
            stop.cancel();
        });
        let answer = peer.call_as("ada", "required", json!({}), given_up).await;
        assert_eq!(answer.unwrap_err(), "Stopped before it finished. It may or may not have had an effect.", "{delay}");
        assert!(server.has_seen("tasks/cancel").await, "{delay}: {:?}", server.seen());
        assert_eq!(peer.call("optional", json!({})).await, Ok(json!("optional at once")), "{delay}");
    };
    check(0, 2_000).await;
    // Before the server has named the task.
    check(3_000, 500).await;
}

#[tokio::test]
async fn tasks_that_may_go_on_without_a_result_are_cancelled() {
    let refusal = json!({ "code": -32000, "message": "Too busy" });
    let check = async |state: Value| {
        let server = Server::new(vec![state.clone()], refusal.clone());
        let peer = server.connect().await;
        let answer = peer.call("required", json!({})).await;
        let expected = "The task has no result: Too busy. The call may or may not have had an effect.";
        assert_eq!(answer.unwrap_err(), expected, "{state}");
        assert!(server.has_seen("tasks/cancel").await, "{state}: {:?}", server.seen());
    };
    // The state is not told.
    check(refusal.clone()).await;
    // The result is not told while the task waits for the user.
    check(ended("input_required", Value::Null)).await;
}
