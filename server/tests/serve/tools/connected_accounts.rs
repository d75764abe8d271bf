//! Accounts of users at an MCP server with a real authorization server (the package `oidc-provider`), from the config to the
//! tool's result.

use super::tool_questions::{Reader, answer, ask};
use crate::process::Server;
use crate::provider::start_provider;
use crate::sign_in::openid::{Browser, Page};
use reqwest::Method;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;
use url::Url;

const KEY: (&str, &str) = ("ACCOUNTS_KEY", "a key of the tests, with more than 32 characters");

/// An MCP server with its authorization server; it is killed when dropped.
pub(crate) struct ProtectedServer {
    child: Child,
    pub(crate) origin: String,
    /// Kept open: a process that cannot write ends.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl ProtectedServer {
    fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts it with an authorization server that takes assertions of a company's provider.
    pub(crate) fn start_for(issuer: &str) -> Self {
        Self::start_with(&[issuer])
    }

    fn start_with(arguments: &[&str]) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/openid/protected-server.mjs");
        let mut command = Command::new("node");
        let command = command.arg(script).args(arguments);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("Node is needed, and its packages: run `npm ci` in `end2end`");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let origin = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("http://"));
        Self { _stdout: lines, child, origin: origin.expect("the server did not start: run `npm ci` in `end2end`") }
    }

    pub(crate) async fn control(&self, what: &str) {
        let url = format!("{}/test/{what}", self.origin);
        assert_eq!(client().post(url).send().await.unwrap().status().as_u16(), 200);
    }

    async fn counts(&self) -> Value {
        client().get(format!("{}/test/counts", self.origin)).send().await.unwrap().json().await.unwrap()
    }
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().build().unwrap()
}

