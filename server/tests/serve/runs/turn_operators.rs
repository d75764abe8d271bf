//! Operators in an agent's properties, from the config to the model request.

use crate::http::chunks;
use crate::process::Server;
use axum::routing::post;
use axum::{Json, Router};
use insta::assert_snapshot;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Starts a provider that replies with these parts of its request, by JSON pointer.
pub(crate) async fn start_echo_provider(parts: &'static [&'static str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let echo = move |Json(request): Json<Value>| async move {
        let echo: Value = parts.iter().map(|part| request.pointer(part).cloned()).collect();
        let delta = json!({ "choices": [{ "delta": { "content": echo.to_string() }, "finish_reason": "stop" }] });
        ([("content-type", "text/event-stream")], format!("data: {delta}\n\ndata: [DONE]\n\n"))
    };
    let router = Router::new().route("/v1/chat/completions", post(echo));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// Returns these parts of the model request of an agent with these properties.
async fn echoed_with_properties(parts: &'static [&'static str], properties: &str) -> String {
    let model = start_echo_provider(parts).await;
    let config = format!(
        r#"
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties:
{properties}
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"#
    );
    echoed_with_config(&config).await
}

/// Returns the reply of the agent `helper` in this config, or the error message.
async fn echoed_with_config(config: &str) -> String {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let server = Server::start_with_env(&[("TENANT_KEY", "k-123")], &arguments);
    let response = server.message_to("demo/helper", "c1", "Hello").send().await.unwrap();
    if !response.status().is_success() {
        return response.json::<Value>().await.unwrap()["error"]["message"].to_string();
    }
    chunks(response).await.iter().filter_map(|chunk| chunk["delta"].as_str()).collect()
}

