//! The official clients, LangChain and the AI SDK.

use super::{key, start};
use crate::provider::start_provider;
use insta::assert_snapshot;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// Returns what a script prints that uses a client with the server.
async fn run(program: &str, script: &str) -> String {
    let (server, _folder) = start(&start_provider().await, "openaiApi: { agents: [helper] }");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let mut command = Command::new(program);
    command.arg(script).arg(format!("{}/v1", server.origin)).arg(key(&server).await);
    // Nothing but the server is reached.
    command.env("LANGSMITH_TRACING", "false").env("OPENAI_API_KEY", "").env("no_proxy", "127.0.0.1");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed
}

#[tokio::test(flavor = "multi_thread")]
async fn package_of_node_works() {
    assert_snapshot!(run("node", "../end2end/openai/client.mjs").await, @"");
}

#[tokio::test(flavor = "multi_thread")]
async fn langchain_of_node_works() {
    assert_snapshot!(run("node", "../end2end/openai/langchain.mjs").await, @"");
}

#[tokio::test(flavor = "multi_thread")]
async fn ai_sdk_works() {
    assert_snapshot!(run("node", "../end2end/openai/ai-sdk.mjs").await, @"");
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_of_python_work() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/python/bin/python");
    if !Path::new(python).exists() {
        eprintln!("skipped: no Python with the package `openai`; `cargo xtask test` installs it where Python is");
        return;
    }
    assert_snapshot!(run(python, "tests/serve/openai/client.py").await, @"");
}
