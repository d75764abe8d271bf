//! Operators in an agent's properties, from the config to the request that reaches the model.

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

/// A model that says what these parts of its request were, by JSON pointer.
pub(crate) async fn mirror(parts: &'static [&'static str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let said = move |Json(request): Json<Value>| async move {
        let said: Value = parts.iter().map(|part| request.pointer(part).cloned()).collect();
        let delta = json!({ "choices": [{ "delta": { "content": said.to_string() }, "finish_reason": "stop" }] });
        ([("content-type", "text/event-stream")], format!("data: {delta}\n\ndata: [DONE]\n\n"))
    };
    let router = Router::new().route("/v1/chat/completions", post(said));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// What the model of an agent with these properties was asked with.
async fn said(parts: &'static [&'static str], properties: &str) -> String {
    let model = mirror(parts).await;
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
    asked_with(&config).await
}

/// What the model of the agent `helper` in this config was asked with, or why it could not be.
async fn asked_with(config: &str) -> String {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let server = Server::start_in(&[("TENANT_KEY", "k-123")], &arguments);
    let response = server.message_to("demo/helper", "c1", "Hello").send().await.unwrap();
    if !response.status().is_success() {
        return response.json::<Value>().await.unwrap()["error"]["message"].to_string();
    }
    chunks(response).await.iter().filter_map(|chunk| chunk["delta"].as_str()).collect()
}

#[tokio::test]
async fn properties_are_evaluated_for_each_turn_and_may_hold_a_secret() {
    let said = said(
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
    assert_snapshot!(said.await, @r#"["You help local on demo.","local",{"conversation":"c1","key":"k-123","plain":{"a":1}}]"#);
}

#[tokio::test]
async fn so_are_the_model_and_how_it_is_asked() {
    let said = said(
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
    assert_snapshot!(said.await, @r#"["large",0.75,300,["END","demo"],null,"local"]"#);
}

/// What cannot stand there is told to the operator; the user only, that he cannot ask just now.
#[tokio::test]
async fn a_value_that_cannot_be_is_no_request() {
    let said = said(&["/model"], "      model: m\n      temperature: { _expr: \"4 + 4\" }\n");
    assert_snapshot!(said.await, @r#""This agent cannot be asked just now. Its owner can see why.""#);
}

/// A server whose agents are made of what the page shares: one searches a list for each of its items, one takes the list
/// for its stop sequences.
async fn made_of_shared_state() -> (Server, TempDir) {
    let model = mirror(&["/stop"]).await;
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

fn message_sharing(server: &Server, agent: &str, conversation: &str, all: Value) -> reqwest::RequestBuilder {
    let message = json!({ "id": conversation, "role": "user", "parts": [{ "type": "text", "text": "Hello" }] });
    let body =
        json!({ "id": "chat", "trigger": "submit-message", "messages": [message], "sharedState": { "all": all } });
    server.ask(Method::POST, &format!("/api/agent/demo/{agent}?conversationId={conversation}")).json(&body)
}

#[tokio::test]
async fn costly_templates_of_agents_keep_other_requests_served() {
    let (server, _folder) = made_of_shared_state().await;
    let all = json!(vec![0; 9_000]);
    let asked = (0..8)
        .map(|number| tokio::spawn(message_sharing(&server, "costly", &format!("c{number}"), all.clone()).send()));
    let asked: Vec<_> = asked.collect();
    let mut healthy = 0;
    while !asked.iter().all(tokio::task::JoinHandle::is_finished) {
        assert_eq!(server.ask(Method::GET, "/healthz").send().await.unwrap().status(), StatusCode::OK);
        healthy += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(healthy > 0);
    for response in asked {
        assert_eq!(response.await.unwrap().unwrap().status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}

#[tokio::test]
async fn properties_that_come_to_very_many_values_are_refused() {
    let (server, _folder) = made_of_shared_state().await;
    let send = async |conversation: &str, all: Value| {
        message_sharing(&server, "large", conversation, all).send().await.unwrap().status()
    };
    assert_eq!(send("c1", json!(vec!["x"; 3])).await, StatusCode::OK);
    assert_eq!(send("c2", json!(vec!["x"; 600])).await, StatusCode::INTERNAL_SERVER_ERROR);
}

/// What the AI Gateway is asked with: the agent's properties, its fallback models and the options of the providers behind it.
#[tokio::test]
async fn properties_of_a_gateway_reach_its_requests() {
    let model = mirror(&["/model", "/providerOptions"]).await;
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
    let asked: Value = serde_json::from_str(&asked_with(&config).await).unwrap();
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

/// The ready-made agent for records: its instructions, temperature 0, no tools, and no thoughts where the model writes them into its text.
#[tokio::test]
async fn a_preset_reaches_its_requests() {
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
    let url = mirror(parts).await;
    let qwen = asked_with(&config("qwen3:8b", &url)).await;
    assert!(qwen.starts_with(r#"["/no_think\n\nYou extract records"#) && qwen.ends_with(",0.0,null]"), "{qwen}");
    let other = asked_with(&config("llama", &url)).await;
    assert!(other.starts_with(r#"["You extract records"#), "{other}");
}
