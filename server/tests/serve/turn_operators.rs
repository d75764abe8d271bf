//! Operators in an agent's properties, from the config to the request that reaches the model.

use crate::http::chunks;
use crate::process::Server;
use axum::routing::post;
use axum::{Json, Router};
use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// A model that says what it was asked with, apart from the conversation.
async fn mirror() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let said = async |Json(request): Json<Value>| {
        let said = serde_json::json!([request["messages"][0]["content"], request["user"], request["metadata"]]);
        let delta =
            serde_json::json!({ "choices": [{ "delta": { "content": said.to_string() }, "finish_reason": "stop" }] });
        ([("content-type", "text/event-stream")], format!("data: {delta}\n\ndata: [DONE]\n\n"))
    };
    let router = Router::new().route("/v1/chat/completions", post(said));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

#[tokio::test]
async fn properties_are_evaluated_for_each_turn_and_may_hold_a_secret() {
    let (folder, model) = (TempDir::new().unwrap(), mirror().await);
    let config = format!(
        r#"
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties:
      model: m
      instructions: {{ _template: "You help {{{{ user.id }}}} on {{{{ payload.pageId }}}}." }}
      providerOptions:
        openaiCompatible:
          user: {{ _user: id }}
          metadata: {{ conversation: {{ _payload: conversationId }}, key: {{ _secret: TENANT_KEY }}, plain: {{ a: 1 }} }}
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"#
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let server = Server::start_in(&[("TENANT_KEY", "k-123")], &arguments);
    let reply = chunks(server.message_to("demo/helper", "c1", "Hello").send().await.unwrap()).await;
    let said: String = reply.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert_snapshot!(said, @r#"["You help local on demo.","local",{"conversation":"c1","key":"k-123","plain":{"a":1}}]"#);
}
