//! The program with what it adds, as its users see it.

use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The folder of the example's config.
const EXAMPLE: &str = env!("CARGO_MANIFEST_DIR");

/// A running server, which is killed when it is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_extended"));
    command.args(arguments).env("WAREHOUSE_KEY", "k3y-of-the-warehouse");
    command
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap()
}

/// Starts the program with a config, with its database in `folder`, and returns its URL.
fn start(folder: &Path, config: &str) -> (Server, String) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let database = format!("sqlite://{}", folder.join("extended.db").display());
    let arguments = ["serve", "--addr", "127.0.0.1:0", "--config", config, "--database", &database];
    let mut child = command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    (Server(child), url)
}

/// Asks an agent and checks that the streamed answer contains a text.
async fn check_answer(url: &str, agent: &str, question: &str, expected: &str) {
    let client = client();
    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": question }] });
    let body = json!({ "id": question.replace(' ', "-"), "messages": [message] });
    let response = client.post(format!("{url}/api/agent/{agent}")).json(&body).send().await.unwrap();
    let (status, answer) = (response.status(), response.text().await.unwrap());
    assert!(status.is_success() && answer.contains(expected), "{status}: {answer}");
}

#[tokio::test]
async fn agents_use_the_added_provider_and_the_added_tool() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = start(folder.path(), EXAMPLE);
    check_answer(&url, "parrot/parrot", "Hello", "\"delta\":\"Hello \"").await;
    check_answer(&url, "home/storekeeper", "Look up bolt", "\"count\":120").await;
    check_answer(&url, "home/storekeeper", "Look up washer", "The parts are: bolt, nut.").await;
}

#[tokio::test]
async fn the_server_renders_the_added_block() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = start(folder.path(), EXAMPLE);
    let html = client().get(format!("{url}/home")).send().await.unwrap().text().await.unwrap().replace("<!>", "");
    assert!(html.contains(r#"Shelf: 0 of 100 <meter max="100" value="0">"#), "{html}");
}

#[tokio::test]
async fn the_added_operator_is_evaluated_in_endpoints() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = start(folder.path(), EXAMPLE);
    let call = async |bolts: u32| {
        let call = client().post(format!("{url}/api/endpoints/home/fill"));
        call.json(&json!({ "bolts": bolts })).send().await.unwrap().text().await.unwrap()
    };
    assert!(call(50).await.contains("25"), "{}", call(50).await);
}

#[tokio::test]
async fn the_added_operator_is_evaluated_for_each_turn() {
    let folder = tempfile::tempdir().unwrap();
    let config = |of: u32| {
        let steps = format!("{{ _percent: {{ part: 1, of: {of} }} }}");
        let agent =
            format!("id: parrot, type: Agent, connectionId: echo, properties: {{ model: loud, maxSteps: {steps} }}");
        let chat = "id: chat, type: AgentChat, properties: { agentId: parrot }";
        format!(
            "connections: [{{ id: echo, type: Echo }}]\nagents: [{{ {agent} }}]\npages: [{{ id: parrot, blocks: [{{ {chat} }}] }}]\n"
        )
    };
    let file = folder.path().join("chatwright.yaml");
    std::fs::write(&file, config(20)).unwrap();
    let (server, url) = start(folder.path(), file.to_str().unwrap());
    check_answer(&url, "parrot/parrot", "Hello", "\"delta\":\"Hello \"").await;
    drop(server);
    // Its error is one of the turn.
    std::fs::write(&file, config(0)).unwrap();
    let (_server, url) = start(folder.path(), file.to_str().unwrap());
    let body = json!({ "id": "c2", "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] }] });
    let refused = client().post(format!("{url}/api/agent/parrot/parrot")).json(&body).send().await.unwrap();
    let refused = refused.text().await.unwrap();
    assert!(refused.contains("This agent is not available right now"), "{refused}");
}

#[test]
fn additions_are_documented() {
    let check = |arguments: &[&str], expected: &str| {
        let output = command(arguments).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains(expected), "{expected} is not in:\n{printed}");
    };
    let operator = "### Added by this program\n| operator | takes | returns | for example |\n|---|---|---|---|\n| `_percent` | `part`, `of` | A part of a number";
    check(&["schema", "--operators"], operator);
    check(&["schema", "--markdown"], "| `max` | number or operator | `100.0` | The value of something that is full. |");
    check(&["schema"], "Shows how full something is");
}

/// Runs `check` on a config and returns what it prints.
fn check(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    let output = command(&["check", "--config", "."]).current_dir(folder.path()).output().unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

#[test]
fn mistakes_in_added_parts_are_reported_with_their_position() {
    let check = |text: &str, expected: &str| {
        let printed = check(text);
        assert!(printed.contains(expected), "{expected} is not in:\n{printed}");
    };
    check("connections: [{ id: a, type: Warehous }]", "did you mean `Warehouse`?");
    check("connections: [{ id: a, type: Echo, properties: { times: 11 } }]", "chatwright.yaml:1:57: error");
    let warehouse = |key: &str| {
        format!(
            "connections:\n  - id: w\n    type: Warehouse\n    properties:\n      stock: {{}}\n      apiKey: {key}\n"
        )
    };
    check(&warehouse("{ _secret: NOT_SET }"), "the environment variable `NOT_SET` is not set");
    check(&warehouse("abc"), "chatwright.yaml:6:15: error: a key of the warehouse has at least 4 characters");
    let page = |block: &str| format!("pages: [{{ id: home, blocks: [{{ id: b, {block} }}] }}]\n");
    check(&page("type: Gaug"), "did you mean `Gauge`?");
    check(&page("type: Gauge, properties: { valu: 1 }"), "did you mean `value`?");
    check(&page("type: Gauge, properties: { value: 101 }"), "chatwright.yaml:1:73: error: the highest value is 100");
    check(&page("type: Gauge, events: { onRefres: [] }"), "did you mean `onRefresh`?");
    let on_page = "chatwright.yaml:1:75: error: the operator `_percent` is evaluated by the server alone";
    check(&page("type: Gauge, properties: { value: { _percent: [1, 2] } }"), on_page);
    let agent =
        "agents: [{ id: a, type: Agent, connectionId: w, properties: { model: m }, stock: { connectionId: e } }]\n";
    let echo = "connections: [{ id: e, type: Echo }, { id: w, type: Warehouse, properties: { apiKey: { _secret: WAREHOUSE_KEY }, stock: {} } }]\n";
    check(&format!("{echo}{agent}"), "the connection `w` is of the type Warehouse, which has no model");
    check(&format!("{echo}{agent}"), "this needs a connection of the type Warehouse; `e` is of the type Echo");
}
