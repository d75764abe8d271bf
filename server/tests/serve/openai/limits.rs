//! Rights, approvals, conversations and errors.

use super::{post, start};
use crate::provider::start_provider;
use insta::assert_snapshot;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_denied_and_limits_hold() {
    let (server, _folder) = start(&start_provider().await, "openaiApi: {}");
    let ask = async |model: &str, text: &str| {
        let body = json!({ "model": model, "messages": [{ "role": "user", "content": text }] });
        let (status, answer) = post(&server, "/v1/chat/completions", &body).await;
        let text = answer["choices"][0]["message"]["content"].as_str().map(str::to_owned);
        format!("{status} {}", text.unwrap_or_else(|| answer["error"].to_string()))
    };
    assert_snapshot!(ask("helper", "send {}").await, @"200 Not run: it needs the user's approval, and nobody can be asked here. | find send");
    assert_snapshot!(ask("second", "find {}").await, @r#"500 {"message":"The agent reached its limit of model requests for one answer.","type":"server_error","param":null,"code":"agent_limit"}"#);
    let runs = server.get("/api/runs").await;
    assert_eq!(runs["items"].as_array().unwrap().len(), 2, "each completion is a run");
}

/// The conversation of stored responses is the user's: they find it in their list, and what they delete is
/// gone for the program, too.
#[tokio::test(flavor = "multi_thread")]
async fn stored_responses_are_a_conversation() {
    let (server, _folder) = start(&start_provider().await, "openaiApi: {}");
    let weather = json!([{ "type": "function", "name": "weather", "parameters": { "type": "object" } }]);
    let first = json!({ "model": "helper", "input": "weather {}", "tools": weather });
    let (status, first) = post(&server, "/v1/responses", &first).await;
    assert_eq!((status, &first["status"]), (200, &json!("completed")), "{first}");
    let output =
        json!([{ "type": "function_call_output", "call_id": first["output"][0]["call_id"], "output": "sunny" }]);
    let second = json!({ "model": "helper", "input": output, "previous_response_id": first["id"] });
    let (status, second) = post(&server, "/v1/responses", &second).await;
    assert_eq!(status, 200, "{second}");
    let third = json!({ "model": "helper", "input": "say bye", "previous_response_id": second["id"] });
    let (_, third) = post(&server, "/v1/responses", &third).await;
    let list = server.get("/api/conversations").await;
    let conversation = &list["items"][0];
    assert_eq!((list["items"].as_array().unwrap().len(), &conversation["title"]), (1, &json!("weather {}")), "{list}");
    let id = conversation["id"].as_str().unwrap();
    let view = server.get(&format!("/api/conversations/{id}")).await;
    let messages = view["messages"].as_array().unwrap().iter().map(|message| {
        let parts = message["parts"].as_array().unwrap().iter();
        let parts = parts.map(|part| part["text"].as_str().or(part["output"].as_str()).unwrap_or("-").to_owned());
        format!("{} {}", message["role"].as_str().unwrap(), parts.collect::<Vec<_>>().join(" / "))
    });
    assert_snapshot!(messages.collect::<Vec<_>>().join("\n"), @r"
    user weather {}
    assistant - / sunny / - / sunny | find send
    user say bye
    assistant - / bye
    ");
    // Another branch from the same response.
    let other = json!({ "model": "helper", "input": "say again", "previous_response_id": second["id"] });
    assert_eq!(post(&server, "/v1/responses", &other).await.0, 200);
    let deleted = server.request(Method::DELETE, &format!("/api/conversations/{id}")).send().await.unwrap();
    assert!(deleted.status().is_success());
    let path = format!("/v1/responses/{}", third["id"].as_str().unwrap());
    assert_eq!(server.request(Method::GET, &path).send().await.unwrap().status(), 404);
}

/// Messages of the developer hold for what follows, `instructions` for their request alone.
#[tokio::test(flavor = "multi_thread")]
async fn developer_messages_hold_for_the_chain() {
    let (server, _folder) = start(&start_provider().await, "openaiApi: {}");
    let input = json!([{ "role": "developer", "content": "Be kind." }, { "role": "user", "content": "instructions" }]);
    let first = json!({ "model": "helper", "instructions": "Be brief.", "input": input });
    let (_, first) = post(&server, "/v1/responses", &first).await;
    let next = json!({ "model": "helper", "input": "instructions", "previous_response_id": first["id"] });
    let (_, next) = post(&server, "/v1/responses", &next).await;
    let text = |response: &Value| response["output"][0]["content"][0]["text"].clone();
    assert_eq!([text(&first), text(&next)], [json!("Be brief.\n\nBe kind."), json!("Be kind.")]);
}

/// Deleting the last response deletes the conversation.
#[tokio::test(flavor = "multi_thread")]
async fn conversation_goes_with_its_last_response() {
    let (server, _folder) = start(&start_provider().await, "openaiApi: {}");
    let (_, first) = post(&server, "/v1/responses", &json!({ "model": "helper", "input": "say one" })).await;
    let second = json!({ "model": "helper", "input": "say two", "previous_response_id": first["id"] });
    let (_, second) = post(&server, "/v1/responses", &second).await;
    for (response, left) in [(first, 1), (second, 0)] {
        let path = format!("/v1/responses/{}", response["id"].as_str().unwrap());
        assert_eq!(server.request(Method::DELETE, &path).send().await.unwrap().status(), 200);
        let list = server.get("/api/conversations").await;
        assert_eq!(list["items"].as_array().unwrap().len(), left);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_the_server_have_the_form_of_openai() {
    let (server, _folder) = start(&start_provider().await, "");
    let (status, off) = post(&server, "/v1/chat/completions", &json!({})).await;
    assert_snapshot!(format!("{status} {off}"), @r#"404 {"error":{"message":"The OpenAI API is switched off here. The administrator switches it on with `openaiApi: {}` in the config.","type":"invalid_request_error","param":null,"code":"not_found"}}"#);
    let (server, _folder) = start(&start_provider().await, "openaiApi: { bodyBytes: 4096 }");
    let large = json!({ "model": "helper", "messages": [{ "role": "user", "content": "x".repeat(5_000) }] });
    let (status, error) = post(&server, "/v1/chat/completions", &large).await;
    assert_snapshot!(format!("{status} {error}"), @r#"413 {"error":{"message":"The request is too large: 4096 bytes at most.","type":"invalid_request_error","param":null,"code":"request_too_large"}}"#);
    let send = async |body: Vec<u8>| {
        let request = server.request(Method::POST, "/v1/chat/completions").header("content-type", "application/json");
        let response = request.body(body).send().await.unwrap();
        format!("{} {}", response.status().as_u16(), response.text().await.unwrap())
    };
    assert_snapshot!(send(b"{\"model\": \"\xff\"}".to_vec()).await, @r#"400 {"error":{"message":"The request is not valid JSON.","type":"invalid_request_error","param":null,"code":null}}"#);
    assert_snapshot!(send(b"[]".to_vec()).await, @r#"400 {"error":{"message":"The request is not a JSON object.","type":"invalid_request_error","param":null,"code":null}}"#);
    let response = server.request(Method::GET, "/v1/chat/completions").send().await.unwrap();
    assert_snapshot!(format!("{} {}", response.status().as_u16(), response.text().await.unwrap()), @r#"405 {"error":{"message":"This path does not support this method.","type":"invalid_request_error","param":null,"code":"not_found"}}"#);
    // Another site's page cannot ask an agent.
    let other = server.request(Method::POST, "/v1/responses").header("origin", "https://evil.test").json(&json!({}));
    let other: Value = other.send().await.unwrap().json().await.unwrap();
    assert_snapshot!(other.to_string(), @r#"{"error":{"message":"This change came from another site and was refused.","type":"invalid_request_error","param":null,"code":"insufficient_permissions"}}"#);
}
