//! Property tests: a model always reads a valid history, for random stored messages with calls in every state and order,
//! and the same one where the messages are converted in two parts.

use crate::to_prompt::{open_answer, to_prompt, to_prompt_after, to_prompt_with_ends};
use contract::testing::history_error;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::{Role, UiMessage};

const STATES: [&str; 7] = [
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
];

fn any_part() -> impl Strategy<Value = Value> {
    let text = prop_oneof![Just(""), Just("x"), Just(" ")];
    let tool = (prop::sample::select(STATES.to_vec()), any::<bool>(), 0..4_u8, any::<bool>());
    prop_oneof![
        Just(json!({ "type": "step-start" })),
        text.clone().prop_map(|text| json!({ "type": "text", "text": text })),
        text.prop_map(|text| json!({ "type": "reasoning", "text": text })),
        Just(json!({ "type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA" })),
        Just(json!({ "type": "data-note", "data": 1 })),
        tool.prop_map(|(state, by_provider, input, dynamic)| {
            let inputs = [json!(null), json!({}), json!({ "a": 1 }), json!("cut off")];
            let mut part = json!({
                "type": if dynamic { "dynamic-tool" } else { "tool-look" },
                "state": state,
                "approval": { "id": "a", "approved": false },
                "input": inputs[usize::from(input)],
                "output": if state == "output-available" { json!("o") } else { Value::Null },
                "errorText": "e",
            });
            if dynamic {
                part["toolName"] = "look".into();
            }
            if by_provider {
                part["providerExecuted"] = true.into();
            }
            part
        }),
    ]
}

fn any_message() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec!["user", "assistant", "assistant", "system"]);
    (role, prop::collection::vec(any_part(), 0..7)).prop_map(|(role, parts)| json!({ "role": role, "parts": parts }))
}

/// Generates a message that may be incomplete, demanded by a command, or one with which the model was told something.
fn any_marked_message() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["data-note", "data-compaction", "data-page-context", "data-prompt-note"]);
    (any_message(), kind, any::<bool>()).prop_map(|(mut message, kind, is_incomplete)| {
        if message["role"] == "assistant" {
            let mark = json!({ "type": kind, "data": { "text": kind } });
            message["parts"].as_array_mut().unwrap().insert(0, mark);
            message["metadata"] = json!({ "outcome": if is_incomplete { "stopped" } else { "done" } });
        }
        message
    })
}

/// Gives the messages and their calls different ids.
fn numbered(messages: Vec<Value>) -> Vec<UiMessage> {
    let mut calls = 0;
    let numbered = messages.into_iter().enumerate().map(|(at, mut message)| {
        message["id"] = format!("m{at}").into();
        for part in message["parts"].as_array_mut().unwrap() {
            if part.get("state").is_some() {
                calls += 1;
                part["toolCallId"] = format!("c{calls}").into();
            }
        }
        serde_json::from_value(message).unwrap()
    });
    numbered.collect()
}

proptest! {
    /// If the prompt of the second part begins with a message of the user, the two prompts are that of the whole.
    #[test]
    fn two_parts_of_a_branch_have_the_prompt_of_the_whole(
        before in prop::collection::vec(any_marked_message(), 0..6),
        after in prop::collection::vec(any_marked_message(), 0..6),
    ) {
        let asks = json!({ "role": "user", "parts": [{ "type": "text", "text": "x" }] });
        let at = before.len();
        let messages = numbered(before.into_iter().chain([asks]).chain(after).collect());
        let (before, after) = messages.split_at(at);
        let answer = open_answer(before.iter().rev().cloned());
        let (prompt, ends) = to_prompt_after(answer.as_ref(), after, |_| false);
        let first = after.iter().zip(&ends).find(|(_, end)| **end > 0);
        if first.is_none_or(|(first, _)| first.role != Role::User) {
            return Ok(());
        }
        let (prompt_before, mut ends_of_both) = to_prompt_with_ends(before, |_| false);
        ends_of_both.extend(ends.iter().map(|end| prompt_before.len() + end));
        let whole = to_prompt_with_ends(&messages, |_| false);
        prop_assert_eq!(([prompt_before, prompt].concat(), ends_of_both), whole, "{:?}", messages);
    }

    #[test]
    fn every_prompt_is_a_valid_history(messages in prop::collection::vec(any_message(), 0..6)) {
        let messages = numbered(messages);
        let prompt = to_prompt(&messages, |_| false);
        prop_assert_eq!(history_error(&prompt), None, "{:?}", messages);
    }
}
