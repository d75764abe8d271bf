//! Schemas that were made to cost: by a program that asks an agent, and by an MCP server.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::provider;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;

/// A server with an agent whose MCP server has a tool with such a schema.
async fn serve() -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    let hostile = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/tools/tests/mcp/hostile.mjs");
    let config = format!(
        "
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{}' }} }}
  - {{ id: hostile, type: Mcp, properties: {{ command: node, args: ['{hostile}', costly] }} }}
agents:
  - {{ id: plain, type: Agent, connectionId: model, properties: {{ model: m }} }}
  - {{ id: helper, type: Agent, connectionId: model, properties: {{ model: m }}, mcp: [hostile] }}
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
",
        provider().await
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    (server, folder)
}

/// A schema of 2.6 KB that takes 2^40 steps: each level asks for the one below twice.
fn doubled() -> Value {
    let mut definitions = json!({ "l0": { "type": "object" } });
    for level in 1..=40 {
        let below = json!({ "$ref": format!("#/$defs/l{}", level - 1) });
        definitions[format!("l{level}")] = json!({ "allOf": [below, below] });
    }
    json!({ "$defs": definitions, "$ref": "#/$defs/l40" })
}

/// Asks the agent for an answer in this form; what it answers fits no form in any time.
fn invoke(server: &Server, schema: Value) -> reqwest::RequestBuilder {
    let body = json!({ "agent_name": "plain", "input": { "prompt": "say {}" },
        "response_schema": { "name": "answer", "strict": false, "schema": schema } });
    server.ask(Method::POST, "/api/runs/invoke").json(&body)
}

#[tokio::test]
async fn schemas_that_cost_keep_nobody_waiting() {
    let (server, _folder) = serve().await;
    let asked = (0..100).map(|_| tokio::spawn(invoke(&server, doubled()).send()));
    let asked: Vec<_> = asked.collect();
    let mut healthy = 0;
    while !asked.iter().all(tokio::task::JoinHandle::is_finished) {
        assert_eq!(server.ask(Method::GET, "/healthz").send().await.unwrap().status(), StatusCode::OK);
        healthy += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(healthy > 0);
    let (mut costly, mut busy) = (0, 0);
    for answer in asked {
        let answer = answer.await.unwrap().unwrap();
        match answer.status() {
            StatusCode::OK => {
                let answer: Value = answer.json().await.unwrap();
                let error = answer["error"].as_str().unwrap();
                match answer["status"].as_str().unwrap() {
                    "failed" => assert!(error.starts_with("the answer could not be checked: "), "{error}"),
                    // Checks give way to everything else, so on a loaded machine the time of the tier may end first.
                    "timeout" => assert_eq!(error, "There was no answer within the time limit of this tier."),
                    _ => panic!("{answer}"),
                }
                costly += 1;
            }
            // More than are let in at once.
            StatusCode::SERVICE_UNAVAILABLE => busy += 1,
            status => panic!("{status}"),
        }
    }
    assert!(costly > 0 && costly + busy == 100, "{costly} {busy}");
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_is_refused_with_the_reason() {
    let (server, _folder) = serve().await;
    let answer = invoke(&server, json!({ "pattern": "(?=x)" })).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["error"]["path"], "/response_schema/schema");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("This schema cannot be used: the pattern `(?=x)` needs look-around"), "{message}");
}

#[tokio::test]
async fn tools_with_such_schemas_leave_the_others_alone() {
    let (server, _folder) = serve().await;
    let ask =
        async |id: &str, text: &str| chunks(server.message_to("demo/helper", id, text).send().await.unwrap()).await;
    let said = |told: &[Value]| told.iter().filter_map(|chunk| chunk["delta"].as_str()).collect::<String>();
    let told = ask("c1", "costly {}").await;
    let refused = told.iter().find(|chunk| chunk["type"] == "tool-output-error").unwrap();
    assert_eq!(refused["errorText"], "Checking these arguments takes too much work. Use smaller or simpler ones.");
    // The one whose pattern has no bound is not offered.
    assert!(said(&told).ends_with(" | costly work"), "{}", said(&told));
    assert!(said(&ask("c2", "work {}").await).starts_with("pid "));
}

/// A check that still waits or runs ends when its run is stopped, and does not keep the server from ending.
#[tokio::test]
async fn a_costly_check_ends_with_its_run_and_its_server() {
    let (mut server, _folder) = serve().await;
    let asked: Vec<_> = (0..60).map(|_| tokio::spawn(invoke(&server, doubled()).send())).collect();
    let stream = server.message_to("demo/helper", "c1", "costly {}").send().await.unwrap();
    let stop = server.ask(Method::POST, "/api/agent/demo/helper/c1/stop").send().await.unwrap();
    assert!(stop.status().is_success(), "{}", stop.status());
    let told = chunks(stream).await;
    assert!(["abort", "finish"].contains(&told.last().unwrap()["type"].as_str().unwrap()), "{told:?}");
    server.terminate();
    assert!(server.wait().success());
    for answer in asked {
        // What was under way was answered or cut off.
        let _ = answer.await.unwrap();
    }
}
