//! The bound on memory, from the config to the client, the log and the metrics.

use crate::http::chunks;
use crate::process::Server;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use std::fs::{self, File};
use tempfile::TempDir;

/// A server whose limit is below what it takes when it does nothing: memory is always short.
fn serve(folder: &TempDir) -> Server {
    let config = "connections: [{ id: demo, type: Demo, properties: { delayMs: 50 } }]\n\
                  agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]\n\
                  pages: [{ id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]\n\
                  limits: { memoryBytes: 16777216 }\n";
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let log = File::create_new(folder.path().join("log")).unwrap();
    Server::start_logging(&["--config", folder.path().to_str().unwrap()], log)
}

async fn text(server: &Server, path: &str) -> String {
    server.ask(Method::GET, path).send().await.unwrap().text().await.unwrap()
}

/// Refusals of a send, an invocation and an upload.
async fn refusals(server: &Server) -> [Response; 3] {
    let question = json!({ "agent_name": "helper", "input": { "prompt": "hello" } });
    [
        server.message_to("demo/helper", "c2", "hello").send().await.unwrap(),
        server.ask(Method::POST, "/api/runs/invoke").json(&question).send().await.unwrap(),
        server.ask(Method::POST, "/api/files?name=a.txt").body("text").send().await.unwrap(),
    ]
}

/// Starts answers until one lasts while a send, an invocation and an upload are refused; its
/// conversation and the refusals.
async fn beside_an_answer(server: &Server) -> (String, [Response; 3]) {
    for attempt in 0..100 {
        let conversation = format!("beside{attempt}");
        let answer = server.message_to("demo/helper", &conversation, "count to 400").send().await.unwrap();
        let refused = refusals(server).await;
        if answer.status() == StatusCode::OK
            && refused.iter().all(|one| one.status() == StatusCode::SERVICE_UNAVAILABLE)
        {
            return (conversation, refused);
        }
    }
    panic!("nothing is ever refused")
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn work_beside_an_answer_is_refused_while_memory_is_short() {
    let folder = TempDir::new().unwrap();
    let server = serve(&folder);
    // The first sample is taken when the server begins to listen.
    for _ in 0..200 {
        if text(&server, "/readyz").await.contains("warning: memory is short") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(text(&server, "/readyz").await.starts_with("ready\nwarning: memory is short"));
    // The server still grows in its first moments, which ends an answer: memory is that short here.
    let (answer, refused) = beside_an_answer(&server).await;
    for refused in refused {
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()["retry-after"], "5");
        let said: Value = refused.json().await.unwrap();
        assert_eq!(said["error"]["message"], "The server is short of memory just now. Try again in a moment.");
    }
    let metrics = text(&server, "/metrics").await;
    for line in ["chatwright_memory_level 2", "chatwright_memory_limit_bytes{limit=\"limits.memoryBytes\"} 16777216"] {
        assert!(metrics.lines().any(|known| known == line), "{line} is not in {metrics}");
    }
    let refused = metrics.lines().find_map(|line| line.strip_prefix("chatwright_memory_refused_total "));
    assert!(refused.unwrap().parse::<u64>().unwrap() >= 3, "{metrics}");
    let stop = server.ask(Method::POST, &format!("/api/agent/demo/helper/{answer}/stop")).send().await.unwrap();
    assert!(stop.status().is_success());
    let mut again = server.message_to("demo/helper", "c3", "hello").send().await.unwrap();
    for _ in 0..200 {
        if again.status() == StatusCode::OK {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        again = server.message_to("demo/helper", "c3", "hello").send().await.unwrap();
    }
    let told = chunks(again).await;
    assert!(told.iter().any(|chunk| chunk["type"] == "finish"), "{told:?}");
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(log.matches("memory is almost used up: ").count(), 1, "once for each change: {log}");
}
