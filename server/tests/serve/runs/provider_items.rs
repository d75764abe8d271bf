//! Items of a provider's reply that have no part of their own: shown to the user, in exports and in
//! the console, and sent back only to that provider.

use crate::http::chunks;
use crate::process::Server;
use axum::Router;
use axum::routing::post;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// Starts a provider of the Responses API whose replies contain these items, and returns its URL and
/// its requests.
async fn start_provider(items: Vec<Value>) -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let received = requests.clone();
    let answer = move |body: String| {
        received.lock().unwrap().push(serde_json::from_str(&body).unwrap());
        let done = |(index, item): (usize, &Value)| json!({ "type": "response.output_item.done", "output_index": index, "item": item });
        let end = json!({ "type": "response.completed", "response": { "status": "completed", "output": items } });
        let events = items.iter().enumerate().map(done).chain([end]);
        let stream: String = events.map(|event| format!("data: {event}\n\n")).collect();
        std::future::ready(([("content-type", "text/event-stream")], stream))
    };
    let router = Router::new().route("/v1/responses", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, requests)
}

async fn text(server: &Server, path: &str) -> String {
    let response = server.request(Method::GET, path).send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {}", response.status());
    response.text().await.unwrap()
}

#[tokio::test]
async fn items_without_a_part_are_shown_and_sent_back_as_received() {
    let items = [
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "hush" }),
        json!({ "type": "mcp_list_tools", "id": "l_1", "server_label": "s", "tools": [{ "name": "add\u{202e}" }] }),
        json!({ "type": "later_kind", "id": "k_1", "deep": { "number": 12345 }, "encrypted_content": "opaque" }),
        json!({ "type": "message", "id": "m_1", "content": [{ "type": "output_text", "text": "Well." }] }),
    ];
    let (address, requests) = start_provider(items.to_vec()).await;
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "
connections: [{{ id: up, type: OpenAI, properties: {{ apiKey: k, baseURL: '{address}' }} }}]
agents: [{{ id: a, type: Agent, connectionId: up, properties: {{ model: gpt-5 }} }}]
pages: [{{ id: p, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: a }} }}] }}]
"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);

    let sent = chunks(server.message_to("p/a", "c1", "Hello").send().await.unwrap()).await;
    let shown: Vec<_> = sent.iter().filter(|chunk| chunk["type"] == "data-provider-output").collect();
    let data: Vec<_> = shown.iter().map(|chunk| &chunk["data"]).collect();
    assert_eq!(
        json!(data),
        json!([
            { "provider": "openai", "name": "mcp_list_tools", "content": items[1] },
            { "provider": "openai", "name": "later_kind", "content": {
                "type": "later_kind", "id": "k_1", "deep": { "number": 12345 }, "encrypted_content": "… (6 bytes)",
            } },
        ])
    );
    assert!(!json!(sent).to_string().contains("opaque"));

    let page = text(&server, "/p?conversation=c1").await;
    assert!(page.contains("Later kind") && page.contains("12345") && page.contains("add\\u202e"), "{page}");
    assert!(!page.contains("cw-reasoning"), "reasoning without a text is not shown: {page}");
    let markdown = text(&server, "/api/conversations/c1/export?format=markdown").await;
    assert!(markdown.contains("*later_kind (openai)*") && markdown.contains("\"number\": 12345"), "{markdown}");
    let html = text(&server, "/api/conversations/c1/export?format=html").await;
    assert!(html.contains("later_kind (openai)") && html.contains("12345"), "{html}");
    let whole = text(&server, "/api/conversations/c1/export?format=json").await;
    assert!(whole.contains("data-provider-output") && !whole.contains("opaque"), "{whole}");

    chunks(server.message_to("p/a", "c1", "And now?").send().await.unwrap()).await;
    let requests = requests.lock().unwrap();
    let input = requests[1]["input"].as_array().unwrap();
    for item in &items[1..3] {
        assert_eq!(input.iter().filter(|sent| *sent == item).count(), 1, "{input:?}");
    }
    assert!(!json!(input).to_string().contains("bytes)"), "what is only displayed is not sent: {input:?}");
}
