//! Files of documents as resources of the MCP server: how many a user reads at a time.

use crate::access::*;
use axum::response::Response;
use std::time::Duration;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: p, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
mcpApi: { documents: true, agents: [helper] }
libraries: [{ id: handbook, documents: [{ name: pump.md, text: The pump runs at night. }] }]
";

async fn call_mcp(routes: &Router, method: &str, params: Value) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = local_request(Method::POST, "/mcp");
    let request = request.header(header::CONTENT_TYPE, "application/json").header("mcp-protocol-version", "2025-11-25");
    let request = request.header(header::ACCEPT, "application/json, text/event-stream");
    routes.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap()
}

async fn json_of(response: Response) -> Value {
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&body)))
}

/// Waits until the document is read; returns its address.
async fn document(routes: &Router) -> String {
    for _ in 0..3_000 {
        let listed = json_of(call_mcp(routes, "resources/list", json!({})).await).await;
        if let Some(uri) = listed["result"]["resources"][0]["uri"].as_str() {
            return uri.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the document is not read");
}

/// A file is in memory until its client has received it.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_reads_two_files_at_a_time() {
    let server = open(CONFIG).await;
    server.start_background_work();
    let routes = server.routes();
    let text = document(&routes).await;
    let file = format!("{text}/file");
    let read = async |uri: &str, expected: u16| {
        let response = call_mcp(&routes, "resources/read", json!({ "uri": uri })).await;
        assert_eq!(response.status().as_u16(), expected, "{uri}");
        response
    };
    let (first, second) = (read(&file, 200).await, read(&file, 200).await);
    let refused = read(&file, 429).await;
    assert_eq!(refused.headers().get(header::RETRY_AFTER).unwrap(), "5");
    let refused = json_of(refused).await;
    let message = "You are reading 2 files already. Try again when one of them is complete.";
    assert_eq!(refused["error"]["message"], message, "{refused}");
    read(&text, 200).await;
    let received = json_of(first).await;
    assert!(received["result"]["contents"][0]["blob"].is_string(), "{received}");
    let third = read(&file, 200).await;
    read(&file, 429).await;
    drop((second, third));
    read(&file, 200).await;
}
