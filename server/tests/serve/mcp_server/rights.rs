//! Tests of the tools that each caller is offered, and of the discovery of the authorization server.

use super::{SECTION, call, config, last_message, message, start};
use crate::process::Server;
use crate::provider::start_provider;
use crate::sign_in::callers::TokenIssuer;
use insta::assert_snapshot;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Tools for everybody who is signed in, and for editors.
const RULES: &str = "
  - { id: closed, description: Secret., auth: { roles: [editor] }, payloadSchema: { type: object }, routine: [{ ':return': secret }] }
libraries: [{ id: handbook, folder: handbook }, { id: board, folder: board, readers: [editor] }]
mcpApi: { agents: [helper, editors], endpoints: [find, closed], documents: true }
";

async fn names(request: RequestBuilder) -> Vec<String> {
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn list(server: &Server) -> RequestBuilder {
    message(server, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }))
}

/// Starts a server with this section `auth`.
async fn start_with_auth(auth: &str) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    for (library, text) in [("handbook", "The pump runs at night."), ("board", "The pump will be sold.")] {
        std::fs::create_dir(folder.path().join(library)).unwrap();
        std::fs::write(folder.path().join(library).join("pump.md"), text).unwrap();
    }
    let editors = "  - { id: editors, type: Agent, connectionId: model, auth: { roles: [editor] }, properties: { model: m } }\napi:";
    let text = config(&start_provider().await, "").replace("api:", editors);
    let (api, pages) = text.split_once("pages:").unwrap();
    let (rules, sections) = RULES.split_once("libraries:").unwrap();
    let text = format!("auth: {auth}\n{}{}pages:{pages}libraries:{sections}", api.trim_end(), rules);
    std::fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_follow_the_rights_of_the_caller() {
    let issuer = TokenIssuer::new();
    let (server, _folder) = start_with_auth(&issuer.auth_config()).await;
    let reader = issuer.token_with_roles(("eve", &["reader"]), "chat", 60);
    let editor = issuer.token_with_roles(("ada", &["editor"]), "chat", 60);
    let all = ["helper", "find", "document_search", "document_read"];
    assert_eq!(names(list(&server).bearer_auth(&reader)).await, all);
    let all = ["helper", "editors", "find", "closed", "document_search", "document_read"];
    assert_eq!(names(list(&server).bearer_auth(&editor)).await, all);
    let result = async |tool: &str, arguments: Value, token: &str| {
        let response = message(&server, &call(1, tool, &arguments)).bearer_auth(token).send().await.unwrap();
        last_message(&response.text().await.unwrap())
    };
    for tool in ["closed", "editors"] {
        let refused = result(tool, json!({ "message": "say x" }), &reader).await;
        assert_eq!(
            refused["error"],
            json!({ "code": -32602, "message": "There is no tool with this name." }),
            "{tool}"
        );
    }
    assert_eq!(result("closed", json!({}), &editor).await["result"]["content"][0]["text"], "secret");
    // A conversation of somebody else does not exist.
    let own = result("helper", json!({ "message": "say x" }), &editor).await;
    let id = &own["result"]["structuredContent"]["conversationId"];
    let other = result("helper", json!({ "message": "say x", "conversationId": id }), &reader).await;
    let none = result("helper", json!({ "message": "say x", "conversationId": "none" }), &reader).await;
    assert_eq!((&other, &other["result"]["isError"]), (&none, &json!(true)));
    // A search does not find documents that the user may not read.
    let files = async |token: &str| loop {
        let found = result("document_search", json!({ "query": "pump" }), token).await;
        let texts: Vec<_> = found["result"]["structuredContent"]["results"].as_array().into_iter().flatten().collect();
        let mut texts: Vec<_> = texts.iter().map(|found| found["text"].as_str().unwrap().to_owned()).collect();
        texts.sort_unstable();
        if !texts.is_empty() && (token != editor || texts.len() == 2) {
            break (texts, found["result"]["structuredContent"]["results"][0]["documentId"].clone());
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let (found, _) = files(&editor).await;
    assert_eq!(found, ["The pump runs at night.", "The pump will be sold."]);
    let (found, document) = files(&reader).await;
    assert_eq!(found, ["The pump runs at night."]);
    let read = result("document_read", json!({ "documentId": document }), &reader).await;
    assert_eq!(read["result"]["structuredContent"]["results"][0]["text"], "The pump runs at night.");
    let invalid = result("document_read", json!({ "document": document }), &reader).await;
    assert_snapshot!(invalid["result"], @r#"{"content":[{"type":"text","text":"The arguments are not valid: Additional properties are not allowed ('document' was unexpected); \"documentId\" is a required property."}],"isError":true}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_have_the_tools_of_their_scopes() {
    let section = SECTION.replace("agents:", "documents: true, agents:");
    let (server, _folder) = start(&start_provider().await, &section);
    let scopes = [vec!["agents"], vec!["agents", "endpoints"]];
    let all = vec!["helper", "find", "fail", "mail__send", "document_search", "document_read"];
    for (scopes, expected) in scopes.iter().zip([vec!["helper"], all]) {
        let key = server.api_key(scopes).await;
        assert_eq!(names(list(&server).bearer_auth(key)).await, expected);
    }
    let key = server.api_key(&["endpoints"]).await;
    let refused = list(&server).bearer_auth(key).send().await.unwrap();
    assert_eq!(refused.status(), 403);
    assert_snapshot!(refused.text().await.unwrap(), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"This API key does not have the scope `agents`, which this request needs."}}"#);
}

/// A client without a token is led to the issuer.
#[tokio::test(flavor = "multi_thread")]
async fn clients_find_where_to_get_tokens() {
    let show = async |server: &Server, path: &str, host: &str| {
        let response = server.request(Method::GET, path).header("host", host).send().await.unwrap();
        format!("{} {}", response.status().as_u16(), response.text().await.unwrap())
    };
    let challenge = async |request: RequestBuilder| {
        let response = request.send().await.unwrap();
        format!("{} {}", response.status().as_u16(), response.headers()["www-authenticate"].to_str().unwrap())
    };
    let auth = TokenIssuer::new().auth_config().replace("issuer: host", "issuer: 'https://login.test/tenant'");
    let (server, _folder) = start_with_auth(&auth).await;
    let root = "/.well-known/oauth-protected-resource";
    let known = show(&server, root, "chat.test").await;
    assert_snapshot!(known, @r#"200 {"resource":"https://chat.test/mcp","authorization_servers":["https://login.test/tenant"],"bearer_methods_supported":["header"]}"#);
    assert_eq!(show(&server, &format!("{root}/mcp"), "chat.test").await, known);
    assert_eq!(show(&server, root, "chat.test:443").await, known);
    let local = server.origin.strip_prefix("http://").unwrap();
    let here = show(&server, root, local).await.replace(&server.origin, "ORIGIN");
    assert_snapshot!(here, @r#"200 {"resource":"ORIGIN/mcp","authorization_servers":["https://login.test/tenant"],"bearer_methods_supported":["header"]}"#);
    assert_snapshot!(challenge(list(&server).header("host", "chat.test")).await, @r#"401 Bearer resource_metadata="https://chat.test/.well-known/oauth-protected-resource/mcp""#);
    assert_snapshot!(challenge(list(&server).header("host", "chat.test").bearer_auth("wrong")).await, @r#"401 Bearer resource_metadata="https://chat.test/.well-known/oauth-protected-resource/mcp""#);
    let other = server.request(Method::POST, "/api/agent/desk/helper").bearer_auth("wrong");
    assert_snapshot!(challenge(other).await, @"401 Bearer");
    // Without an issuer that is a URL, there is nothing to find.
    let (server, _folder) = start_with_auth(&TokenIssuer::new().auth_config()).await;
    assert!(show(&server, root, "chat.test").await.starts_with("404 "));
    assert_eq!(challenge(list(&server)).await, "401 Bearer");
}
