//! Every door with every kind of caller (A1 to A8): the routes as they are served, over a config with each kind of rule. Callers are
//! made up, since the server itself knows only one as yet.

use crate::Site;
use crate::compose::Composition;
use crate::router::{AppState, for_callers};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use chat::Caller;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tower::ServiceExt;

/// The kinds of things, the most closed first, with their rules.
const RULES: [(&str, &str); 3] =
    [("editors", "{ roles: [editor, admin] }"), ("members", "protected"), ("open", "{ public: true }")];

/// Who is signed in, with which roles, and how the doors of [`RULES`] answer him.
const CALLERS: [(&str, bool, &[&str], [u16; 3]); 6] = [
    ("nobody", false, &[], [401, 401, 200]),
    ("liar", false, &["admin"], [401, 401, 200]),
    ("member", true, &[], [404, 200, 200]),
    ("reader", true, &["reader"], [404, 200, 200]),
    ("editor", true, &["reader", "editor"], [200, 200, 200]),
    ("admin", true, &["admin"], [200, 200, 200]),
];

/// Nothing has this kind.
const NOWHERE: &str = "nowhere";

static MESSAGES: AtomicUsize = AtomicUsize::new(0);

/// Of each kind: a page, an agent, an endpoint and an internal one. For each endpoint an open one that calls it, and an open agent that
/// has it as its tool and its hook. For each agent an open one that hands it tasks.
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
            let answer = format!("{{ done: {id}, dataParts: [{{ type: data-hook, data: {id} }}] }}");
            let about = format!("type: {of_type}, auth: {rule}, description: Search, payloadSchema: {schema}");
            let _ = writeln!(api, "  - {{ id: {id}, {about}, routine: [{{ ':return': {answer} }}] }}");
            let call = format!("{{ id: s, type: CallEndpoint, properties: {{ endpointId: {id} }} }}");
            let routine = format!("[{call}, {{ ':return': {{ _step: s }} }}]");
            let _ = writeln!(api, "  - {{ id: via_{id}, auth: public, routine: {routine} }}");
            let tools = format!("tools: [{{ endpointId: {id}, name: search_it }}], hooks: {{ onFinish: [{id}] }}");
            let _ = writeln!(agents, "  - {{ id: t_{id}, {agent}, {tools}, auth: public }}");
        }
    }
    format!("connections: [{{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}]\n{api}{agents}{pages}")
}

fn caller((name, is_authenticated, roles): (&str, bool, &[&str])) -> Caller {
    let roles = roles.iter().map(|role| (*role).to_owned()).collect();
    Caller { user_id: name.to_owned(), is_authenticated, roles }
}

/// The routes with what is behind them.
async fn serve(config: &str) -> Router {
    let _ = any_spawner::Executor::init_tokio();
    let loaded = config::load_embedded(&[("chatwright.yaml", config)], &HashMap::<String, String>::new());
    let (config, _) = loaded.unwrap_or_else(|problems| panic!("{}", config::render(&problems)));
    let composition = Arc::new(Composition::new(config, 0, "sqlite::memory:").await.unwrap());
    let metrics = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder().handle();
    for_callers().with_state(AppState { composition, metrics, site: Site { files: |_| None, pages: &[] } })
}

/// One request at a door.
struct Knock {
    method: Method,
    path: String,
    body: Option<Value>,
}

fn get(path: String) -> Knock {
    Knock { method: Method::GET, path, body: None }
}

fn post(path: String, body: Value) -> Knock {
    Knock { method: Method::POST, path, body: Some(body) }
}

/// The status and the whole body.
async fn knock(routes: &Router, caller: &Caller, knock: Knock) -> (u16, String) {
    let mut request = Request::builder().method(knock.method).uri(knock.path);
    if knock.body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT, "application/json");
    }
    let body = knock.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let request = request.extension(caller.clone()).body(body).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// An answer without what was asked for, and without a page's nonce, which is another one each time.
fn comparable(body: &str, kind: &str) -> String {
    let nonce = body.split_once("crossorigin=\"").and_then(|(_, rest)| rest.split_once('"')).map(|(nonce, _)| nonce);
    let body = body.replace(kind, "");
    nonce.map_or(body.clone(), |nonce| body.replace(nonce, ""))
}

