//! The reference servers.

use crate::peers::{Peer, address, context, everything, node, npm, program, repository};
use contract::{CallReport, CallReports};
use mcp::{McpSelection, McpSettings, McpTransport};
use serde_json::{Value, json};
use settings::ToolSelection;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

fn over_stdio() -> McpSettings {
    node(&[&npm("server-everything"), "stdio"])
}

/// Starts the server on a free port and waits until it listens.
pub(crate) async fn listening(mode: &str) -> (Child, u16) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    (listening_on(mode, port).await, port)
}

async fn listening_on(mode: &str, port: u16) -> Child {
    let mut command = Command::new("node");
    command.args([&npm("server-everything"), mode]).env("PORT", port.to_string()).kill_on_drop(true);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains(&port.to_string()) {
            break;
        }
    }
    // Its further output must be read.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    child
}

/// Checks what every transport must support.
async fn check(settings: McpSettings) {
    let peer = Peer::new(settings);
    let names = peer.names().await;
    assert!(["echo", "get-sum", "get-tiny-image"].iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
    assert_eq!(peer.call("echo", json!({ "message": "ä\n🦀" })).await, Ok(json!("Echo: ä\n🦀")));
    assert_eq!(peer.call("get-sum", json!({ "a": 2, "b": 3 })).await, Ok(json!("The sum of 2 and 3 is 5.")));
    let image = peer.call("get-tiny-image", json!({})).await.unwrap();
    let kinds: Vec<_> = image["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "image", "text"]);
    let weather = peer.call("get-structured-content", json!({ "location": "Chicago" })).await.unwrap();
    assert!(weather["temperature"].is_number(), "{weather}");
    // Its `execution.taskSupport` is `required`.
    let report = peer.call("simulate-research-query", json!({ "topic": "tides" })).await.unwrap();
    assert!(report.to_string().contains("# Research Report: tides"), "{report}");
    let refused = peer.call("get-sum", json!({ "a": "two" })).await.unwrap_err();
    assert!(refused.contains("expected number"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reference_server_works_over_each_transport() {
    check(over_stdio()).await;
    let (_streamable, port) = listening("streamableHttp").await;
    let transport = McpTransport::Http(address(&format!("http://127.0.0.1:{port}/mcp")));
    check(McpSettings { transport, ..over_stdio() }).await;
    let (_sse, port) = listening("sse").await;
    let transport = McpTransport::Sse(address(&format!("http://127.0.0.1:{port}/sse")));
    check(McpSettings { transport, ..over_stdio() }).await;
}

/// The server answers an unknown session with 400 and an error that does not name the request.
#[tokio::test(flavor = "multi_thread")]
async fn restarted_server_is_reconnected() {
    let (mut server, port) = listening("streamableHttp").await;
    let transport = McpTransport::Http(address(&format!("http://127.0.0.1:{port}/mcp")));
    let peer = Peer::new(McpSettings { transport, ..over_stdio() });
    for round in 0..3 {
        let call = peer.call("echo", json!({ "message": "hi" }));
        let answer = tokio::time::timeout(Duration::from_secs(60), call).await.expect("the call ends");
        assert_eq!(answer, Ok(json!("Echo: hi")), "{round}");
        server.kill().await.unwrap();
        server = listening_on("streamableHttp", port).await;
    }
}

#[tokio::test]
async fn progress_is_reported_and_calls_can_be_cancelled() {
    let peer = Peer::new(over_stdio());
    let (reports, mut shown) = mpsc::channel(8);
    let mut long = context();
    long.reports = CallReports::new("call", reports);
    let input = json!({ "duration": 0.3, "steps": 3 });
    let result = peer.call_as("ada", "trigger-long-running-operation", input, long).await;
    assert_eq!(result, Ok(json!("Long running operation completed. Duration: 0.3 seconds, Steps: 3.")));
    let first = shown.recv().await.unwrap();
    let expected = CallReport::Progress(json!({ "progress": 1.0, "total": 3.0 }));
    assert_eq!(first, ("call".to_owned(), expected));

    let given_up = context();
    let stop = given_up.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.cancel();
    });
    let input = json!({ "duration": 60, "steps": 2 });
    let result = peer.call_as("ada", "trigger-long-running-operation", input, given_up).await;
    assert_eq!(result.unwrap_err(), "Stopped before it finished. It may or may not have had an effect.");
    // The connection can still be used.
    assert_eq!(peer.call("echo", json!({ "message": "still here" })).await, Ok(json!("Echo: still here")));
}

#[tokio::test]
async fn the_selection_filters_and_prefixes_tools() {
    let selection = McpSelection {
        tools: ToolSelection {
            allow: Some(vec!["get-*".to_owned(), "echo".to_owned()]),
            deny: vec!["*-env".to_owned(), "get-r*".to_owned()],
        },
        prefix: "all__".to_owned(),
        confirm: true,
        ..everything()
    };
    let peer = Peer::selecting(over_stdio(), selection);
    let mut names = peer.names().await;
    names.sort();
    assert_eq!(
        names,
        [
            "all__echo",
            "all__get-annotated-message",
            "all__get-structured-content",
            "all__get-sum",
            "all__get-tiny-image"
        ]
    );
    assert!(peer.tools().await.unwrap().iter().all(|tool| tool.spec().needs_approval));
    assert_eq!(peer.call("all__echo", json!({ "message": "hi" })).await, Ok(json!("Echo: hi")));
}

#[tokio::test]
async fn processes_start_with_a_clean_environment() {
    // The test's own environment has more variables than the server's.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let env = Peer::new(over_stdio()).call("get-env", json!({})).await.unwrap();
    let env: Value = serde_json::from_str(env.as_str().unwrap()).unwrap();
    assert_eq!(env["GREETING"], "hello");
    assert!(env["PATH"].is_string());
    assert_eq!(env["CARGO_MANIFEST_DIR"], Value::Null);
}

#[tokio::test]
async fn filesystem_server_works() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    std::fs::write(base.join("note.txt"), "buy milk").unwrap();
    let peer = Peer::new(node(&[&npm("server-filesystem"), &base.display().to_string()]));
    let path = base.join("note.txt").display().to_string();
    let read = peer.call("read_text_file", json!({ "path": path })).await.unwrap();
    assert!(read.to_string().contains("buy milk"), "{read}");
    let refused = peer.call("read_text_file", json!({ "path": "/etc/passwd" })).await.unwrap_err();
    assert!(refused.contains("outside allowed directories"), "{refused}");
}

#[tokio::test]
async fn python_server_works() {
    let python = repository("target/python/bin/python");
    if !std::path::Path::new(&python).exists() {
        eprintln!("skipped: no Python with the package `mcp`; `cargo xtask test` installs it where Python is");
        return;
    }
    let peer = Peer::new(program(&python, &[&repository("crates/mcp/tests/mcp/server.py")]));
    // On a busy machine, Python needs more time for its first start than a server has. The next start is faster.
    for _ in 0..12 {
        if peer.tools().await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    assert_eq!(peer.names().await, ["add", "fail", "portrait"]);
    assert_eq!(peer.call("add", json!({ "a": 2, "b": 3 })).await, Ok(json!({ "result": 5 })));
    let portrait = peer.call("portrait", json!({})).await.unwrap();
    assert_eq!(portrait["content"][0]["mimeType"], "image/png");
    let failed = peer.call("fail", json!({})).await.unwrap_err();
    assert_eq!(failed, "Error executing tool fail");
}
