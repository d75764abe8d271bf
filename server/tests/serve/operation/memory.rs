//! The memory limit, from the config to the responses, the log and the metrics.

use crate::http::chunks;
use crate::process::Server;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use std::fs::{self, File};
use tempfile::TempDir;

/// Starts a server whose limit is below its idle memory, so that memory is always short.
fn serve(folder: &TempDir) -> Server {
    let config = "connections: [{ id: demo, type: Demo, properties: { delayMs: 50 } }]\n\
                  agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]\n\
                  pages: [{ id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]\n\
                  limits: { memoryBytes: 16777216 }\n";
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let log = File::create_new(folder.path().join("log")).unwrap();
    Server::start_logging(&["--config", folder.path().to_str().unwrap()], log)
}

async fn fetch_text(server: &Server, path: &str) -> String {
    server.request(Method::GET, path).send().await.unwrap().text().await.unwrap()
}

/// Returns the responses to a message, an invocation and an upload.
async fn send_all_kinds(server: &Server) -> [Response; 3] {
    let question = json!({ "agent_name": "helper", "input": { "prompt": "hello" } });
    [
        server.message_to("demo/helper", "c2", "hello").send().await.unwrap(),
        server.request(Method::POST, "/api/runs/invoke").json(&question).send().await.unwrap(),
        server.request(Method::POST, "/api/files?name=a.txt").body("text").send().await.unwrap(),
    ]
}

/// Starts replies until a message, an invocation and an upload are all refused during one. Returns
/// its conversation and the refusals.
async fn refusals_during_a_reply(server: &Server) -> (String, [Response; 3]) {
    for attempt in 0..100 {
        let conversation = format!("beside{attempt}");
        let answer = server.message_to("demo/helper", &conversation, "count to 400").send().await.unwrap();
        let refused = send_all_kinds(server).await;
        if answer.status() == StatusCode::OK
            && refused.iter().all(|one| one.status() == StatusCode::SERVICE_UNAVAILABLE)
        {
            return (conversation, refused);
        }
    }
    panic!("no request was refused")
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn work_beside_an_answer_is_refused_while_memory_is_short() {
    let folder = TempDir::new().unwrap();
    let server = serve(&folder);
    // The first sample is taken when the server starts to listen.
    for _ in 0..1200 {
        if fetch_text(&server, "/readyz").await.contains("warning: memory is short") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(fetch_text(&server, "/readyz").await.starts_with("ready\nwarning: memory is short"));
    // The server still grows in its first moments, which may end the first reply.
    let (answer, refused) = refusals_during_a_reply(&server).await;
    for refused in refused {
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()["retry-after"], "5");
        let error_body: Value = refused.json().await.unwrap();
        assert_eq!(error_body["error"]["message"], "The server is short of memory just now. Try again in a moment.");
    }
    let metrics = fetch_text(&server, "/metrics").await;
    for line in ["chatwright_memory_level 2", "chatwright_memory_limit_bytes{limit=\"limits.memoryBytes\"} 16777216"] {
        assert!(metrics.lines().any(|known| known == line), "{line} is not in {metrics}");
    }
    let refused = metrics.lines().find_map(|line| line.strip_prefix("chatwright_memory_refused_total "));
    assert!(refused.unwrap().parse::<u64>().unwrap() >= 3, "{metrics}");
    let stop = server.request(Method::POST, &format!("/api/agent/demo/helper/{answer}/stop")).send().await.unwrap();
    assert!(stop.status().is_success());
    let mut again = server.message_to("demo/helper", "c3", "hello").send().await.unwrap();
    for _ in 0..3000 {
        if again.status() == StatusCode::OK {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        again = server.message_to("demo/helper", "c3", "hello").send().await.unwrap();
    }
    let received = chunks(again).await;
    assert!(received.iter().any(|chunk| chunk["type"] == "finish"), "{received:?}");
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(log.matches("memory is almost used up: ").count(), 1, "once for each change: {log}");
}
