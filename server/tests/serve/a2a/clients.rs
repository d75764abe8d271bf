//! The published packages for JavaScript and Python.

use super::{SECTION, config, key, start};
use crate::provider::start_provider;
use insta::assert_snapshot;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// Returns what a program prints that uses the server with a package.
async fn run(program: &str, script: &str) -> String {
    let (server, _folder) = start(&config(&start_provider().await, SECTION), &[]);
    let mut command = Command::new(program);
    command.arg(script).arg(&server.origin).arg(key(&server).await).env("no_proxy", "127.0.0.1");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed
}

#[tokio::test(flavor = "multi_thread")]
async fn package_of_javascript_works() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/a2a/client.mjs");
    assert_snapshot!(run("node", script).await, @"");
}

#[tokio::test(flavor = "multi_thread")]
async fn package_of_python_works() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/python/bin/python");
    if !Path::new(python).exists() {
        eprintln!("skipped: no Python with the package `a2a-sdk`; `cargo xtask test` installs it where Python is");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/a2a/client.py");
    assert_snapshot!(run(python, script).await, @"");
}
