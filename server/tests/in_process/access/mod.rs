//! Access tests: every route with every kind of caller, on a config with each kind of access rule.
//! Callers are put into the requests, except in [`rules::modes`] and [`matrix`].

mod capabilities;
mod chats;
mod inventory;
mod matrix;
mod openapi;
mod rules;
mod screens;

use auth::password::KeyScope;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, header, request};
use chat::Caller;
use serde_json::{Value, json};
use server::testing::TestServer;
use std::collections::HashMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tower::ServiceExt;

/// The kinds of objects with their access rules, the strictest first.
const RULES: [(&str, &str); 3] =
    [("editors", "{ roles: [editor, admin] }"), ("members", "protected"), ("open", "{ public: true }")];

/// The callers: name, whether they are signed in, their roles, and the expected status for each of
/// [`RULES`].
const CALLERS: [(&str, bool, &[&str], [u16; 3]); 6] = [
    ("nobody", false, &[], [401, 401, 200]),
    ("liar", false, &["admin"], [401, 401, 200]),
    ("member", true, &[], [404, 200, 200]),
    ("reader", true, &["reader"], [404, 200, 200]),
    ("editor", true, &["reader", "editor"], [200, 200, 200]),
    ("admin", true, &["admin"], [200, 200, 200]),
];

/// The API key of other platforms.
const KEY: &str = "k3y";

/// A kind and an id that nothing has.
const UNKNOWN_ID: &str = "nowhere";

/// Returns the scope that an API key needs for a method of a path; `None` if API keys cannot be used for it, as for
/// those of a directory below `/scim/`, which has tokens of its own.
fn expected_scope(method: &str, path: &str) -> Option<KeyScope> {
    if path.starts_with("/chat/")
        || path.starts_with("/v1/")
        || path.starts_with("/ag-ui/")
        || path.starts_with("/a2a/")
        || path == "/mcp"
    {
        return Some(KeyScope::Agents);
    }
    match path.strip_prefix("/api/")?.split('/').next()? {
        "agent" | "message-queues" | "models" | "runs" | "tool-apps" | "tool-questions" => Some(KeyScope::Agents),
        "artifact-shares" | "conversations" | "folders" | "memory" | "notifications" | "profile" | "projects"
        | "prompts" | "search" | "shares" | "transcriptions" => Some(KeyScope::Conversations),
        "collections" | "documents" | "endpoints" | "events" | "libraries" | "workflows" => Some(KeyScope::Endpoints),
        "admin" | "mcp" => Some(KeyScope::Admin),
        "skills" => Some(if method.eq_ignore_ascii_case("get") { KeyScope::Agents } else { KeyScope::Admin }),
        "agents" if path.starts_with("/api/agents/definitions") => Some(KeyScope::Admin),
        "agents" => Some(KeyScope::Agents),
        _ => None,
    }
}

static MESSAGES: AtomicUsize = AtomicUsize::new(0);

/// Returns a config with a page, an agent, an endpoint and an internal endpoint of each kind. For
/// each endpoint there are a public one that calls it, a public agent that has it as a tool and as
/// a hook, and one whose policy asks it. For each agent there is a public one that has it as a
/// sub-agent.
fn config() -> String {
    let (mut api, mut agents, mut pages) =
        (String::from("api:\n"), String::from("agents:\n"), String::from("pages:\n"));
    let agent = "type: Agent, connectionId: demo, properties: { model: demo }";
    for (kind, rule) in RULES {
        let _ = writeln!(pages, "  - {{ id: p_{kind}, auth: {rule} }}");
        let _ = writeln!(agents, "  - {{ id: a_{kind}, {agent}, auth: {rule} }}");
        let below = format!("agents: [{{ agentId: a_{kind}, name: search_desk }}]");
        let _ = writeln!(agents, "  - {{ id: above_{kind}, {agent}, {below}, auth: public }}");
        for (id, of_type) in [(format!("e_{kind}"), "Api"), (format!("inner_{kind}"), "InternalApi")] {
            let schema = "{ type: object, properties: { query: { type: string } } }";
            let answer = format!("{{ done: {id}, allow: true, dataParts: [{{ type: data-hook, data: {id} }}] }}");
            let about = format!("type: {of_type}, auth: {rule}, description: Search, payloadSchema: {schema}");
            let _ = writeln!(api, "  - {{ id: {id}, {about}, routine: [{{ ':return': {answer} }}] }}");
            let call = format!("{{ id: s, type: CallEndpoint, properties: {{ endpointId: {id} }} }}");
            let routine = format!("[{call}, {{ ':return': {{ _step: s }} }}]");
            let _ = writeln!(api, "  - {{ id: via_{id}, auth: public, routine: {routine} }}");
            let tools = format!("tools: [{{ endpointId: {id}, name: search_it }}], hooks: {{ onFinish: [{id}] }}");
            let _ = writeln!(agents, "  - {{ id: t_{id}, {agent}, {tools}, auth: public }}");
            let policy = format!("tools: [{{ endpointId: e_open, name: search_it }}], policy: {{ endpoint: {id} }}");
            let _ = writeln!(agents, "  - {{ id: policy_{id}, {agent}, {policy}, auth: public }}");
        }
    }
    let rule = "{ tools: ['*'], roles: [admin], action: allow }";
    let policy =
        format!("tools: [{{ endpointId: e_open, name: search_it }}], policy: {{ rules: [{rule}], default: deny }}");
    let _ = writeln!(agents, "  - {{ id: policy_admin, {agent}, {policy}, auth: public }}");
    format!(
        "connections: [{{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}]\nopenaiApi: {{}}\nagUi: {{}}\na2a: {{}}\n{api}{agents}{pages}"
    )
}

