//! Tests of the prompts of the prompt library, as prompts of the protocol.

use super::{SECTION, answer, capabilities, message, start};
use crate::process::Server;
use crate::provider::start_provider;
use crate::sign_in::callers::TokenIssuer;
use insta::assert_json_snapshot;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// A prompt for all, and one for editors.
const PROMPTS: &str = "
prompts:
  shared:
    - { name: translate, description: Translates., text: 'To {{language|English|French}}, {{tone|friendly}}: {{text}}' }
    - { name: closing, text: Close it., roles: [editor] }
";

fn sections() -> String {
    format!("{SECTION}{PROMPTS}")
}

fn list(server: &Server) -> RequestBuilder {
    message(server, &json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list" }))
}

fn get(server: &Server, name: &str, arguments: &Value) -> RequestBuilder {
    let params = json!({ "name": name, "arguments": arguments });
    message(server, &json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params }))
}

async fn names(request: RequestBuilder) -> Vec<String> {
    let answer = answer(request).await;
    let prompts = answer["prompts"].as_array().unwrap_or_else(|| panic!("{answer}"));
    prompts.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect()
}

async fn add(request: RequestBuilder, name: &str, text: &str) {
    let made = request.json(&json!({ "name": name, "text": text })).send().await.unwrap();
    assert_eq!(made.status(), 201, "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_have_their_variables_as_arguments() {
    let (server, _folder) = start(&start_provider().await, &sections());
    add(server.request(Method::POST, "/api/prompts"), "translate", "Translate {{text}}.").await;
    assert_eq!(capabilities(&server, None).await, json!({ "prompts": {}, "tools": {} }));
    // The owner of a local server has no role but `admin`.
    let listed = answer(list(&server)).await;
    assert_json_snapshot!(listed["prompts"], @r#"
    [
      {
        "name": "config__translate",
        "title": "translate",
        "description": "Translates.",
        "arguments": [
          {
            "name": "language",
            "description": "One of: English, French. Default: English",
            "required": false
          },
          {
            "name": "tone",
            "description": "Default: friendly",
            "required": false
          },
          {
            "name": "text",
            "required": true
          }
        ]
      },
      {
        "name": "translate",
        "title": "translate",
        "description": "Your prompt.",
        "arguments": [
          {
            "name": "text",
            "required": true
          }
        ]
      }
    ]
    "#);
    let text = async |name: &str, arguments: Value| {
        let answer = answer(get(&server, name, &arguments)).await;
        let message = &answer["messages"][0];
        match message["content"]["text"].as_str() {
            Some(text) => format!("{} {text}", message["role"].as_str().unwrap()),
            None => format!("{} {}", answer["code"], answer["message"].as_str().unwrap()),
        }
    };
    let check = async |name: &str, arguments: Value, expected: &str| {
        assert_eq!(text(name, arguments.clone()).await, expected, "{name} {arguments}");
    };
    check("translate", json!({ "text": "{{text}}" }), "user Translate {{text}}.").await;
    check("config__translate", json!({ "text": "Hi" }), "user To English, friendly: Hi").await;
    let all = json!({ "text": "Hi", "language": "French", "tone": "" });
    check("config__translate", all, "user To French, : Hi").await;
    check("config__translate", json!({}), "-32602 The argument `text` is missing.").await;
    let wrong = json!({ "text": "Hi", "language": "Latin" });
    check("config__translate", wrong, "-32602 The argument `language` must be one of: English, French.").await;
    check("translate", json!({ "text": "a", "to": "b" }), "-32602 This prompt has no argument `to`.").await;
    check("translate", json!({ "text": 1 }), "-32602 The arguments of a prompt must be texts.").await;
    for unknown in ["shared__translate", "Translate", "nothing", ""] {
        check(unknown, json!({}), "-32602 There is no prompt with this name.").await;
    }
}

/// A prompt that a caller does not see does not exist for them.
#[tokio::test(flavor = "multi_thread")]
async fn prompts_follow_the_rights_of_the_caller() {
    let issuer = TokenIssuer::new();
    let rest = format!("auth: {}\n{}", issuer.auth_config(), sections());
    let (server, _folder) = start(&start_provider().await, &rest);
    let reader = issuer.token_with_roles(("eve", &["reader"]), "chat", 60);
    let editor = issuer.token_with_roles(("ada", &["editor"]), "chat", 60);
    let admin = issuer.token_with_roles(("boss", &["admin"]), "chat", 60);
    add(server.request(Method::POST, "/api/prompts").bearer_auth(&editor), "secret", "Of Ada.").await;
    add(server.request(Method::POST, "/api/prompts").bearer_auth(&reader), "sum", "Of Eve.").await;
    add(server.request(Method::POST, "/api/admin/prompts").bearer_auth(&admin), "sum", "Of all.").await;
    let of_reader = ["config__translate", "shared__sum", "sum"];
    assert_eq!(names(list(&server).bearer_auth(&reader)).await, of_reader);
    let of_editor = ["config__closing", "config__translate", "secret", "shared__sum"];
    assert_eq!(names(list(&server).bearer_auth(&editor)).await, of_editor);
    let got = async |name: &str, token: &str| answer(get(&server, name, &json!({})).bearer_auth(token)).await;
    for name in ["secret", "config__closing"] {
        assert_eq!(got(name, &reader).await, got("nothing", &reader).await, "{name}");
        assert!(got(name, &editor).await["messages"].is_array(), "{name}");
    }
    assert_eq!(got("sum", &reader).await["messages"][0]["content"]["text"], "Of Eve.");
    assert_eq!(got("shared__sum", &reader).await["messages"][0]["content"]["text"], "Of all.");
    assert_eq!(got("sum", &editor).await["code"], -32_602);
}

/// A key that may not read the user's prompts elsewhere does not read them here.
#[tokio::test(flavor = "multi_thread")]
async fn keys_need_the_scope_of_prompts() {
    let (server, _folder) = start(&start_provider().await, &sections());
    let without = server.api_key(&["agents", "endpoints"]).await;
    assert_eq!(capabilities(&server, Some(&without)).await, json!({ "tools": {} }));
    assert_eq!(names(list(&server).bearer_auth(&without)).await, [""; 0]);
    let refused = answer(get(&server, "config__translate", &json!({ "text": "Hi" })).bearer_auth(&without)).await;
    assert_eq!(refused["message"], "There is no prompt with this name.");
    let with = server.api_key(&["agents", "conversations"]).await;
    assert_eq!(capabilities(&server, Some(&with)).await, json!({ "prompts": {}, "tools": {} }));
    assert_eq!(names(list(&server).bearer_auth(&with)).await, ["config__translate"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_lists_have_pages() {
    let (server, _folder) = start(&start_provider().await, &format!("{SECTION}\nprompts: {{ perUser: 200 }}\n"));
    for number in 0..101 {
        add(server.request(Method::POST, "/api/prompts"), &format!("a{number:03}"), "Say it.").await;
    }
    let first = answer(list(&server)).await;
    assert_eq!(first["prompts"].as_array().unwrap().len(), 100);
    let params = json!({ "cursor": first["nextCursor"] });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": params });
    let second = answer(message(&server, &body)).await;
    assert_eq!((&second["prompts"][0]["name"], &second["nextCursor"]), (&json!("a100"), &Value::Null));
}