fn message(text: &str) -> Value {
    let id = format!("m{}", MESSAGES.fetch_add(1, Ordering::Relaxed));
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] })
}

/// As the AI SDK sends.
fn send(page: &str, agent: &str, conversation: &str, text: &str) -> Knock {
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message(text)] });
    post(format!("/api/agent/{page}/{agent}?conversationId={conversation}"), body)
}

/// As our own pages send.
fn send_from_page(page: &str, agent: &str, conversation: &str) -> Knock {
    let submission = json!({ "kind": "message", "message": message("Hello") });
    let request = json!({ "pageId": page, "agentId": agent, "conversationId": conversation, "submission": submission });
    post("/ui/send".to_owned(), json!({ "request": request }))
}

/// A door to something of a kind. It is given the kind, a new conversation and one that the caller has.
type Door = fn(&str, &str, &str) -> Knock;

const DOORS: [(&str, Door); 15] = [
    ("a page", |kind, _, _| get(format!("/p_{kind}"))),
    ("a page's definition", |kind, _, _| post("/ui/page".to_owned(), json!({ "id": format!("p_{kind}") }))),
    ("a message on a page", |kind, new, _| send(&format!("p_{kind}"), "a_open", new, "Hello")),
    ("a message from a page", |kind, new, _| send_from_page(&format!("p_{kind}"), "a_open", new)),
    ("a stream on a page", |kind, _, own| get(format!("/api/agent/p_{kind}/a_open/{own}/stream"))),
    ("a stop on a page", |kind, _, own| post(format!("/api/agent/p_{kind}/a_open/{own}/stop"), json!({}))),
    ("an endpoint on a page", |kind, _, _| post(format!("/api/endpoints/p_{kind}/e_open"), json!({}))),
    ("an agent", |kind, new, _| send("p_open", &format!("a_{kind}"), new, "Hello")),
    ("an agent from a page", |kind, new, _| send_from_page("p_open", &format!("a_{kind}"), new)),
    ("an agent's stream", |kind, _, own| get(format!("/api/agent/p_open/a_{kind}/{own}/stream"))),
    ("an agent's stop", |kind, _, own| post(format!("/api/agent/p_open/a_{kind}/{own}/stop"), json!({}))),
    ("an agent in a conversation", |kind, _, own| send("p_open", &format!("a_{kind}"), own, "Hello")),
    ("an agent from a page in a conversation", |kind, _, own| send_from_page("p_open", &format!("a_{kind}"), own)),
    ("an agent asked by a program", |kind, _, _| {
        post(
            "/api/runs/invoke".to_owned(),
            json!({ "agent_name": format!("a_{kind}"), "input": { "prompt": "Hello" } }),
        )
    }),
    ("an endpoint", |kind, _, _| post(format!("/api/endpoints/p_open/e_{kind}"), json!({}))),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_door_asks_who_calls() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, expected) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let own = format!("own-{name}");
        assert_eq!(knock(&routes, &caller, send("p_open", "a_open", &own, "Hello")).await.0, 200);
        for (number, (door, at)) in DOORS.iter().enumerate() {
            let missing = knock(&routes, &caller, at(NOWHERE, &format!("{name}-{number}"), &own)).await;
            assert_eq!(missing.0, 404, "{door}, {name}");
            for ((kind, _), expected) in RULES.iter().zip(expected) {
                let new = format!("{name}-{number}-{kind}");
                let (status, body) = knock(&routes, &caller, at(kind, &new, &own)).await;
                let seen = if status == 204 { 200 } else { status };
                assert_eq!(seen, expected, "{door}, {kind}, {name}: {body}");
                if expected == 404 {
                    let (seen, missing) = (comparable(&body, kind), comparable(&missing.1, NOWHERE));
                    assert_eq!(seen, missing, "{door}, {name}: this tells that it is there");
                }
                if expected != 200 {
                    let (status, _) = knock(&routes, &caller, get(format!("/api/conversations/{new}"))).await;
                    assert_eq!(status, 404, "{door}, {name}: something was kept");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn internal_endpoints_are_not_there_from_outside() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, _) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let call =
            async |id: &str| knock(&routes, &caller, post(format!("/api/endpoints/p_open/{id}"), json!({}))).await;
        let missing = call(NOWHERE).await;
        for (kind, _) in RULES {
            assert_eq!(call(&format!("inner_{kind}")).await, missing, "{name}");
        }
    }
}

