//! Endpoints that are served to other agent platforms, and `chatwright check-agent`.

use crate::process::Server;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use axum::{Json, Router};
use contract::{CallReports, ModelUse, RunScope, Tool, ToolContext};
use remote_agents::{RemoteAgent, RemoteAgentSettings};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const KEY: &str = "key-canary-1";

const API: &str = r#"
connections:
  - { id: kb, type: Sql, properties: { url: "sqlite::memory:", init: "create table articles (title text); insert into articles values ('Refunds'), ('Returns')" } }
api:
  - id: articles/search
    description: Finds articles.
    payloadSchema:
      type: object
      additionalProperties: false
      required: [query]
      properties:
        query: { type: string, description: What to look for., minLength: 2 }
        limit: { type: integer, description: How many., default: 5 }
    routine:
      - { id: found, type: SqlQuery, connectionId: kb, properties: { query: "select title from articles where title like '%' || :q || '%' limit :n", parameters: { q: { _payload: query }, n: { _if: { test: { _payload: limit }, then: { _payload: limit }, else: 5 } } } } }
      - { ":return": { articles: { _step: found } } }
  - { id: who, description: Says who asks., payloadSchema: { type: object }, routine: [{ ":return": { _user: id } }] }
  - id: remove
    description: Removes an article.
    payloadSchema: { type: object, properties: { title: { type: string, description: Which one. } }, required: [title] }
    routine:
      - { ":if": { _eq: [{ _payload: title }, none] }, ":then": [{ ":reject": "There is no such article." }] }
      - { ":if": { _eq: [{ _payload: title }, boom] }, ":then": [{ id: x, type: SqlExecute, connectionId: kb, properties: { query: "delete from nowhere" } }] }
      - { id: gone, type: SqlExecute, connectionId: kb, properties: { query: "delete from articles where title = :t", parameters: { t: { _payload: title } } } }
  - { id: about, routine: [{ id: n, type: SqlQuery, connectionId: kb, properties: { query: "select count(*) as articles from articles" } }, { ":return": { counts: { _step: n } } }] }
  - { id: hidden, description: Not for others., payloadSchema: { type: object }, routine: [{ ":return": secret }] }
"#;

const SERVE_SECTION: &str = "
serveAsRemoteAgent:
  endpoints: [articles/search, who, { endpointId: remove, confirm: true, visibleParameters: [title] }]
  apiKey: { _secret: AGENT_KEY }
  resource: about
";

/// Starts a server with this config; the folder must outlive it.
fn serve(config: &str) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with_env(&[("AGENT_KEY", KEY)], &["--config", folder.path().to_str().unwrap()]);
    (server, folder)
}

/// Returns our own client of the contract.
fn client(server: &Server, key: &str) -> RemoteAgent {
    let settings = RemoteAgentSettings {
        base_url: format!("{}/remote-agent", server.origin).parse().unwrap(),
        api_key: key.into(),
        user_token: None,
        variables: Vec::new(),
        user_variables: None,
        prefix: None,
        allow_private: true,
        call_time: Duration::from_secs(10),
    };
    RemoteAgent::new(settings).unwrap()
}

fn tool_context() -> ToolContext {
    let [call_id, user_id, conversation_id] = ["1", "ada", "c"].map(str::to_owned);
    ToolContext {
        call_id,
        scope: std::sync::Arc::new(RunScope { user_id, conversation_id, ..RunScope::default() }),
        cancel: CancellationToken::new(),
        reports: CallReports::default(),
        may_repeat: false,
        models: ModelUse::default(),
    }
}

