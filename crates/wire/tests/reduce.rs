//! Tests of the reducer: the rules that users see, and that no stream breaks it.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::{Chunk, ChunkEffect, Reducer, Role, ToolState, UiMessage, UiPart, reduce};

fn fold(chunks: &[&str]) -> (Vec<String>, UiMessage) {
    let mut reducer = Reducer::new(UiMessage::new("m", Role::Assistant));
    let changes = chunks.iter().map(|json| match reducer.apply(&serde_json::from_str(json).unwrap()) {
        Ok(change) => format!("{change:?}"),
        Err(error) => error.to_string(),
    });
    (changes.collect(), reducer.into_message())
}

fn check(chunks: &[&str]) -> String {
    serde_json::to_string(&fold(chunks).1.parts).unwrap()
}

#[test]
fn deltas_extend_the_open_part() {
    let (changes, message) = fold(&[
        r#"{"type":"start-step"}"#,
        r#"{"type":"reasoning-start","id":"1"}"#,
        r#"{"type":"text-start","id":"1"}"#,
        r#"{"type":"reasoning-delta","id":"1","delta":"hm","providerMetadata":{"p":{"signature":"s"}}}"#,
        r#"{"type":"text-delta","id":"1","delta":"Hello"}"#,
        r#"{"type":"text-delta","id":"2","delta":"lost"}"#,
        r#"{"type":"text-end","id":"1"}"#,
        r#"{"type":"text-delta","id":"1","delta":"late"}"#,
    ]);
    assert_eq!(
        changes,
        [
            "Added(0)",
            "Added(1)",
            "Added(2)",
            "Part(1)",
            "Part(2)",
            "no part `2` is open",
            "Part(2)",
            "no part `1` is open"
        ]
    );
    assert_snapshot!(serde_json::to_string(&message.parts).unwrap(), @r#"[{"type":"step-start"},{"type":"reasoning","id":"1","text":"hm","state":"streaming","providerMetadata":{"p":{"signature":"s"}}},{"type":"text","text":"Hello","state":"done"}]"#);
}

#[test]
fn tool_call_moves_from_partial_input_to_result() {
    let mut chunks = vec![
        r#"{"type":"tool-input-start","toolCallId":"c","toolName":"t"}"#,
        r#"{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{\"q\":\"re"}"#,
    ];
    assert_snapshot!(check(&chunks), @r#"[{"type":"tool-t","toolCallId":"c","state":"input-streaming","input":{"q":"re"}}]"#);
    chunks.push(r#"{"type":"tool-input-available","toolCallId":"c","toolName":"t","input":{"q":"refunds"}}"#);
    chunks.push(r#"{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}"#);
    assert_snapshot!(check(&chunks), @r#"[{"type":"tool-t","toolCallId":"c","state":"approval-requested","input":{"q":"refunds"},"approval":{"id":"a"}}]"#);
    chunks.push(r#"{"type":"tool-output-available","toolCallId":"c","output":null}"#);
    assert_snapshot!(check(&chunks), @r#"[{"type":"tool-t","toolCallId":"c","state":"output-available","input":{"q":"refunds"},"output":null,"approval":{"id":"a"}}]"#);
    assert_eq!(fold(&[r#"{"type":"tool-output-denied","toolCallId":"x"}"#]).0, ["there is no tool call `x`"]);
}

/// Otherwise a client that joins while the call runs would ask for a decision once more.
#[test]
fn replay_contains_decisions() {
    let check = |state: &str, approval: Value| {
        let call = json!({ "type": "tool-t", "toolCallId": "c", "state": state, "input": {}, "approval": approval });
        let message = json!({ "id": "m", "role": "assistant", "parts": [call] });
        let mut reducer = Reducer::new(UiMessage::new("m", Role::Assistant));
        for chunk in reduce::replay(&serde_json::from_value(message.clone()).unwrap()) {
            reducer.apply(&chunk).unwrap();
        }
        assert_eq!(serde_json::to_value(reducer.into_message()).unwrap(), message);
    };
    check("approval-requested", json!({ "id": "a" }));
    check("approval-responded", json!({ "id": "a", "approved": true }));
    check("approval-responded", json!({ "id": "a", "approved": false }));
    // The page runs the call.
    check("input-available", json!({ "id": "a", "approved": true }));
}

#[test]
fn unusable_arguments_are_kept_raw() {
    let error = |kind: &str| {
        format!(r#"{{"type":"tool-input-error","toolCallId":"c","toolName":"t","input":"{{","errorText":"no"{kind}}}"#)
    };
    assert_snapshot!(check(&[&error("")]), @r#"[{"type":"tool-t","toolCallId":"c","state":"output-error","rawInput":"{","errorText":"no"}]"#);
    assert_snapshot!(check(&[&error(r#","dynamic":true"#)]), @r#"[{"type":"dynamic-tool","toolName":"t","toolCallId":"c","state":"output-error","input":"{","errorText":"no"}]"#);
}

/// A call that changes state drops the data of the earlier state, as in the AI SDK's client
/// (6.0.264).
#[test]
fn new_state_drops_data_of_the_old_one() {
    let start = r#"{"type":"tool-input-start","toolCallId":"c","toolName":"t","title":"T"}"#;
    let failed = r#"{"type":"tool-input-error","toolCallId":"c","toolName":"t","input":"{","errorText":"no","dynamic":true,"providerMetadata":{"p":{"a":1}}}"#;
    let interim = r#"{"type":"tool-output-available","toolCallId":"c","output":1,"preliminary":true}"#;
    let output = r#"{"type":"tool-output-available","toolCallId":"c","output":2}"#;
    let error = r#"{"type":"tool-output-error","toolCallId":"c","errorText":"late"}"#;
    assert_snapshot!(check(&[start, failed]), @r#"[{"type":"tool-t","toolCallId":"c","state":"output-error","title":"T","rawInput":"{","errorText":"no","resultProviderMetadata":{"p":{"a":1}}}]"#);
    assert_snapshot!(check(&[start, failed, output]), @r#"[{"type":"tool-t","toolCallId":"c","state":"output-available","title":"T","output":2,"resultProviderMetadata":{"p":{"a":1}}}]"#);
    assert_snapshot!(check(&[start, interim, output]), @r#"[{"type":"tool-t","toolCallId":"c","state":"output-available","title":"T","output":2}]"#);
    assert_snapshot!(check(&[start, interim, error]), @r#"[{"type":"tool-t","toolCallId":"c","state":"output-error","title":"T","errorText":"late"}]"#);
    assert_snapshot!(check(&[start, output, start]), @r#"[{"type":"tool-t","toolCallId":"c","state":"input-streaming","title":"T"}]"#);
    let undeclared = r#"{"type":"tool-input-start","toolCallId":"c","toolName":"t","dynamic":true}"#;
    assert_snapshot!(check(&[start, undeclared, output]), @r#"[{"type":"tool-t","toolCallId":"c","state":"input-streaming","title":"T"},{"type":"dynamic-tool","toolName":"t","toolCallId":"c","state":"output-available","output":2}]"#);
}

#[test]
fn data_part_replaces_the_one_with_the_same_id() {
    let data = |id: &str, n: u8, more: &str| format!(r#"{{"type":"data-x"{id},"data":{n}{more}}}"#);
    let named = r#","id":"1""#;
    let chunks = [data(named, 1, ""), data("", 2, ""), data(named, 3, ""), data("", 4, r#","transient":true"#)];
    assert_snapshot!(check(&chunks.iter().map(String::as_str).collect::<Vec<_>>()), @r#"[{"type":"data-x","id":"1","data":3},{"type":"data-x","data":2}]"#);
}

#[test]
fn metadata_is_merged_without_prototype_keys() {
    let news = |json: &str| format!(r#"{{"type":"message-metadata","messageMetadata":{json}}}"#);
    let (_, message) =
        fold(&[&news(r#"{"a":{"b":1,"c":[1]}}"#), &news(r#"{"a":{"c":[2]},"__proto__":{"x":1},"constructor":1}"#)]);
    assert_eq!(message.metadata, Some(json!({ "a": { "b": 1, "c": [2] } })));
    assert_eq!(fold(&[&news("null")]).1.metadata, None);
}

fn any_chunk() -> impl Strategy<Value = Chunk> {
    let kinds = [
        "start",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-available",
        "tool-approval-request",
        "tool-output-available",
        "tool-output-error",
        "tool-output-denied",
        "finish-step",
        "finish",
        "data-x",
        "source-url",
        "error",
        "abort",
    ];
    let approved = prop::option::of(any::<bool>());
    (prop::sample::select(kinds.to_vec()), 0..3_u8, "[{\"a:1}\\[ ]{0,4}", approved).prop_map(|(kind, id, text, approved)| {
        let (id, call) = (id.to_string(), format!("c{id}"));
        let chunk = json!({ "type": kind, "id": id, "delta": text, "toolCallId": call, "toolName": "t", "inputTextDelta": text, "input": { "a": text },
            "approvalId": "a", "approved": approved, "output": text, "errorText": text, "data": text, "sourceId": "s", "url": "https://example.org" });
        serde_json::from_value(chunk).unwrap()
    })
}

proptest! {
    #[test]
    fn any_stream_is_reduced_and_replay_preserves_it(chunks in prop::collection::vec(any_chunk(), 0..40)) {
        let mut reducer = Reducer::new(UiMessage::new("m", Role::Assistant));
        for chunk in &chunks {
            let parts = reducer.message().parts.len();
            match reducer.apply(chunk) {
                Ok(ChunkEffect::Added(at)) => prop_assert_eq!((at, reducer.message().parts.len()), (parts, parts + 1)),
                Ok(ChunkEffect::Part(at)) => prop_assert!(at < parts),
                Ok(_) | Err(_) => prop_assert_eq!(reducer.message().parts.len(), parts),
            }
        }
        let message = reducer.into_message();
        // The server never restarts a call after its approval request.
        let anew = |tool: &wire::ToolPart| tool.approval.is_some() && matches!(tool.state, ToolState::InputStreaming | ToolState::InputAvailable);
        prop_assume!(!message.tools().any(anew));
        let mut again = Reducer::new(UiMessage::new("m", Role::Assistant));
        for chunk in reduce::replay(&message) {
            prop_assert!(again.apply(&chunk).is_ok());
        }
        prop_assert_eq!(essence(&again.into_message()), essence(&message));
    }
}

/// Reduces a message to the parts that a replay preserves: the same texts, calls, states and results, in the same
/// order.
fn essence(message: &UiMessage) -> Vec<Value> {
    let essence = |part: &UiPart| match part {
        UiPart::Text(text) => json!(["text", text.text, text.state]),
        UiPart::Reasoning(text) => json!(["reasoning", text.text, text.state]),
        UiPart::Tool(tool) => {
            let result = match tool.state {
                ToolState::OutputAvailable => json!(tool.output),
                ToolState::OutputError => json!(tool.error_text),
                _ => Value::Null,
            };
            json!([tool.tool_name, tool.tool_call_id, tool.state, result])
        }
        other => serde_json::to_value(other).unwrap(),
    };
    message.parts.iter().map(essence).collect()
}