/// Routines, tools, hooks and agents below agents work for the caller, not for the config.
#[tokio::test(flavor = "multi_thread")]
async fn what_runs_for_a_caller_has_his_rights() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, expected) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        for ((kind, _), expected) in RULES.iter().zip(expected) {
            for id in [format!("e_{kind}"), format!("inner_{kind}")] {
                let done = format!(r#""done":"{id}""#);
                let via = post(format!("/api/endpoints/p_open/via_{id}"), json!({}));
                let (status, body) = knock(&routes, &caller, via).await;
                // A routine that calls what is not there has failed.
                assert_eq!(status, if expected == 404 { 500 } else { expected }, "{id}, {name}");
                assert_eq!(body.contains(&done), expected == 200, "{id}, {name}: {body}");

                let asked = send("p_open", &format!("t_{id}"), &format!("{name}-{id}"), "Search for refunds");
                let (status, stream) = knock(&routes, &caller, asked).await;
                let says = match expected {
                    200 => done.as_str(),
                    401 => r#""errorText":"The user is not signed in.""#,
                    _ => r#""errorText":"There is no such endpoint.""#,
                };
                assert_eq!((status, stream.contains(says)), (200, true), "tool {id}, {name}: {stream}");
                assert_eq!(stream.contains(&done), expected == 200, "tool {id}, {name}: {stream}");
                let told = stream.contains(r#""type":"data-hook""#);
                assert_eq!(told, expected == 200, "hook {id}, {name}: {stream}");
            }
            let asked = send("p_open", &format!("above_{kind}"), &format!("{name}-above-{kind}"), "Search for refunds");
            let (status, stream) = knock(&routes, &caller, asked).await;
            let handed = stream.contains(r#""toolName":"search_desk""#);
            assert_eq!((status, handed), (200, expected == 200), "agent below {kind}, {name}: {stream}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_start_page_is_the_first_that_the_caller_may_open() {
    let check = async |config: &str, expected: [(u16, &str); 6]| {
        let routes = serve(config).await;
        for ((name, is_authenticated, roles, _), (status, id)) in CALLERS.into_iter().zip(expected) {
            let caller = caller((name, is_authenticated, roles));
            let seen = knock(&routes, &caller, post("/ui/page".to_owned(), json!({ "id": null }))).await;
            let page: Value = serde_json::from_str(&seen.1).unwrap_or_default();
            assert_eq!((seen.0, page["id"].as_str().unwrap_or_default()), (status, id), "{name}: {}", seen.1);
            assert_eq!(knock(&routes, &caller, get("/".to_owned())).await.0, status, "{name}");
        }
    };
    let (open, members, editors) = ((200, "p_open"), (200, "p_members"), (200, "p_editors"));
    check(&config(), [open, open, members, members, editors, editors]).await;
    let closed = "pages: [{ id: p_editors, auth: { roles: [editor, admin] } }]";
    check(closed, [(401, ""), (401, ""), (404, ""), (404, ""), editors, editors]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_no_longer_ask_an_agent_still_reads_what_was_said() {
    let routes = serve(&config()).await;
    let (editor, former) = (caller(("ada", true, &["editor"])), caller(("ada", true, &[])));
    assert_eq!(knock(&routes, &editor, send("p_editors", "a_editors", "c", "Hello")).await.0, 200);
    let list = knock(&routes, &former, get("/api/conversations".to_owned())).await;
    assert_eq!((list.0, list.1.contains(r#""id":"c""#)), (200, true), "{}", list.1);
    let check = async |knocked: Knock, expected: u16| {
        let path = knocked.path.clone();
        assert_eq!(knock(&routes, &former, knocked).await.0, expected, "{path}");
    };
    check(get("/api/conversations/c".to_owned()), 200).await;
    check(post("/ui/conversation".to_owned(), json!({ "id": "c" })), 200).await;
    check(post("/ui/watch".to_owned(), json!({ "conversation_id": "c", "after": null })), 200).await;
    check(send("p_open", "a_editors", "c", "And now?"), 404).await;
    check(send_from_page("p_open", "a_editors", "c"), 404).await;
}
