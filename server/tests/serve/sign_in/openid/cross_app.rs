//! An MCP server with an authorization server of its own, which issues tokens for assertions of the company's provider, at
//! which users sign in.

use super::provider::RealProvider;
use super::{Browser, auth, entry};
use crate::process::Server;
use crate::provider::start_provider;
use crate::tools::connected_accounts::ProtectedServer;
use reqwest::Method;
use reqwest::header::COOKIE;
use serde_json::json;
use std::fs;
use tempfile::TempDir;

const SECRETS: [(&str, &str); 3] = [
    ("OPENID_SECRET", "secret of the tests"),
    ("FILES_SECRET", "secret at files"),
    ("ACCOUNTS_KEY", "a key of the tests, with more than 32 characters"),
];
/// The page on which a user signs in again.
const PAGE: &str = "/account/connections?connect=sign-in%3Acompany";

fn write_config(company: &RealProvider, files: &ProtectedServer, model: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let auth = auth("openidConnect", &[entry("company", &company.issuer, ", signUp: true")]);
    let config = format!(
        "
auth: {auth}
connectedAccounts: {{ keys: [ACCOUNTS_KEY] }}
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}
  - id: files
    type: Mcp
    properties:
      url: {}/mcp
      auth: {{ type: crossAppAccess, clientId: chatwright-at-files, clientSecret: {{ _secret: FILES_SECRET }} }}
agents:
  - {{ id: helper, type: Agent, connectionId: model, properties: {{ model: m }}, mcp: [files] }}
pages: [{{ id: p, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
",
        files.origin
    );
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    folder
}

/// Lets the agent call a tool for a user, and returns what it answers.
async fn call(browser: &Browser, server: &Server, tool: &str) -> String {
    let run = json!({ "agent_name": "helper", "input": { "prompt": format!("{tool} {{}}") }, "tools": true });
    let request = server.request(Method::POST, "/api/runs/invoke").json(&run);
    let answer = request.header(COOKIE, browser.session_cookie(server)).send().await.unwrap();
    answer.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_server_is_called_as_the_user_whom_the_company_asserts() {
    let accounts = json!({ "ada-1": { "name": "Ada" }, "bob-1": { "name": "Bob" } });
    let company = RealProvider::start_with_exchange(&accounts);
    let files = ProtectedServer::start_for(&company.issuer);
    let folder = write_config(&company, &files, &start_provider().await);
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let server = Server::start_logging_with_env(&SECRETS, &arguments, log);
    let (ada, bob) = (Browser::new(), Browser::new());
    ada.sign_in(&server, "company", "ada-1").await;
    bob.sign_in(&server, "company", "bob-1").await;
    let may_read = async |browser: &Browser, account: &str| {
        let answer = call(browser, &server, "whoami").await;
        assert!(answer.contains(&format!("{account} may files.read")), "{answer}");
    };
    may_read(&ada, "ada-1").await;
    may_read(&bob, "bob-1").await;

    // A token that the MCP server does not take any more is replaced, also when the ID token has to be renewed for it.
    files.control("expire").await;
    may_read(&ada, "ada-1").await;
    files.control("expire").await;
    company.end_tokens("expire").await;
    may_read(&ada, "ada-1").await;

    // When the company renews nothing, users learn what to do, and one sign-in is enough.
    files.control("expire").await;
    company.end_tokens("revoke").await;
    call(&ada, &server, "whoami").await;
    let refused = call(&ada, &server, "files_connect_account").await;
    assert!(refused.contains(PAGE) && refused.contains("sign in again"), "{refused}");
    let again = server.url("/auth/openid-connect/company?again=true&next=/account/connections?done=signed-in");
    let shown = ada.open(&again, None).await;
    assert!(shown.text.contains("You have signed in again."), "{}", shown.text);
    may_read(&ada, "ada-1").await;

    // The challenge of the MCP server has no token.
    let log = fs::read_to_string(folder.path().join("log")).unwrap().replace("Bearer resource_metadata", "");
    let is_secret = |text: &str| log.contains(text);
    // ID tokens and assertions begin with the encoded `{"`.
    assert!(!["eyJ", "Bearer ", SECRETS[0].1, SECRETS[1].1].into_iter().any(is_secret), "{log}");
}
