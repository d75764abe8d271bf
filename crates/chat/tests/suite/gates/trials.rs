//! Tool trials by an administrator: the same gates, with an audit entry.

use crate::gates::house::{TestChat, ada, helper, tool};
use agent::{Policy, PolicyQuery, Ruling};
use chat::TrialRequest;
use contract::testing::RecordingTool;
use contract::{ApprovalTerms, Execution, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::sync::Arc;

/// A policy that denies sending on Sundays, on a Sunday.
struct Sunday;

impl Policy for Sunday {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        let ruling = if asked.call.name == "send" { Ruling::Deny("not on Sundays.".to_owned()) } else { Ruling::Allow };
        async move { ruling }.boxed()
    }
}

#[tokio::test]
async fn trial_passes_every_gate() {
    let (mut agent, paid) = helper(Vec::new(), ApprovalTerms::default());
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let read = RecordingTool::new(ToolSpec::new("read", "", schema), |input: Value, _| async move { Ok(input) });
    let client = ToolSpec { execution: Execution::Client, ..ToolSpec::new("look", "", json!({ "type": "object" })) };
    let client = RecordingTool::new(client, |input: Value, _| async move { Ok(input) });
    let (send, sent) = tool("send", ApprovalTerms::default());
    agent.tools.extend([Arc::new(read) as _, Arc::new(client) as _, send]);
    agent.policy = Some(Arc::new(Sunday));
    let test = TestChat::open(agent).await;
    let mut lines = String::new();
    for (tool, arguments, approved) in [
        ("read", r#"{"n":1}"#, false),
        ("read", r#"{"n":"one"}"#, true),
        ("read", "n=1", true),
        ("pay", r#"{"n":2}"#, false),
        ("pay", r#"{"n":3}"#, true),
        ("send", "", true),
        ("nothing", "", true),
        ("look", "", true),
    ] {
        let request = TrialRequest {
            agent_id: "helper".to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            approved,
        };
        let line = match test.chat.try_tool(&ada(), request).await {
            Ok(trial) => {
                let came = trial.output.map_or_else(|| trial.error.unwrap_or_default(), |output| output.to_string());
                format!("{} {came}", trial.outcome.name())
            }
            Err(error) => format!("{} {}", error.code.status(), error.message),
        };
        lines.push_str(&format!("{tool}: {line}\n"));
    }
    assert_snapshot!(lines, @r#"
    read: ok {"n":1}
    read: refused The arguments do not fit: /n: "one" is not of type "integer"
    read: refused The arguments are not valid JSON: expected ident at line 1 column 2.
    pay: denied Not approved in this trial.
    pay: ok {"n":3}
    send: refused Not allowed: not on Sundays.
    nothing: refused There is no tool `nothing`. Available: look, pay, read, send.
    look: 422 This tool runs in a user's browser, or is another agent. It cannot be tried here.
    "#);
    assert_eq!(*paid.lock().unwrap(), [json!({ "n": 3 })], "only what was approved");
    assert_eq!(*sent.lock().unwrap(), [] as [Value; 0]);
    // Each trial has an entry; a browser tool was not called.
    let log = test.log().await;
    let rows: Vec<_> = log.lines().map(|row| row.splitn(4, ' ').skip(3).collect::<String>()).collect();
    assert_snapshot!(rows.join("\n"), @"
    ok []
    refused [schema refused The arguments do not fit the tool.]
    refused [schema refused The arguments are not a JSON object.]
    denied [approval asked, approval denied ada Not approved in this trial.]
    ok [approval asked, approval approved ada]
    refused [policy refused not on Sundays.]
    refused [schema refused There is no such tool.]
    ");
    assert_eq!(test.chat.conversations(&ada(), Default::default(), 9, None).await.unwrap().items, []);
}
