//! Tests of real servers: MCP's reference server, and addresses where there is none.

use super::*;
use crate::probe;
use crate::store::TestResult;
use config::McpConnection;
use serde_json::json;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const EVERYTHING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../end2end/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
);

/// Starts the reference server on a free port and waits until it listens.
async fn listening() -> (Child, u16) {
    assert!(Path::new(EVERYTHING).exists(), "`npm ci` has not been run in end2end; `cargo xtask test` does");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("node");
    command.args([EVERYTHING, "streamableHttp"]).env("PORT", port.to_string()).kill_on_drop(true);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains(&port.to_string()) {
            break;
        }
    }
    // Its further output must be read.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, port)
}

/// Returns how a server is reached that was saved.
fn connection(url: &str) -> McpConnection {
    let mut bench = Bench::new(&CONFIG.replace("mcpServers: {", "mcpServers: { allowPrivate: true,"));
    bench.save("weather", json!({ "url": url, "agents": ["helper"] })).unwrap();
    bench.config().agents["helper"].mcp.last().unwrap().server.clone()
}

async fn test(connection: McpConnection) -> TestResult {
    probe::start("weather", connection, "ada").unwrap().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_finds_tools_or_says_what_is_wrong() {
    let (_server, port) = listening().await;
    let found = test(connection(&format!("http://127.0.0.1:{port}/mcp"))).await;
    assert!(found.error.is_none() && found.tools.contains(&"echo".to_owned()), "{found:?}");
    let nowhere = test(connection(&format!("http://127.0.0.1:{port}/{CANARY}?key={CANARY}"))).await;
    let error = nowhere.error.unwrap();
    assert!(error.contains("not available") && !error.contains("canary"), "{error}");
    assert!(nowhere.tools.is_empty());
    // The address is checked again when it is used, whatever a name resolves to.
    let mut private = connection(&format!("http://127.0.0.1:{port}/mcp"));
    if let settings::mcp::McpTransport::Http(http) = &mut private.transport {
        http.allow_private = false;
    }
    assert!(test(private).await.error.unwrap().contains("cannot be reached"));
}

/// A server that accepts connections and never answers.
#[tokio::test(flavor = "multi_thread")]
async fn tests_are_bounded_in_time_and_number() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let begun = std::time::Instant::now();
    let mut running = Vec::new();
    let refused = loop {
        match probe::start("weather", connection(&url), "ada") {
            Ok(test) => running.push(tokio::spawn(test)),
            Err(error) => break error,
        }
    };
    assert!((1..=4).contains(&running.len()) && refused.message.contains("Too many tests"));
    for test in running {
        assert!(test.await.unwrap().error.is_some());
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(60));
}
