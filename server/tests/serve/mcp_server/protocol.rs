//! Tests of the transport, of the list of tools, and of the answers in conversations.

use super::{ACCEPTED, SECTION, call, config, last_message, message, result_of, start};
use crate::provider::start_provider;
use insta::{assert_json_snapshot, assert_snapshot};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::time::Duration;

async fn status_and_message(request: RequestBuilder) -> String {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status} {text}"));
    format!("{status} {} {}", body["error"]["code"], body["error"]["message"].as_str().unwrap_or(&text))
}

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_described() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let answer: Value = message(&server, &list()).send().await.unwrap().json().await.unwrap();
    let mut tools = answer["result"]["tools"].clone();
    let properties = tools[0]["outputSchema"]["properties"].as_object().unwrap();
    assert_eq!(
        properties.keys().collect::<Vec<_>>(),
        ["answer", "conversationId", "url", "outcome", "reason", "waitsFor"]
    );
    tools[0]["outputSchema"] = "as above".into();
    assert_json_snapshot!(tools, @r#"
    [
      {
        "name": "helper",
        "description": "Asks the agent `helper`.",
        "inputSchema": {
          "type": "object",
          "properties": {
            "message": {
              "type": "string",
              "minLength": 1,
              "description": "The question for the agent."
            },
            "conversationId": {
              "type": "string",
              "description": "The conversation to continue, from an earlier result. Without it, a new one begins."
            }
          },
          "required": [
            "message"
          ],
          "additionalProperties": false
        },
        "outputSchema": "as above",
        "annotations": {
          "readOnlyHint": false
        }
      },
      {
        "name": "find",
        "description": "Finds.",
        "inputSchema": {
          "type": "object",
          "properties": {
            "query": {
              "type": "string"
            }
          }
        },
        "annotations": {
          "readOnlyHint": true
        }
      },
      {
        "name": "fail",
        "description": "Fails.",
        "inputSchema": {
          "type": "object"
        }
      },
      {
        "name": "mail__send",
        "description": "Sends.",
        "inputSchema": {
          "type": "object"
        },
        "annotations": {
          "idempotentHint": true
        }
      }
    ]
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_not_understood_are_refused() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let request = |body: &str| message(&server, &Value::Null).body(body.to_owned());
    let bare = |method| server.request(method, "/mcp");
    let json = "application/json";
    let unknown_version = bare(Method::POST).header("accept", ACCEPTED).json(&list());
    let unknown_version = unknown_version.header("mcp-protocol-version", "1999-01-01");
    let all = [
        status_and_message(bare(Method::GET)).await,
        status_and_message(bare(Method::DELETE)).await,
        status_and_message(bare(Method::POST).body("{}")).await,
        status_and_message(bare(Method::POST).header("content-type", json).header("accept", json).body("{}")).await,
        status_and_message(request("{")).await,
        status_and_message(request("[]")).await,
        status_and_message(request(r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#)).await,
        status_and_message(request(&list().to_string()).header("mcp-session-id", "made up")).await,
        status_and_message(unknown_version).await,
        status_and_message(request(&list().to_string()).header("origin", "http://evil.test")).await,
        status_and_message(request(&list().to_string()).header("host", "evil.test")).await,
        status_and_message(request(r#"{"jsonrpc":"2.0","id":1,"method":"tools/fold"}"#)).await,
    ];
    assert_snapshot!(all.join("\n"), @r#"
    405 -32600 This path does not support this method.
    405 -32600 This path does not support this method.
    415 -32600 The request must be `application/json`.
    406 -32600 The header `Accept` must name `application/json` and `text/event-stream`.
    400 -32700 The body is not JSON.
    400 -32600 The body must be one message of JSON-RPC 2.0; batches are not supported.
    400 -32600 The body must be one message of JSON-RPC 2.0; batches are not supported.
    404 -32600 This session does not exist. Initialize a new one.
    400 -32600 The request could not be read.
    403 -32600 This change came from another site and was refused.
    421 -32600 This server accepts requests only under a local host name, for example http://127.0.0.1.
    200 -32601 tools/fold
    "#);
    let (server, _folder) = start(&start_provider().await, "");
    let off = "404 -32600 There is no MCP server here. The administrator switches it on with `mcpApi` in the config.";
    for request in
        [message(&server, &list()), server.request(Method::GET, "/mcp"), server.request(Method::DELETE, "/mcp")]
    {
        assert_eq!(status_and_message(request).await, off);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_gets_a_session_id_and_the_newest_version_that_it_knows() {
    let (server, _folder) = start(&start_provider().await, &SECTION.replace("agents:", "instructions: Ask., agents:"));
    for version in ["2025-03-26", "2025-11-25"] {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        // The header is not known before the handshake.
        let request = server.request(Method::POST, "/mcp").header("accept", ACCEPTED).json(&body);
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["mcp-session-id"].len(), 32);
        let answer: Value = response.json().await.unwrap();
        let result = &answer["result"];
        assert_eq!((&result["protocolVersion"], &result["instructions"]), (&json!(version), &json!("Ask.")));
        assert_eq!(result["capabilities"], json!({ "tools": {} }));
    }
}

/// The conversation is the user's own, in the list of their page.
#[tokio::test(flavor = "multi_thread")]
async fn answer_is_a_conversation() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let result = result_of(&server, "helper", json!({ "message": "send {}" })).await;
    assert_eq!(result["structuredContent"]["outcome"], "waiting");
    assert_eq!(result["structuredContent"]["waitsFor"], json!([{ "tool": "send", "kind": "approval" }]));
    let id = result["structuredContent"]["conversationId"].as_str().unwrap();
    assert_eq!(result["structuredContent"]["url"], format!("{}/desk?conversation={id}", server.origin));
    let shown = server.request(Method::GET, &format!("/api/conversations/{id}")).send().await.unwrap();
    let shown: Value = shown.json().await.unwrap();
    assert_eq!((&shown["pageId"], &shown["agentId"]), (&json!("desk"), &json!("helper")));
    let page = server.request(Method::GET, &format!("/desk?conversation={id}")).send().await.unwrap();
    assert_eq!(page.status(), 200);
    // Another agent cannot continue it.
    let section = SECTION.replace("[helper]", "[helper, second]");
    let (server, _folder) = start(&start_provider().await, &section);
    let first = result_of(&server, "second", json!({ "message": "say hello" })).await;
    let id = &first["structuredContent"]["conversationId"];
    let other = result_of(&server, "helper", json!({ "message": "say hello", "conversationId": id })).await;
    assert_snapshot!(other, @r#"{"content":[{"type":"text","text":"This conversation is with another agent. Start a new conversation to ask this one."}],"isError":true}"#);
    assert_snapshot!(result_of(&server, "helper", json!({ "text": "say hello" })).await, @r#"{"content":[{"type":"text","text":"The arguments are not valid: unknown field `text`, expected `message` or `conversationId`."}],"isError":true}"#);
}

/// Otherwise a stored document of somebody else in that form would decide which images and links clients get.
#[tokio::test(flavor = "multi_thread")]
async fn results_are_content_only_where_the_config_says_so() {
    let section = "mcpApi: { endpoints: [echo, { endpointId: echo, name: show, returnsContent: true }] }";
    let (server, _folder) = start(&start_provider().await, section);
    let content = json!({ "content": [{ "type": "text", "text": "hi" }] });
    let echoed = result_of(&server, "echo", json!({ "value": content })).await;
    assert_eq!(echoed["structuredContent"], content);
    let shown = result_of(&server, "show", json!({ "value": content })).await;
    assert_eq!((&shown["content"], &shown["structuredContent"]), (&content["content"], &Value::Null));
    assert_snapshot!(result_of(&server, "show", json!({ "value": "hi" })).await, @r#"{"content":[{"type":"text","text":"The result is not the content that the tool should return: it is not an object with nothing but `content`, a list of blocks."}],"isError":true}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_follow_a_change_of_the_config() {
    let model = start_provider().await;
    let (server, folder) = start(&model, "mcpApi: { endpoints: [find] }");
    let names = async || {
        let answer: Value = message(&server, &list()).send().await.unwrap().json().await.unwrap();
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["find"]);
    let changed = config(&model, "mcpApi: { endpoints: [{ endpointId: find, name: look_up }] }");
    std::fs::write(folder.path().join("chatwright.yaml"), changed).unwrap();
    while names().await != ["look_up"] {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let response = message(&server, &call(1, "find", &json!({}))).send().await.unwrap();
    assert_snapshot!(last_message(&response.text().await.unwrap()), @r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"There is no tool with this name."}}"#);
}