impl Drop for ProtectedServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn write_config(files: &ProtectedServer) -> TempDir {
    let (folder, model) = (TempDir::new().unwrap(), start_provider().await);
    let config = format!(
        "
connectedAccounts: {{ keys: [ACCOUNTS_KEY] }}
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}
  - {{ id: files, type: Mcp, properties: {{ url: '{}/mcp', auth: {{ type: oauth }} }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    mcp: [files]
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
",
        files.origin
    );
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    folder
}

/// Opens the page of a question, and connects the account there.
async fn connect(browser: &Browser, server: &Server, path: &str) -> Page {
    let page = browser.open(&server.url(path), None).await;
    assert!(page.text.contains("Connected accounts") && page.text.contains("127.0.0.1"), "{}", page.text);
    let page = browser.open(&server.url("/account/connections/files/connect"), Some(&[])).await;
    let link = page.text.split("href=\"").find(|part| part.contains("/auth?response_type=code")).unwrap();
    let link = link.split('"').next().unwrap().replace("&amp;", "&");
    let mut page = browser.open(&Url::parse(&link).unwrap(), None).await;
    while page.url.path().starts_with("/interaction/") {
        page = browser.open(&page.url.clone(), Some(&[("account", "ada")])).await;
    }
    assert_eq!(page.url.path(), "/account/connections", "{}", page.text);
    assert!(page.text.contains("The account was connected."), "{}", page.text);
    page
}

/// Reads the stream to its end, and returns the text.
async fn rest(mut stream: Reader) -> String {
    assert_eq!(stream.question().await, None);
    stream.seen
}

async fn accounts(server: &Server) -> Value {
    server.request(Method::GET, "/api/connected-accounts").send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn a_call_waits_until_the_user_has_connected_their_account() {
    let files = ProtectedServer::start();
    let folder = write_config(&files).await;
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let server = Server::start_logging_with_env(&[KEY], &arguments, log);
    let browser = Browser::new();

    // The server's tools are not known before.
    let mut stream = ask(&server, "c1", "files_connect_account {}").await;
    let question = stream.question().await.unwrap();
    assert_eq!(question["url"], "/account/connections?connect=files");
    assert_eq!(question["message"], "Connect your account at files to go on.");
    assert_eq!(answer(&server, &question["id"], json!({ "action": "accept" })).await.0, 204);
    connect(&browser, &server, question["url"].as_str().unwrap()).await;
    assert_eq!(stream.question().await.unwrap()["outcome"], "accepted");
    let text = rest(stream).await;
    assert!(text.contains("The account is connected.") && text.contains("whoami"), "{text}");
    let text = rest(ask(&server, "c2", "whoami {}").await).await;
    assert!(text.contains("ada may files.read"), "{text}");

    // An access token that is not valid any more is renewed, without the user.
    files.control("expire").await;
    let text = rest(ask(&server, "c3", "whoami {}").await).await;
    assert!(text.contains("ada may files.read"), "{text}");

    // A tool that needs more asks for more.
    let mut stream = ask(&server, "c4", "change {}").await;
    let question = stream.question().await.unwrap();
    assert_eq!(question["message"], "files needs you to connect your account again, or to allow more.");
    connect(&browser, &server, question["url"].as_str().unwrap()).await;
    // It goes on without a click in the chat.
    assert_eq!(stream.question().await.unwrap()["outcome"], "accepted");
    let text = rest(stream).await;
    assert!(text.contains("ada may files.read files.write"), "{text}");
    let listed = accounts(&server).await;
    assert_eq!((&listed[0]["service"], &listed[0]["isConnected"]), (&json!("files"), &json!(true)), "{listed}");
    assert_eq!(listed[0]["neededScopes"], json!([]));

    // Another server of the database, after this one was killed.
    let killed = server.stop();
    let server = Server::start_with_env(&[KEY], &["--database", &killed.database, arguments[0], arguments[1]]);
    let text = rest(ask(&server, "c5", "whoami {}").await).await;
    assert!(text.contains("ada may"), "{text}");

    // Disconnecting revokes the tokens.
    let page = browser.open(&server.url("/account/connections/files/disconnect"), Some(&[])).await;
    assert!(page.text.contains("The account was disconnected."), "{}", page.text);
    assert_eq!(accounts(&server).await[0]["isConnected"], false);
    while files.counts().await["revoked"] == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let mut stream = ask(&server, "c6", "files_connect_account {}").await;
    let question = stream.question().await.unwrap();
    assert_eq!(answer(&server, &question["id"], json!({ "action": "decline" })).await.0, 204);
    assert_eq!(stream.question().await.unwrap()["outcome"], "declined");
    let text = rest(stream).await;
    assert!(text.contains("the user has not connected their account"), "{text}");

    // Neither codes nor tokens are in the log.
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.len() > 1_000 && !log.contains("code_verifier=") && !log.contains("refresh_token="), "{}", log.len());
}

#[tokio::test]
async fn programs_read_where_the_account_is_connected_and_others_cannot_finish() {
    let files = ProtectedServer::start();
    let folder = write_config(&files).await;
    let server = Server::start_with_env(&[KEY], &["--config", folder.path().to_str().unwrap()]);
    let run = json!({ "agent_name": "helper", "input": { "prompt": "files_connect_account {}" }, "tools": true });
    let response = server.request(Method::POST, "/api/runs/invoke").json(&run).send().await.unwrap();
    let text = response.text().await.unwrap();
    assert!(text.contains("/account/connections?connect=files"), "{text}");

    // An answer that nobody has asked for, and a service that the config does not have.
    let browser = Browser::new();
    let page = browser.open(&server.url("/auth/connected-accounts/callback?state=x&code=y"), None).await;
    assert!(page.status == 422 && page.text.contains("This was not begun in this browser"), "{}", page.text);
    let page = browser.open(&server.url("/account/connections/other/connect"), Some(&[])).await;
    assert_eq!(page.status, 404);
    let gone = server.request(Method::DELETE, "/api/connected-accounts/files").send().await.unwrap();
    assert_eq!(gone.status().as_u16(), 404);
    // A form of another site.
    let path = "/account/connections/files/connect";
    let foreign = server.request(Method::POST, path).header("origin", "https://evil.test").send().await.unwrap();
    assert_eq!(foreign.status().as_u16(), 403);
    // The document about this client is readable for everybody.
    let document = server.request(Method::GET, "/auth/connected-accounts/client.json").send().await.unwrap();
    let document: Value = document.json().await.unwrap();
    let redirect = format!("{}/auth/connected-accounts/callback", server.origin);
    assert_eq!(document["redirect_uris"], json!([redirect]));
}