#[tokio::test]
async fn properties_are_evaluated_for_each_turn_and_may_hold_a_secret() {
    let echo = echoed_with_properties(
        &["/messages/0/content", "/user", "/metadata"],
        r#"
      model: m
      instructions: { _template: "You help {{ user.id }} on {{ payload.pageId }}." }
      providerOptions:
        openaiCompatible:
          user: { _user: id }
          metadata: { conversation: { _payload: conversationId }, key: { _secret: TENANT_KEY }, plain: { a: 1 } }
"#,
    );
    assert_snapshot!(echo.await, @r#"["You help local on demo.","local",{"conversation":"c1","key":"k-123","plain":{"a":1}}]"#);
}

/// A message without page state and query has empty ones, so that every key of the payload is there.
#[tokio::test]
async fn payload_of_a_turn_has_every_key() {
    let echo = echoed_with_properties(
        &["/metadata"],
        r#"
      model: m
      providerOptions:
        openaiCompatible:
          metadata: { state: { _payload: sharedState }, query: { _payload: urlQuery }, switches: { _payload: switches } }
"#,
    );
    assert_snapshot!(echo.await, @r#"[{"state":{},"query":{},"switches":{}}]"#);
}

#[tokio::test]
async fn model_and_its_parameters_are_evaluated() {
    let echo = echoed_with_properties(
        &["/model", "/temperature", "/max_tokens", "/stop", "/seed", "/user"],
        r#"
      model: { _if: { test: { _eq: [{ _user: id }, local] }, then: large, else: small } }
      temperature: { _expr: "0.5 + 0.25" }
      maxOutputTokens: { _if: { test: { _payload: urlQuery.long }, then: 9000, else: 300 } }
      stopSequences: [END, { _payload: pageId }]
      seed: { _payload: urlQuery.seed }
      limits: { requests: { _expr: "1 + 1" } }
      providerOptions: { openaiCompatible: { user: { _user: id } } }
"#,
    );
    assert_snapshot!(echo.await, @r#"["large",0.75,300,["END","demo"],null,"local"]"#);
}

/// The operator sees the cause; the user only learns that the agent is unavailable.
#[tokio::test]
async fn invalid_value_fails_the_turn_without_a_model_request() {
    let echo = echoed_with_properties(&["/model"], "      model: m\n      temperature: { _expr: \"4 + 4\" }\n");
    assert_snapshot!(echo.await, @r#""This agent is not available right now. The reason is in the server log.""#);
}

/// Starts a server whose agents evaluate the shared state: one searches a list for each of its
/// items, one uses the list as stop sequences.
async fn serve_shared_state_agents() -> (Server, TempDir) {
    let model = start_echo_provider(&["/stop"]).await;
    let config = format!(
        r#"
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}
agents:
  - id: costly
    type: Agent
    connectionId: model
    properties:
      model: m
      instructions:
        _template: "{{% set all = payload.sharedState.all %}}{{% for a in all %}}{{% if -1 in all %}}{{% endif %}}{{% endfor %}}"
  - id: large
    type: Agent
    connectionId: model
    properties: {{ model: m, stopSequences: {{ _payload: sharedState.all }} }}
pages: [{{ id: demo, blocks: [] }}]
"#
    );
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    (server, folder)
}

fn request_with_state(server: &Server, agent: &str, conversation: &str, all: Value) -> reqwest::RequestBuilder {
    let message = json!({ "id": conversation, "role": "user", "parts": [{ "type": "text", "text": "Hello" }] });
    let body =
        json!({ "id": "chat", "trigger": "submit-message", "messages": [message], "sharedState": { "all": all } });
    server.request(Method::POST, &format!("/api/agent/demo/{agent}?conversationId={conversation}")).json(&body)
}

#[tokio::test]
async fn costly_templates_do_not_block_other_requests() {
    let (server, _folder) = serve_shared_state_agents().await;
    let all = json!(vec![0; 9_000]);
    // More than the threads that could be blocked.
    let asked = (0..std::thread::available_parallelism().unwrap().get() + 2)
        .map(|number| tokio::spawn(request_with_state(&server, "costly", &format!("c{number}"), all.clone()).send()));
    let asked: Vec<_> = asked.collect();
    let mut healthy = 0;
    while !asked.iter().all(tokio::task::JoinHandle::is_finished) {
        assert_eq!(server.request(Method::GET, "/healthz").send().await.unwrap().status(), StatusCode::OK);
        healthy += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(healthy > 0);
    for response in asked {
        assert_eq!(response.await.unwrap().unwrap().status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}

#[tokio::test]
async fn properties_with_too_many_values_are_rejected() {
    let (server, _folder) = serve_shared_state_agents().await;
    let send = async |conversation: &str, all: Value| {
        request_with_state(&server, "large", conversation, all).send().await.unwrap().status()
    };
    assert_eq!(send("c1", json!(vec!["x"; 3])).await, StatusCode::OK);
    assert_eq!(send("c2", json!(vec!["x"; 600])).await, StatusCode::INTERNAL_SERVER_ERROR);
}

/// The request contains the agent's properties, its fallback models and the provider options.
#[tokio::test]
async fn gateway_properties_are_sent() {
    let model = start_echo_provider(&["/model", "/providerOptions"]).await;
    let config = format!(
        r#"
connections:
  - {{ id: gateway, type: AIGateway, properties: {{ apiKey: k, baseURL: "{model}" }} }}
agents:
  - id: helper
    type: AIGatewayAgent
    connectionId: gateway
    properties:
      model: anthropic/claude-sonnet-4
      order: [azure]
      user: {{ _user: id }}
      tags: [{{ _payload: pageId }}]
      zeroDataRetention: true
      providerTimeouts: {{ byok: {{ openai: 5000 }} }}
      byok: {{ anthropic: [{{ apiKey: {{ _secret: TENANT_KEY }} }}] }}
      fallbackModels: [openai/gpt-5]
      providerOptions: {{ anthropic: {{ thinking: {{ type: adaptive }} }} }}
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"#
    );
    let asked: Value = serde_json::from_str(&echoed_with_config(&config).await).unwrap();
    let gateway = json!({
        "order": ["azure"],
        "models": ["openai/gpt-5"],
        "user": "local",
        "tags": ["demo"],
        "zeroDataRetention": true,
        "providerTimeouts": { "byok": { "openai": 5000 } },
        "byok": { "anthropic": [{ "apiKey": "k-123" }] },
    });
    let options = json!({ "gateway": gateway, "anthropic": { "thinking": { "type": "adaptive" } } });
    assert_eq!(asked, json!(["anthropic/claude-sonnet-4", options]));
}

/// The preset sets the instructions, temperature 0 and no tools, and disables thinking for models
/// that write it into their text.
#[tokio::test]
async fn preset_is_applied_to_requests() {
    let parts = &["/messages/0/content", "/temperature", "/tools"];
    let config = |model: &str, url: &str| {
        format!(
            r#"
connections:
  - {{ id: local, type: OpenAICompatible, properties: {{ baseURL: "{url}" }} }}
agents:
  - {{ id: helper, type: Agent, preset: record-extractor, connectionId: local, properties: {{ model: "{model}" }} }}
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"#
        )
    };
    let url = start_echo_provider(parts).await;
    let qwen = echoed_with_config(&config("qwen3:8b", &url)).await;
    assert!(qwen.starts_with(r#"["/no_think\n\nYou extract records"#) && qwen.ends_with(",0.0,null]"), "{qwen}");
    let other = echoed_with_config(&config("llama", &url)).await;
    assert!(other.starts_with(r#"["You extract records"#), "{other}");
}
