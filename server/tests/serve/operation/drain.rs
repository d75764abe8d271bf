//! The shutdown of a server with running replies.

use crate::http::chunks;
use crate::process::Server;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn draining_server_finishes_replies_and_rejects_messages() {
    let mut server = Server::start();
    let running = server.message("c1", "count to 60").send().await.unwrap();
    server.terminate();
    let ready = || server.request(Method::GET, "/readyz").send();
    let mut asked = ready().await.unwrap();
    while asked.status() == StatusCode::OK {
        tokio::time::sleep(Duration::from_millis(10)).await;
        asked = ready().await.unwrap();
    }
    assert_eq!((asked.status().as_u16(), &asked.headers()["retry-after"]), (503, &"5".parse().unwrap()));
    assert_eq!(asked.text().await.unwrap(), "not ready\ndraining: the server is shutting down\n");
    let refused = server.message("c2", "hello").send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"5".parse().unwrap()));
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["error"]["code"], "unavailable");
    // The server is alive, and stored data can be read.
    assert_eq!(server.request(Method::GET, "/healthz").send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(server.conversation("c1").await["id"], "c1");
    let received = chunks(running).await;
    assert_eq!(received.last().unwrap()["type"], "finish");
    assert!(server.wait().success());
}

#[tokio::test]
async fn drain_timeout_aborts_replies() {
    let folder = tempfile::tempdir().unwrap();
    let config = "connections: [{ id: demo, type: Demo, properties: { delayMs: 100 } }]\n\
                  agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]\n\
                  pages: [{ id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: demo } }] }]\n\
                  limits: { drainMs: 500 }\n";
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let mut server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let running = server.message("c1", "count to 3000").send().await.unwrap();
    server.terminate();
    // The whole reply would take five minutes.
    let received = chunks(running).await;
    assert_eq!(received.last().unwrap()["type"], "abort");
    assert!(server.wait().success());
}

#[tokio::test]
async fn server_works_with_a_closed_stderr() {
    let mut server = Server::start_with_closed_stderr();
    let received = chunks(server.message("c1", "hello").send().await.unwrap()).await;
    assert_eq!(received.last().unwrap()["type"], "finish");
    server.terminate();
    assert!(server.wait().success());
}

/// A deploy in the middle of a step with tools: the step ends, the next one is started by the next server, and nobody
/// is asked anything.
#[tokio::test]
async fn workflow_goes_on_after_a_deploy() {
    let folder = tempfile::tempdir().unwrap();
    let config = "connections: [{ id: demo, type: Demo, properties: { delayMs: 50 } }]\n\
                  api: [{ id: look, description: Looks., payloadSchema: { type: object }, routine: [{ ':return': 1 }] }]\n\
                  agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo }, tools: [look] }]\n\
                  workflows:\n\
                  - id: two\n\
                  \x20 output: ended\n\
                  \x20 steps:\n\
                  \x20 - { id: one, type: agent, agentId: demo, tools: [look], prompt: count to 60 }\n\
                  \x20 - { id: two, type: agent, agentId: demo, tools: [look], prompt: count to 3 }\n\
                  pages: [{ id: demo }]\n";
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let path = folder.path().to_str().unwrap();
    let mut server = Server::start_with(&["--config", path]);
    let start = server.request(Method::POST, "/api/workflows/two/runs").json(&json!({})).send().await.unwrap();
    let run: Value = start.json().await.unwrap();
    let run = format!("/api/workflows/runs/{}", run["id"].as_str().unwrap_or_else(|| panic!("{run}")));
    let until = async |server: &Server, is_there: &dyn Fn(&Value) -> bool| -> Value {
        for _ in 0..600 {
            let seen: Value = server.request(Method::GET, &run).send().await.unwrap().json().await.unwrap();
            if is_there(&seen) {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the run does not get there");
    };
    until(&server, &|run| run["stepRecords"][0]["state"] == "running").await;
    server.terminate();
    assert!(server.wait().success());
    let next = Server::start_with(&["--config", path, "--database", &server.database]);
    let run = until(&next, &|run| run["endedAt"].is_i64()).await;
    assert_eq!((&run["state"], &run["output"]), (&json!("done"), &json!("ended")), "{run}");
    let attempts: Vec<_> = run["stepRecords"].as_array().unwrap().iter().map(|step| &step["attempt"]).collect();
    assert_eq!(attempts, [1, 1], "{run}");
}
