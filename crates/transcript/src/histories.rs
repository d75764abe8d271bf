//! Property test: a model always reads a valid history, for random stored messages with calls in
//! every state and order.

use crate::to_prompt::to_prompt;
use contract::testing::history_error;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::UiMessage;

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

proptest! {
    #[test]
    fn every_prompt_is_a_valid_history(messages in prop::collection::vec(any_message(), 0..6)) {
        let mut calls = 0;
        let messages: Vec<UiMessage> = messages.into_iter().enumerate().map(|(at, mut message)| {
            message["id"] = format!("m{at}").into();
            for part in message["parts"].as_array_mut().unwrap() {
                if part.get("state").is_some() {
                    calls += 1;
                    part["toolCallId"] = format!("c{calls}").into();
                }
            }
            serde_json::from_value(message).unwrap()
        }).collect();
        let prompt = to_prompt(&messages, |_| false);
        prop_assert_eq!(history_error(&prompt), None, "{:?}", messages);
    }
}