fn caller((name, is_authenticated, roles): (&str, bool, &[&str])) -> Caller {
    let roles = roles.iter().map(|role| (*role).to_owned()).collect();
    Caller::new(name, is_authenticated).with_roles(roles)
}

/// Returns the routes that need a caller.
async fn serve(config: &str) -> Router {
    open(config).await.caller_routes()
}

async fn open(config: &str) -> TestServer {
    let env = HashMap::from([("KEY".to_owned(), KEY.to_owned())]);
    TestServer::from_text(config, &env).await.unwrap_or_else(|problem| panic!("{problem}"))
}

/// Like [`open`], for a config in a file.
async fn open_path(path: &Path) -> TestServer {
    let server = TestServer::from_path(path, &HashMap::<String, String>::new()).await;
    server.unwrap_or_else(|problem| panic!("{problem}"))
}

/// A request to a route.
struct TestRequest {
    method: Method,
    path: String,
    body: Option<Value>,
}

fn get(path: String) -> TestRequest {
    TestRequest { method: Method::GET, path, body: None }
}

fn post(path: String, body: Value) -> TestRequest {
    TestRequest { method: Method::POST, path, body: Some(body) }
}

/// Begins a request from this machine to the whole server.
fn local_request(method: Method, path: &str) -> request::Builder {
    let from = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1)));
    Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1").extension(from)
}

/// Returns the status and the whole body.
async fn call_route(routes: &Router, caller: &Caller, spec: TestRequest) -> (u16, String) {
    let mut request = Request::builder().method(spec.method).uri(spec.path);
    if spec.body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT, "application/json");
    }
    let body = spec.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let request = request.extension(caller.clone()).body(body).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Like [`call_route`], but returns the body as JSON, or as a string if it is none.
async fn ask(routes: &Router, who: &Caller, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
    let (status, body) = call_route(routes, who, TestRequest { method, path: path.to_owned(), body }).await;
    (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
}

/// Removes the requested value from a body, and a page's nonce, which is random.
fn comparable(body: &str, kind: &str) -> String {
    let nonce = body.split_once("nonce=\"").and_then(|(_, rest)| rest.split_once('"')).map(|(nonce, _)| nonce);
    let body = body.replace(kind, "");
    nonce.map_or(body.clone(), |nonce| body.replace(nonce, ""))
}

fn message(text: &str) -> Value {
    let id = format!("m{}", MESSAGES.fetch_add(1, Ordering::Relaxed));
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] })
}

/// Returns a request of the AI SDK to send a message.
fn send(page: &str, agent: &str, conversation: &str, text: &str) -> TestRequest {
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message(text)] });
    post(format!("/api/agent/{page}/{agent}?conversationId={conversation}"), body)
}

/// Returns the request that the AI SDK sends automatically after an answer.
fn send_answers(page: &str, agent: &str, conversation: &str) -> TestRequest {
    let answer = json!({ "id": "answer", "role": "assistant", "parts": [] });
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [answer] });
    post(format!("/api/agent/{page}/{agent}?conversationId={conversation}"), body)
}

/// Returns a request of our own pages to send a message.
fn send_from_page(page: &str, agent: &str, conversation: &str) -> TestRequest {
    let submission = json!({ "kind": "message", "message": message("Hello") });
    let request = json!({ "pageId": page, "agentId": agent, "conversationId": conversation, "submission": submission });
    post("/ui/send".to_owned(), json!({ "request": request }))
}
