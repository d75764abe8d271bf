//! JSON Schemas that are expensive to check, from API clients and from an MCP server.

use crate::http::{chunks, reply_text};
use crate::process::Server;
use crate::provider::start_provider;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// Starts a server with an agent whose MCP server has a tool with such a schema.
async fn serve() -> (Server, TempDir) {
    serve_with("").await
}

/// Like [`serve`], with one more section of the config.
async fn serve_with(section: &str) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    let hostile = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/mcp/tests/mcp/hostile.mjs");
    let config = format!(
        "
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{}' }} }}
  - {{ id: hostile, type: Mcp, properties: {{ command: node, args: ['{hostile}', costly] }} }}
agents:
  - {{ id: plain, type: Agent, connectionId: model, properties: {{ model: m }} }}
  - {{ id: helper, type: Agent, connectionId: model, properties: {{ model: m }}, mcp: [hostile] }}
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
{section}
",
        start_provider().await
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    (server, folder)
}

/// Returns a schema of 2.6 KB that takes 2^40 steps, since each level refers to the next one twice.
fn exponential_schema() -> Value {
    let mut definitions = json!({ "l0": { "type": "object" } });
    for level in 1..=40 {
        let below = json!({ "$ref": format!("#/$defs/l{}", level - 1) });
        definitions[format!("l{level}")] = json!({ "allOf": [below, below] });
    }
    json!({ "$defs": definitions, "$ref": "#/$defs/l40" })
}

/// Returns a schema of 4 KB with patterns that take long to compile.
fn costly_patterns() -> Value {
    let patterns = (0..190).map(|number| (format!(r"\p{{L}}{{4}}{number}"), json!(true)));
    json!({ "patternProperties": Value::from_iter(patterns) })
}

/// Returns a request for a response that matches this schema; no response matches it in finite
/// time.
fn invoke_request(server: &Server, schema: Value) -> reqwest::RequestBuilder {
    // Of a text, a pattern of 25 bytes reads each byte 2,000 times.
    let reply = if schema.get("pattern").is_some() { json!("ab".repeat(4_500)) } else { json!({}) };
    let body = json!({ "agent_name": "plain", "input": { "prompt": format!("say {reply}") },
        "response_schema": { "name": "answer", "strict": false, "schema": schema } });
    server.request(Method::POST, "/api/runs/invoke").json(&body)
}

#[tokio::test]
async fn costly_schemas_do_not_block_other_requests() {
    let (server, _folder) = serve().await;
    let schemas = [exponential_schema(), costly_patterns(), json!({ "pattern": "[ab]*a[ab]{2000}[cd]" })];
    let asked = (0..40).map(|number| tokio::spawn(invoke_request(&server, schemas[number % 3].clone()).send()));
    let asked: Vec<_> = asked.collect();
    let mut healthy = 0;
    while !asked.iter().all(tokio::task::JoinHandle::is_finished) {
        assert_eq!(server.request(Method::GET, "/healthz").send().await.unwrap().status(), StatusCode::OK);
        healthy += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(healthy > 0);
    let (mut costly, mut refused, mut busy) = (0, 0, 0);
    for answer in asked {
        let answer = answer.await.unwrap().unwrap();
        match answer.status() {
            StatusCode::OK => {
                let answer: Value = answer.json().await.unwrap();
                let error = answer["error"].as_str().unwrap();
                match answer["status"].as_str().unwrap() {
                    "failed" => assert!(error.starts_with("the answer could not be checked: "), "{error}"),
                    // Checks have a low priority, so on a loaded machine the tier's time limit may
                    // come first.
                    "timeout" => assert_eq!(error, "There was no answer within the time limit of this tier."),
                    _ => panic!("{answer}"),
                }
                costly += 1;
            }
            StatusCode::UNPROCESSABLE_ENTITY => {
                let answer: Value = answer.json().await.unwrap();
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(message.ends_with("its patterns are too costly to compile."), "{message}");
                refused += 1;
            }
            // Requests over the limit of concurrent ones.
            StatusCode::SERVICE_UNAVAILABLE => busy += 1,
            status => panic!("{status}"),
        }
    }
    assert!(costly > 0 && refused > 0 && costly + refused + busy == 40, "{costly} {refused} {busy}");
}

#[tokio::test]
async fn unusable_schema_is_rejected_with_the_reason() {
    let (server, _folder) = serve().await;
    let answer = invoke_request(&server, json!({ "pattern": "(?=x)" })).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["error"]["path"], "/response_schema/schema");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("This schema cannot be used: the pattern `(?=x)` needs look-around"), "{message}");
}

#[tokio::test]
async fn costly_tool_schemas_do_not_affect_other_tools() {
    let (server, _folder) = serve().await;
    let ask =
        async |id: &str, text: &str| chunks(server.message_to("demo/helper", id, text).send().await.unwrap()).await;
    let received = ask("c1", "costly {}").await;
    let refused = received.iter().find(|chunk| chunk["type"] == "tool-output-error").unwrap();
    assert_eq!(refused["errorText"], "Checking these arguments takes too much work. Use smaller or simpler ones.");
    // A tool whose pattern is unbounded is not offered.
    assert!(reply_text(&received).ends_with(" | costly work"), "{}", reply_text(&received));
    assert!(reply_text(&ask("c2", "work {}").await).starts_with("pid "));
}

/// Sends a request for an invocation; returns why it failed.
async fn invocation_error(request: reqwest::RequestBuilder) -> reqwest::Result<String> {
    let answer: Value = request.send().await?.error_for_status()?.json().await?;
    Ok(answer["error"].as_str().unwrap_or_default().to_owned())
}

/// A waiting or running check ends with its run. At the shutdown, runs have `drainMs` to end, by default 25 s; here
/// they are stopped at once, also those that wait for a check.
#[tokio::test]
async fn costly_checks_end_with_the_run_and_the_server() {
    let (mut server, _folder) = serve_with("limits: { drainMs: 0, invocationTiers: { simpleMs: 600000 } }").await;
    let mut asked = JoinSet::new();
    for _ in 0..60 {
        asked.spawn(invocation_error(invoke_request(&server, exponential_schema())));
    }
    let stream = server.message_to("demo/helper", "c1", "costly {}").send().await.unwrap();
    let stop = server.request(Method::POST, "/api/agent/demo/helper/c1/stop").send().await.unwrap();
    assert!(stop.status().is_success(), "{}", stop.status());
    let received = chunks(stream).await;
    assert!(["abort", "finish"].contains(&received.last().unwrap()["type"].as_str().unwrap()), "{received:?}");
    // At most two checks run at once, each for a long time, so most of them still wait when the first one has ended.
    let is_checked = |error: reqwest::Result<String>| error.is_ok_and(|error| error.contains("takes too much work"));
    while !is_checked(asked.join_next().await.unwrap().unwrap()) {}
    server.terminate();
    let errors = asked.join_all().await;
    let is_stopped = errors.iter().flatten().any(|error| error == "The server stopped before the answer was complete.");
    assert!(is_stopped, "{errors:?}");
    assert!(server.wait().success());
}
