//! The published packages for JavaScript and Python.

use super::{SECTION, config, start};
use crate::provider::start_provider;
use insta::assert_snapshot;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// Returns the output of a program that uses the server with a package.
async fn run(program: &str, script: &str, arguments: &[&str]) -> String {
    let (server, _folder) = start(&config(&start_provider().await, SECTION), &[]);
    let mut command = Command::new(program);
    command
        .arg(script)
        .arg(&server.origin)
        .arg(server.api_key(&["agents"]).await)
        .args(arguments)
        .env("no_proxy", "127.0.0.1");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed
}

#[tokio::test(flavor = "multi_thread")]
async fn package_of_javascript_works() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/a2a/client.mjs");
    assert_snapshot!(run("node", script, &[]).await, @r#"
    card: ["Helper","Finds and sends things.",["helper"],[["ORIGIN/a2a/helper","JSONRPC","1.0"],["ORIGIN/a2a/helper","HTTP+JSON","1.0"]]]
    schemes: [["apiKey","apiKeyHeader"],true,false]
    task: ["COMPLETED",["answer=hello"],[["ROLE_USER",[{"text":"say hello"}]]]]
    same context: [true,true,["answer=again"]]
    streamed: ["task SUBMITTED","status WORKING","answer \"streamed\"","answer append last \"\"","status COMPLETED"]
    got: ["COMPLETED",["answer=hello"],null]
    sent three times: [true,["answer=once"]]
    streamed again: ["task COMPLETED with answer=once"]
    returned immediately: [true]
    approval: ["INPUT_REQUIRED","May the agent call `send`? The arguments: {\"to\":\"Ada\"}","approval",{"to":"Ada"}]
    approved: ["COMPLETED",true,["answer={\"to\":\"Ada\"} | find send ask-user"],[["ROLE_USER","send {\"to\":\"Ada\"}"],["ROLE_AGENT","May the agent call `send`? The arguments: {\"to\":\"Ada\"}"],["ROLE_USER",true]]]
    denied: ["answer=not to her | find send ask-user"]
    edited: ["answer={\"to\":\"Eve\"} | find send ask-user"]
    answer in a stream: ["task WORKING","answer \"{\\\"to\\\":\\\"Ada\\\"} | find send ask-user\"","answer append last \"\"","status COMPLETED"]
    question: ["INPUT_REQUIRED","Which one? (a / b)"]
    answered: ["answer={\"option\":\"b\"} | find send ask-user"]
    subscribed to what waits: ["task INPUT_REQUIRED"]
    canceled: ["CANCELED","TaskNotCancelableError - The task has ended, so it cannot be canceled."]
    listed: [2,3,true,true,null]
    next page: [[["answer=hello"]],""]
    waiting tasks: 0
    file: [["say seen",["a.png","image/png","ORIGIN/api/files"]]]
    failed: ["FAILED","The model provider cannot be reached. Try again in a moment."]
    unknown task: TaskNotFoundError - There is no task with this id.
    ended task: UnsupportedOperationError - The task has ended. Send the message without `taskId`, with the `contextId` of the task, to begin another one in its context.
    ended stream: UnsupportedOperationError - The task has ended. `GetTask` returns it.
    other context: RequestMalformedError - The task belongs to another context.
    task of another agent: TaskNotFoundError - There is no task with this id.
    role: RequestMalformedError - The role of a message to an agent is `ROLE_USER`.
    file elsewhere: ContentTypeNotSupportedError - Nothing is loaded from other addresses. Send the file itself as `raw`.
    page token: RequestMalformedError - This is not a `nextPageToken` of this server.
    agent that is not offered: Error - Failed to fetch Agent Card from ORIGIN/a2a/hidden/.well-known/agent-card.json: 404
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn package_of_python_works() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/python/bin/python");
    if !Path::new(python).exists() {
        eprintln!("skipped: no Python with the package `a2a-sdk`; `cargo xtask test` installs it where Python is");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/a2a/client.py");
    let printed = run(python, script, &["JSONRPC"]).await;
    assert_eq!(run(python, script, &["HTTP+JSON"]).await, printed, "both bindings do the same");
    assert_snapshot!(printed, @r#"
    card: ["Helper", "ORIGIN/a2a/helper", "1.0"]
    task: ["COMPLETED", ["hello"]]
    streamed: ["task SUBMITTED []", "status WORKING", "answer False False ['streamed']", "answer True True ['']", "status COMPLETED"]
    a tool: ["task SUBMITTED []", "status WORKING", "answer False False ['found | find send ask-user']", "answer True True ['']", "status COMPLETED"]
    approval: ["INPUT_REQUIRED", "May the agent call `send`? The arguments: {\"to\":\"Ada\"}"]
    subscribed: ["task INPUT_REQUIRED []"]
    approved: ["{\"to\":\"Ada\"} | find send ask-user"]
    listed: [["streamed"], ["hello"]]
    got: ["COMPLETED", 1]
    canceled: CANCELED
    unknown: TaskNotFoundError: There is no task with this id.
    ended: TaskNotCancelableError: The task has ended, so it cannot be canceled.
    ended stream: UnsupportedOperationError: The task has ended. `GetTask` returns it.
    message to ended: UnsupportedOperationError: The task has ended. Send the message without `taskId`, with the `contextId` of the task, to begin another one in its context.
    "#);
}
