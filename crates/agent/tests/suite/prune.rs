//! Pruning the history.

use crate::history;
use agent::prune;
use contract::{AssistantPart, Message};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;

fn conversation() -> Value {
    let call = |id: &str, tool: &str| json!({ "type": "tool-call", "toolCallId": id, "toolName": tool, "input": {} });
    let result = |id: &str, tool: &str| json!({ "type": "tool-result", "toolCallId": id, "toolName": tool, "output": { "value": 1 } });
    json!([
        { "role": "user", "content": "q1" },
        { "role": "assistant", "content": [{ "type": "reasoning", "text": "r1" }, call("a", "search"), call("b", "calc")] },
        { "role": "tool", "content": [result("a", "search"), result("b", "calc")] },
        { "role": "assistant", "content": [{ "type": "reasoning", "text": "r2" }, call("c", "search")] },
        { "role": "tool", "content": [result("c", "search")] },
    ])
}

/// One line for each message.
fn shown(messages: &[Arc<Message>]) -> String {
    let mut lines = String::new();
    for message in messages {
        let parts: Vec<_> = match &**message {
            Message::System(text) => vec![text.clone()],
            Message::User(_) => vec!["user".to_owned()],
            Message::Assistant(parts) => parts
                .iter()
                .map(|part| match part {
                    AssistantPart::Reasoning { text, .. } | AssistantPart::Text { text, .. } => text.clone(),
                    AssistantPart::ToolCall(call) => format!("call {}", call.id),
                    other => format!("{other:?}"),
                })
                .collect(),
            Message::Tool(results) => results.iter().map(|result| format!("result {}", result.call_id)).collect(),
        };
        let _ = writeln!(lines, "[{}]", parts.join(", "));
    }
    lines
}

fn check(options: Value) -> String {
    shown(&prune(&history::messages(&conversation()), &history::options(&options)))
}

#[test]
fn reasoning_is_pruned() {
    assert_snapshot!(check(json!({ "reasoning": "none" })), @"
    [user]
    [r1, call a, call b]
    [result a, result b]
    [r2, call c]
    [result c]
    ");
    assert_snapshot!(check(json!({ "reasoning": "before-last-message" })), @"
    [user]
    [call a, call b]
    [result a, result b]
    [call c]
    [result c]
    ");
}

#[test]
fn calls_are_pruned_with_their_results() {
    assert_snapshot!(check(json!({ "toolCalls": "all" })), @"
    [user]
    [r1]
    [r2]
    ");
    assert_snapshot!(check(json!({ "toolCalls": "before-last-message", "emptyMessages": "keep" })), @"
    [user]
    [r1]
    []
    [r2, call c]
    [result c]
    ");
    assert_snapshot!(check(json!({ "toolCalls": "before-last-3-messages" })), @"
    [user]
    [r1, call a, call b]
    [result a, result b]
    [r2, call c]
    [result c]
    ");
    assert_snapshot!(check(json!({ "toolCalls": [{ "type": "all", "tools": ["calc"] }] })), @"
    [user]
    [r1, call a]
    [result a]
    [r2, call c]
    [result c]
    ");
    let rules =
        json!([{ "type": "before-last-2-messages", "tools": ["search"] }, { "type": "all", "tools": ["calc"] }]);
    assert_snapshot!(check(json!({ "toolCalls": rules, "reasoning": "all" })), @"
    [user]
    [call c]
    [result c]
    ");
}

/// Compares with the AI SDK. The cases are those of `wire/tests/golden`, which `generate.mjs` has written there, or of
/// another folder of this form, which the variable `GOLDEN` names. Deliberate difference: a history has no approvals here,
/// since they are decided before it is built.
#[test]
fn golden_pruning_matches_the_ai_sdk() {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/golden").to_owned();
    let folder = std::env::var("GOLDEN").unwrap_or_else(|_| own());
    let text = std::fs::read_to_string(std::path::Path::new(&folder).join("prune.json")).unwrap();
    let golden: Value = serde_json::from_str(&text).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert!(cases.len() > 50, "{}", cases.len());
    for case in cases {
        let before = history::messages(&golden["convs"][case["conv"].as_str().unwrap()]);
        let rules = history::options(&case["options"]);
        let mut expected = history::messages(&case["expected"]);
        if rules.empty_messages == agent::EmptyMessages::Remove {
            // Only an approval is left.
            expected.retain(|message| !history::is_empty(message));
        }
        assert_eq!(prune(&before, &rules), expected, "{}: {}", case["conv"], case["options"]);
    }
}

fn any_rule() -> impl Strategy<Value = Value> {
    let kinds =
        ["all", "before-last-message", "before-last-2-messages", "before-last-3-messages", "before-last-9-messages"];
    let tools = prop::option::of(prop::collection::vec(prop::sample::select(vec!["search", "calc", "none"]), 0..3));
    (prop::sample::select(kinds.to_vec()), tools).prop_map(|(kind, tools)| match tools {
        Some(tools) => json!({ "type": kind, "tools": tools }),
        None => json!({ "type": kind }),
    })
}

proptest! {
    /// A call stays with its result, and a result with its call.
    #[test]
    fn calls_and_results_go_together(rules in prop::collection::vec(any_rule(), 0..4)) {
        let pruned = prune(&history::messages(&conversation()), &history::options(&json!({ "toolCalls": rules })));
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for message in &pruned {
            match &**message {
                Message::Assistant(parts) => calls.extend(parts.iter().filter_map(|part| match part {
                    AssistantPart::ToolCall(call) => Some(call.id.clone()),
                    _ => None,
                })),
                Message::Tool(said) => results.extend(said.iter().map(|result| result.call_id.clone())),
                _ => {}
            }
        }
        prop_assert_eq!(calls, results);
    }
}
