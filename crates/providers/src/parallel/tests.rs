use super::ParallelExpander;
use crate::testing::{decode, decoded_lines, history_after, request, split, sse_events};
use crate::{openai_chat, openai_responses};
use contract::{ModelErrorKind, Part, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

const RESPONSES: &str = include_str!("../../fixtures/openai_responses/parallel.jsonl");
const CHAT: &str = include_str!("../../fixtures/openai_chat/parallel.jsonl");

fn responses() -> ParallelExpander<openai_responses::stream::ResponsesCodec> {
    ParallelExpander::new(Default::default(), &[])
}

fn chat() -> ParallelExpander<openai_chat::stream::ChatCodec> {
    ParallelExpander::new(Default::default(), &[])
}

/// A reply with one call with these arguments.
fn reply_with_call(name: &str, arguments: &str) -> String {
    let item = json!({ "type": "function_call", "id": "fc", "call_id": "w", "name": name, "arguments": arguments });
    let events = [
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": {} }),
    ];
    events.map(|event| format!("data: {event}\n\n")).concat()
}

/// The calls that such a reply is decoded to, one per line.
fn decoded_calls(name: &str, arguments: &str, tools: &[ToolSpec]) -> String {
    let codec = ParallelExpander::new(openai_responses::stream::ResponsesCodec::default(), tools);
    let (parts, ended) = decode(codec, &[reply_with_call(name, arguments).as_bytes()]);
    ended.unwrap();
    let call = |part: &Part| match part {
        Part::ToolCall { id, name, input, .. } => Some(format!("{id} {name} {input}")),
        _ => None,
    };
    parts.iter().filter_map(call).collect::<Vec<_>>().join("\n")
}

#[test]
fn wrapper_of_responses_becomes_its_calls() {
    insta::assert_snapshot!(decoded_lines(responses(), &sse_events(RESPONSES, "")), @r##"
    tool-input-start {"id":"call_1_0","name":"weather"}
    tool-call {"id":"call_1_0","name":"weather","input":"{\"city\":\"Rome\"}","metadata":{"openai":{"itemId":"fc_1"}}}
    tool-input-start {"id":"call_1_1","name":"clock"}
    tool-call {"id":"call_1_1","name":"clock","input":"{}","metadata":{"openai":{"itemId":"fc_1"}}}
    tool-input-start {"id":"call_2","name":"weather"}
    tool-input-delta {"id":"call_2","delta":"{\"city\":\"Oslo\"}"}
    tool-call {"id":"call_2","name":"weather","input":"{\"city\":\"Oslo\"}","metadata":{"openai":{"itemId":"fc_2"}}}
    finish {"reason":"tool-calls","usage":{"inputTokens":34,"outputTokens":28,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

#[test]
fn wrapper_of_chat_completions_becomes_its_calls() {
    insta::assert_snapshot!(decoded_lines(chat(), &sse_events(CHAT, "data: [DONE]\n\n")), @r##"
    tool-input-start {"id":"call_1_0","name":"weather"}
    tool-call {"id":"call_1_0","name":"weather","input":"{\"city\":\"Rome\"}"}
    tool-input-start {"id":"call_1_1","name":"clock"}
    tool-call {"id":"call_1_1","name":"clock","input":"{}"}
    finish {"reason":"tool-calls","rawReason":"tool_calls","usage":{"inputTokens":34,"outputTokens":28,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

/// Each call has a result of its own, and the wrapper is not sent.
#[test]
fn expanded_calls_are_sent_back_as_separate_calls() {
    let lines = |list: &Value| list.as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let sent =
        openai_responses::request::body("gpt-5", &request(history_after(responses(), &sse_events(RESPONSES, ""))));
    insta::assert_snapshot!(lines(&sent["input"]), @r##"
    {"role":"user","content":[{"type":"input_text","text":"hi"}]}
    {"type":"function_call","call_id":"call_1_0","name":"weather","arguments":"{\"city\":\"Rome\"}"}
    {"type":"function_call","call_id":"call_1_1","name":"clock","arguments":"{}"}
    {"type":"function_call","call_id":"call_2","name":"weather","arguments":"{\"city\":\"Oslo\"}"}
    {"type":"function_call_output","call_id":"call_1_0","output":"ok"}
    {"type":"function_call_output","call_id":"call_1_1","output":"ok"}
    {"type":"function_call_output","call_id":"call_2","output":"ok"}
    "##);
    let history = history_after(chat(), &sse_events(CHAT, "data: [DONE]\n\n"));
    let sent = openai_chat::request::body("gpt-4o", &request(history));
    insta::assert_snapshot!(lines(&sent["messages"]), @r##"
    {"role":"user","content":"hi"}
    {"role":"assistant","content":null,"tool_calls":[{"id":"call_1_0","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}},{"id":"call_1_1","type":"function","function":{"name":"clock","arguments":"{}"}}]}
    {"role":"tool","tool_call_id":"call_1_0","content":"ok"}
    {"role":"tool","tool_call_id":"call_1_1","content":"ok"}
    "##);
}

#[test]
fn tool_with_the_name_of_the_wrapper_is_not_expanded() {
    let own = |name: &str| [ToolSpec::new(name, "", json!({ "type": "object" }))];
    let wrapped = r#"{"tool_uses":[{"recipient_name":"functions.a","parameters":{}}]}"#;
    let whole = |name: &str| format!("w {name} {wrapped}");
    assert_eq!(decoded_calls("parallel", wrapped, &own("parallel")), whole("parallel"));
    // The wrapper is still recognized by its other names.
    assert_eq!(decoded_calls("multi_tool_use.parallel", wrapped, &own("parallel")), "w_0 a {}");
    assert_eq!(decoded_calls("multi_tool_use_parallel", wrapped, &own("other")), "w_0 a {}");
    assert_eq!(decoded_calls("parallel_search", wrapped, &[]), whole("parallel_search"));
}

/// The loop looks up the tool and checks the arguments of each call.
#[test]
fn calls_of_a_wrapper_keep_the_names_and_arguments_of_the_model() {
    let check = |uses: &str, expected: &str| {
        assert_eq!(decoded_calls("parallel", &format!(r#"{{"tool_uses":[{uses}]}}"#), &[]), expected, "{uses}");
    };
    check(r#"{"recipient_name":"functions.a","parameters":{ "b": [1] }}"#, r#"w_0 a { "b": [1] }"#);
    check(r#"{"recipient_name":"a","parameters":{}},{"recipient_name":"web.run"}"#, "w_0 a {}\nw_1 web.run ");
    check(r#"{"recipient_name":"functions.a","parameters":"{\"b\":1}"}"#, r#"w_0 a {"b":1}"#);
    check(r#"{"recipient_name":"functions.a","parameters":[1]}"#, "w_0 a [1]");
    check(r#"{"recipient_name":"functions.a","parameters":null,"later":1}"#, "w_0 a ");
    check(r#"{"recipient_name":"multi_tool_use.parallel","parameters":{}}"#, "w_0 multi_tool_use.parallel {}");
}

/// The loop answers that there is no such tool or that the arguments are not JSON.
#[test]
fn wrapper_with_invalid_arguments_becomes_one_call() {
    let check = |arguments: &str| {
        let stream = reply_with_call("multi_tool_use.parallel", arguments);
        let (parts, ended) = decode(responses(), &[stream.as_bytes()]);
        ended.unwrap();
        let id = "w".to_owned();
        let name = "multi_tool_use.parallel".to_owned();
        let begins = Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false };
        assert_eq!(parts[0], begins, "{arguments}");
        assert_eq!(parts[1], Part::ToolInputDelta { id: id.clone(), delta: arguments.to_owned() });
        assert_eq!(decoded_calls(&name, arguments, &[]), format!("{id} {name} {arguments}"));
    };
    check("");
    check("{");
    check("{}");
    check("[]");
    check(r#"{"tool_uses":[]}"#);
    check(r#"{"tool_uses":{"recipient_name":"functions.a"}}"#);
    check(r#"{"tool_uses":[{"parameters":{}}]}"#);
    check(r#"{"tool_uses":[{"recipient_name":"functions.","parameters":{}}]}"#);
    check(r#"{"tool_uses":[{"recipient_name":"functions.a","parameters":{}},7]}"#);
}

/// Another call of the reply may have the id that would be derived.
#[test]
fn ids_of_expanded_calls_are_unique() {
    let done = |place: u64, id: &str, name: &str, arguments: &str| {
        let item = json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments });
        json!({ "type": "response.output_item.done", "output_index": place, "item": item }).to_string()
    };
    let wrapped = r#"{"tool_uses":[{"recipient_name":"functions.a"},{"recipient_name":"functions.b"}]}"#;
    let lines = [
        done(0, "w_1", "own", "{}"),
        done(1, "w", "parallel", wrapped),
        json!({ "type": "response.completed" }).to_string(),
    ];
    let (parts, ended) = decode(responses(), &[sse_events(&lines.join("\n"), "").as_bytes()]);
    ended.unwrap();
    let ids: Vec<_> = parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids[..2], ["w_1", "w_0"]);
    assert!(ids[2].starts_with("call_"), "{ids:?}");
}

#[test]
fn too_many_calls_in_a_wrapper_end_the_reply() {
    let uses = vec![json!({ "recipient_name": "functions.a", "parameters": {} }); 1_001];
    let stream = reply_with_call("parallel", &json!({ "tool_uses": uses }).to_string());
    let (_, ended) = decode(responses(), &[stream.as_bytes()]);
    assert!(ended.unwrap_err().cause.contains("too many tool calls"));
}

proptest! {
    #[test]
    fn chunk_boundaries_do_not_matter(
        fixture in prop::sample::select(vec![RESPONSES, CHAT]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let stream = sse_events(fixture, "");
        let decoded = |pieces: &[&[u8]]| {
            if fixture == CHAT { decode(chat(), pieces) } else { decode(responses(), pieces) }
        };
        let (whole, _) = decoded(&[stream.as_bytes()]);
        let (parts, end) = decoded(&split(stream.as_bytes(), &cuts));
        prop_assert!(end.is_ok());
        prop_assert_eq!(parts, whole);
    }

    /// A reply that was cut off within a wrapper has none of the wrapper's calls.
    #[test]
    fn a_truncated_stream_is_an_error(at in any::<prop::sample::Index>()) {
        let stream = sse_events(RESPONSES, "");
        let (whole, _) = decode(responses(), &[stream.as_bytes()]);
        let (parts, end) = decode(responses(), &[&stream.as_bytes()[..at.index(stream.len() - 1)]]);
        prop_assert_eq!(end.unwrap_err().kind, ModelErrorKind::BrokenStream);
        prop_assert_eq!(&parts[..], &whole[..parts.len()]);
    }
}