#[tokio::test]
async fn own_client_discovers_and_calls_tools() {
    let (server, _folder) = serve(&format!("{API}{SERVE_SECTION}"));
    let agent = client(&server, KEY);
    let found = agent.discover().await.unwrap();
    assert_eq!(found.warnings, Vec::<String>::new());
    let listed = found.tools.iter().map(|tool| {
        let spec = tool.spec();
        let (asks, shows) = (spec.needs_approval, tool.visible_parameters());
        format!("{} {asks} {shows:?} {:?} {}", spec.name, spec.description, spec.input_schema)
    });
    insta::assert_snapshot!(listed.collect::<Vec<_>>().join("\n"), @r#"
    articles__search false None "Finds articles." {"type":"object","properties":{"query":{"type":"string","description":"What to look for."},"limit":{"type":"number","description":"How many. A whole number.","default":5}},"required":["query"],"additionalProperties":false}
    who false None "Says who asks." {"type":"object","properties":{},"additionalProperties":false}
    remove true Some(["title"]) "Removes an article." {"type":"object","properties":{"title":{"type":"string","description":"Which one."}},"required":["title"],"additionalProperties":false}
    "#);

    let call = async |name: &str, input: Value| {
        let tool = found.tools.iter().find(|tool| tool.spec().name == name).unwrap();
        tool.call(input, tool_context()).await.map_or_else(|error| format!("error: {error}"), |value| value.to_string())
    };
    let check = async |name: &str, input: Value, expected: &str| {
        assert_eq!(call(name, input.clone()).await, expected, "{name} {input}");
    };
    let both = r#"{"type":"mixed","data":{"articles":[{"title":"Refunds"},{"title":"Returns"}]}}"#;
    check("articles__search", json!({ "query": "Re" }), both).await;
    let one = r#"{"type":"mixed","data":{"articles":[{"title":"Refunds"}]}}"#;
    check("articles__search", json!({ "query": "Re", "limit": 1 }), one).await;
    let short = r#"error: The tool failed: "R" is shorter than 2 characters; code 422; Field: /query."#;
    check("articles__search", json!({ "query": "R" }), short).await;
    check("who", json!({}), r#""remote-agent""#).await;
    let rejected = "error: The tool failed: There is no such article; code 422.";
    check("remove", json!({ "title": "none" }), rejected).await;
    let failed = "error: The tool failed: This could not be done right now. Try again; code 500.";
    check("remove", json!({ "title": "boom" }), failed).await;
    check("remove", json!({ "title": "Returns" }), r#""Done.""#).await;
    check("articles__search", json!({ "query": "Re" }), one).await;
    assert_eq!(agent.resource(&RunScope::default()).await.as_deref(), Some(r#"{"counts":[{"articles":1}]}"#));

    let refused = client(&server, "another key").discover().await.err().unwrap();
    assert_eq!(refused, "the list of tools: The x-api-key is missing or wrong; code 401");
    assert_eq!(client(&server, "another key").resource(&RunScope::default()).await, None);
}

#[tokio::test]
async fn errors_have_the_shape_of_the_contract() {
    let (server, _folder) = serve(&format!("{API}{SERVE_SECTION}"));
    let check = async |request: RequestBuilder, status: u16, message: &str| {
        let seen = format!("{request:?}");
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{seen}");
        let body: Value = answer.json().await.unwrap();
        let error = json!({ "message": message, "code": status, "details": "" });
        assert_eq!(body, json!({ "success": false, "error": error }), "{seen}");
    };
    let post = |path: &str| server.request(Method::POST, &format!("/remote-agent/{path}")).header("x-api-key", KEY);
    let wrong = "The x-api-key is missing or wrong.";
    let list = || server.request(Method::GET, "/remote-agent/tools");
    check(list(), 401, wrong).await;
    check(list().header("x-api-key", "key-canary-2"), 401, wrong).await;
    check(list().header("x-api-key", KEY).header("x-api-key", KEY), 401, wrong).await;
    check(server.request(Method::POST, "/remote-agent/tools/who"), 401, wrong).await;
    check(server.request(Method::POST, "/remote-agent/tools/none"), 401, wrong).await;
    check(server.request(Method::POST, "/remote-agent/resource"), 401, wrong).await;
    for name in ["none", "hidden", "articles%2Fsearch", "about"] {
        check(post(&format!("tools/{name}")), 404, "Tool not found").await;
    }
    check(post("tools/who").body("{"), 400, "The request is not valid JSON.").await;
    let answer = post("tools/who").body(r#"{"userId":"eve","chatId":1}"#).send().await.unwrap();
    let expected = json!({ "success": true, "responseType": "text", "data": { "text": "remote-agent" } });
    assert_eq!(answer.json::<Value>().await.unwrap(), expected);
    let elsewhere = post("tools/who").header("origin", "https://evil.test").send().await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::FORBIDDEN);
    // One byte over the limit, without a declared length. It is the last request, since its
    // connection is closed.
    let chunks = std::iter::repeat_n("x".repeat(1 << 16), 16).chain(["x".to_owned()]);
    let streamed = reqwest::Body::wrap_stream(futures::stream::iter(chunks.map(Ok::<_, std::io::Error>)));
    check(post("tools/who").body(streamed), 413, "The request is too large.").await;
}

#[tokio::test]
async fn endpoints_follow_config_changes() {
    let (server, folder) = serve(API);
    let status = async || {
        let list = server.request(Method::GET, "/remote-agent/tools").header("x-api-key", KEY);
        list.send().await.unwrap().status().as_u16()
    };
    let becomes = async |expected: u16| {
        let begun = Instant::now();
        while status().await != expected {
            assert!(begun.elapsed() < Duration::from_secs(60), "the status is never {expected}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert_eq!(status().await, 404);
    for path in ["tools/who", "resource"] {
        let post = server.request(Method::POST, &format!("/remote-agent/{path}")).header("x-api-key", KEY);
        assert_eq!(post.send().await.unwrap().status(), StatusCode::NOT_FOUND, "{path}");
    }
    let file = folder.path().join("chatwright.yaml");
    std::fs::write(&file, format!("{API}{SERVE_SECTION}")).unwrap();
    becomes(200).await;
    std::fs::write(&file, API).unwrap();
    becomes(404).await;
}

/// Returns the exit code and the output of `chatwright check-agent` for the server at an origin.
async fn run_check_agent(origin: &str, more: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chatwright"));
    command.args(["check-agent", &format!("{origin}/remote-agent")]).args(more);
    command.env("AGENT_KEY", KEY).env("WRONG_KEY", "wrong").env_remove("NO_KEY");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let [printed, failed] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(!printed.contains(KEY) && !failed.contains(KEY), "{printed}{failed}");
    format!("exit {}\n{printed}{failed}", output.status.code().unwrap()).replace(origin, "ORIGIN")
}

#[tokio::test]
async fn check_agent_accepts_our_own_server() {
    let (server, _folder) = serve(&format!("{API}{SERVE_SECTION}"));
    let with_key = ["--allow-private", "--api-key-env", "AGENT_KEY"];
    insta::assert_snapshot!(run_check_agent(&server.origin, &with_key).await, @"
    exit 0
    ORIGIN/remote-agent
      articles__search — Finds articles.
        query: string, required — What to look for.
        limit: number — How many. A whole number.
      who — Says who asks.
      remove (asks first and shows title) — Removes an article.
        title: string, required — Which one.
    ok    GET /tools lists 3 tools
    ok    an unknown tool has the status 404
    ok    POST /resource answers
    ok    GET /tools with a wrong key has the status 401
    ok    POST /tools/{name} with a wrong key has the status 401
    ok    POST /resource with a wrong key has the status 401
    the server follows the contract
    ");
    insta::assert_snapshot!(run_check_agent(&server.origin, &["--allow-private"]).await, @"
    exit 1
    ORIGIN/remote-agent
    wrong the list of tools: The x-api-key is missing or wrong; code 401
    note  the checks that need a valid key were skipped
    ok    GET /tools with a wrong key has the status 401
    ok    POST /tools/{name} with a wrong key has the status 401
    ok    POST /resource with a wrong key has the status 401
    note  no API key was sent; `--api-key-env NAME` sends the key in the variable NAME
    1 problem found
    ");
    insta::assert_snapshot!(run_check_agent(&server.origin, &["--allow-private", "--api-key-env", "NO_KEY"]).await, @"
    exit 1
    chatwright: the environment variable `NO_KEY` is not set
    ");
    insta::assert_snapshot!(run_check_agent(&server.origin, &["--api-key-env", "AGENT_KEY"]).await, @"
    exit 1
    chatwright: ORIGIN/remote-agent: the agent's URL must begin with https://, unless private addresses are allowed
    ");
    insta::assert_snapshot!(run_check_agent("https://127.0.0.1:9", &["--api-key-env", "AGENT_KEY"]).await, @"
    exit 1
    chatwright: ORIGIN/remote-agent: the address is not public, and the connection does not allow private addresses
    ");
}

/// A remote agent that accepts every key and tool name and describes little.
async fn careless_agent(uri: Uri) -> Response {
    let text = |description: &str| json!({ "type": "string", "description": description });
    match uri.path() {
        "/remote-agent/tools" => Json(json!({ "tools": [
            { "name": "good", "description": "Works. key-canary-1", "parameters": { "type": "object", "properties": { "q": text("What.") } } },
            { "name": "bare" },
            {
                "name": "loose",
                "description": "Takes \u{1b}[31manything.",
                "parameters": { "type": "object", "properties": {
                    "n": { "type": "integer", "enum": [1, 2] },
                    "tags": { "type": "array", "description": "Tags.", "items": { "type": "string" }, "default": [] },
                } },
                "confirmationRequired": true,
                "visibleParameters": ["n", "gone"],
            },
            { "name": "reserved", "parameters": { "type": "object", "properties": { "userId": text("Who.") } } },
            { "name": "a/b", "description": "Has a name that nobody can call." },
        ] }))
        .into_response(),
        "/remote-agent/resource" => Html("<html>").into_response(),
        _ => Json(json!({ "success": true, "data": { "text": "called" } })).into_response(),
    }
}

#[tokio::test]
async fn check_agent_reports_contract_violations() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(careless_agent)).await });
    let with_key = ["--allow-private", "--api-key-env", "AGENT_KEY"];
    insta::assert_snapshot!(run_check_agent(&origin, &with_key).await, @"
    exit 1
    ORIGIN/remote-agent
      good — Works. [secret]
        q: string — What.
      bare — ?
      loose (asks first and shows n) — Takes [31manything.
        n: integer, one of 1 2 — ?
        tags: array of string — Tags.
    ok    GET /tools lists 3 tools
    wrong tool 4 is left out: `reserved`: the parameter `userId` has a name that the contract reserves
    wrong tool 5 is left out: `a/b`: the name must have 1 to 64 letters, digits, `_` or `-`
    wrong `bare`: it has no `description`
    wrong `bare`: its `parameters` are not `{type: object, properties: {…}}`
    wrong `loose`: the parameter `n` has no `description`
    note  `loose`: the parameter `n` is an `integer`; the contract only has `number`
    note  `loose`: the parameter `n` has an `enum` with values other than strings
    note  `loose`: the parameter `tags` has a default that is not a string, number or boolean
    wrong `loose`: each item of the parameter `tags` has no `description`
    wrong `loose`: `visibleParameters` names `gone`, which is not a parameter
    wrong an unknown tool has the status 200 instead of 404
    wrong POST /resource answers with something that is not JSON
    wrong GET /tools with a wrong key has the status 200 instead of 401
    wrong POST /tools/{name} with a wrong key has the status 200 instead of 401
    wrong POST /resource with a wrong key has the status 200 instead of 401
    12 problems found
    ");
}
