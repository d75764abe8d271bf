use super::stream::ChatCodec;
use crate::testing::{decode, decoded_lines, split, sse_events};
use contract::{FinishReason, ModelErrorKind, Part};
use proptest::prelude::*;

const TEXT: &str = include_str!("../../fixtures/openai_chat/text.jsonl");
const THINKING_AND_TOOLS: &str = include_str!("../../fixtures/openai_chat/thinking_and_tools.jsonl");
const CARELESS: &str = include_str!("../../fixtures/openai_chat/careless.jsonl");
const GROQ: &str = include_str!("../../fixtures/openai_chat/groq.jsonl");
const DONE: &str = "data: [DONE]\n\n";

fn parts(fixture: &str, end: &str) -> String {
    decoded_lines(ChatCodec::default(), &sse_events(fixture, end))
}

#[test]
fn text_is_decoded() {
    insta::assert_snapshot!(parts(TEXT, DONE), @r##"
    text-start {"id":"0"}
    text-delta {"id":"0","delta":"Grüße, "}
    text-delta {"id":"0","delta":"\"Welt\" 🌍\n"}
    text-end {"id":"0"}
    finish {"reason":"stop","rawReason":"stop","usage":{"inputTokens":15,"outputTokens":78,"cacheReadTokens":4,"cacheWriteTokens":0,"reasoningTokens":64}}
    "##);
    // Some gateways omit the end marker.
    assert_eq!(parts(TEXT, ""), parts(TEXT, DONE));
    assert_eq!(parts(TEXT, &DONE.repeat(2)), parts(TEXT, DONE));
}

#[test]
fn thinking_and_tools_are_decoded() {
    insta::assert_snapshot!(parts(THINKING_AND_TOOLS, DONE), @r##"
    reasoning-start {"id":"0","metadata":{"openai":{"reasoningField":"reasoning_content"}}}
    reasoning-delta {"id":"0","delta":"Two places."}
    reasoning-end {"id":"0"}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"I look."}
    tool-input-start {"id":"call_0","name":"weather"}
    tool-input-delta {"id":"call_0","delta":"{\"city\": \"Par"}
    tool-input-delta {"id":"call_0","delta":"is\"}"}
    tool-input-start {"id":"call_1","name":"clock"}
    tool-input-delta {"id":"call_1","delta":"{}"}
    text-end {"id":"1"}
    tool-call {"id":"call_0","name":"weather","input":"{\"city\": \"Paris\"}"}
    tool-call {"id":"call_1","name":"clock","input":"{}"}
    finish {"reason":"tool-calls","rawReason":"tool_calls","usage":{"inputTokens":339,"outputTokens":83,"cacheReadTokens":320,"cacheWriteTokens":0,"reasoningTokens":39}}
    "##);
}

#[test]
fn usage_in_groqs_field_is_read() {
    insta::assert_snapshot!(parts(GROQ, DONE), @r##"
    reasoning-start {"id":"0","metadata":{"openai":{"reasoningField":"reasoning"}}}
    reasoning-delta {"id":"0","delta":"Weather."}
    reasoning-end {"id":"0"}
    tool-input-start {"id":"tk1","name":"weather"}
    tool-input-delta {"id":"tk1","delta":"{}"}
    tool-call {"id":"tk1","name":"weather","input":"{}"}
    finish {"reason":"tool-calls","rawReason":"tool_calls","usage":{"inputTokens":210,"outputTokens":15,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

#[test]
fn careless_gateways_are_tolerated() {
    insta::assert_snapshot!(parts(CARELESS, DONE), @r##"
    reasoning-start {"id":"0","metadata":{"openai":{"reasoningField":"reasoning"}}}
    reasoning-delta {"id":"0","delta":"Hm."}
    reasoning-delta {"id":"0","delta":" Well."}
    reasoning-end {"id":"0"}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"So "}
    text-end {"id":"1"}
    reasoning-start {"id":"2","metadata":{"openai":{"reasoningField":"reasoning"}}}
    reasoning-delta {"id":"2","delta":"7"}
    reasoning-end {"id":"2"}
    text-start {"id":"3"}
    text-delta {"id":"3","delta":"{\"not\":\"a text\"}"}
    tool-input-start {"id":"late","name":"named_later"}
    tool-input-delta {"id":"late","delta":"{\"before\":1}"}
    tool-input-start {"id":"same_index","name":"named_later"}
    tool-input-delta {"id":"same_index","delta":"{}"}
    tool-input-start {"id":"call_*","name":"without_index"}
    tool-input-delta {"id":"call_*","delta":"{\"an\":\"object\"}"}
    tool-input-start {"id":"call_*","name":"without_id"}
    tool-input-delta {"id":"call_*","delta":"{\"a\":"}
    tool-input-delta {"id":"call_*","delta":"2}"}
    text-end {"id":"3"}
    tool-call {"id":"late","name":"named_later","input":"{\"before\":1}"}
    tool-call {"id":"same_index","name":"named_later","input":"{}"}
    tool-call {"id":"call_*","name":"without_index","input":"{\"an\":\"object\"}"}
    tool-call {"id":"call_*","name":"without_id","input":"{\"a\":2}","metadata":{"openai":{"extraContent":{"google":{"thought_signature":"s"}}}}}
    finish {"reason":"stop","rawReason":"STOP","usage":{"inputTokens":0,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

/// Checks the calls that are assembled from these chunks, as `name input`.
#[test]
fn calls_are_assembled_from_chunks() {
    let check = |pieces: &[&str], expected: &[&str]| {
        let event = |piece: &&str| format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{piece}]}}}}]}}\n\n");
        let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
        let stream: String = pieces.iter().map(event).chain([end.to_owned()]).collect();
        let (parts, end) = decode(ChatCodec::default(), &[stream.as_bytes()]);
        end.unwrap();
        let call = |part| match part {
            Part::ToolCall { name, input, .. } => Some(format!("{name} {input}")),
            _ => None,
        };
        let calls: Vec<_> = parts.into_iter().filter_map(call).collect();
        assert_eq!(calls, expected, "{pieces:?}");
    };
    let f = r#"{"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":"}}"#;
    check(&[f, r#"{"index":0,"function":{"arguments":"1}"}}"#], &[r#"f {"a":1}"#]);
    // The name, or a new id, in each chunk.
    check(&[f, r#"{"index":0,"id":"1","function":{"name":"f","arguments":"1}"}}"#], &[r#"f {"a":1}"#]);
    check(&[f, r#"{"index":0,"function":{"name":"f","arguments":"{}}"}}"#], &[r#"f {"a":{}}"#]);
    check(&[f, r#"{"index":0,"id":"2","function":{"name":"f","arguments":"1}"}}"#], &[r#"f {"a":1}"#]);
    // Every call has index 0, even with the same tool and without ids.
    let g = r#"{"index":0,"id":"2","function":{"name":"g","arguments":"{}"}}"#;
    check(&[g, r#"{"index":0,"id":"3","function":{"name":"g","arguments":"{}"}}"#], &["g {}", "g {}"]);
    check(&[g, r#"{"index":0,"function":{"name":"g","arguments":"{\"b\":2}"}}"#], &["g {}", r#"g {"b":2}"#]);
    check(&[g, r#"{"index":0,"id":"3","function":{"name":"h"}}"#], &["g {}", "h "]);
    // Calls are ordered by index, in whatever order they began.
    check(
        &[
            r#"{"index":1,"id":"b","function":{"name":"second"}}"#,
            r#"{"index":0,"id":"a","function":{"name":"first"}}"#,
        ],
        &["first ", "second "],
    );
    // Without a name and id, arguments still become a call; without arguments, nothing does.
    check(&[r#"{"index":3,"function":{"arguments":"{}"}}"#], &["unnamed_tool {}"]);
    check(&[r#"{"function":{}}"#, r#"{"function":{"arguments":null}}"#, r#"{"index":"x"}"#], &[]);
}

#[test]
fn usage_is_converted() {
    let check = |usage: &str, expected: [u64; 4]| {
        let stream =
            format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}],\"usage\":{usage}}}\n\n");
        let (parts, _) = decode(ChatCodec::default(), &[stream.as_bytes()]);
        let Some(Part::Finish { usage, .. }) = parts.last() else { panic!("{parts:?}") };
        let seen = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.reasoning_tokens];
        assert_eq!(seen, expected);
    };
    check("null", [0; 4]);
    check("\"many\"", [0; 4]);
    check(r#"{"prompt_tokens":3,"completion_tokens":5,"prompt_tokens_details":7}"#, [3, 5, 0, 0]);
    // Reasoning within the output, as most providers count it, and in addition to it, as xAI does.
    check(
        r#"{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":4}}"#,
        [3, 9, 0, 4],
    );
    check(
        r#"{"prompt_tokens":3,"completion_tokens":5,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":4}}"#,
        [3, 9, 0, 4],
    );
    check(r#"{"prompt_tokens":1e400,"completion_tokens":-2}"#, [9_007_199_254_740_991, 0, 0, 0]);
}

#[test]
fn finish_reasons_are_converted() {
    let check = |reason: &str, refusal: &str, expected| {
        let stream = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"refusal\":{refusal}}},\"finish_reason\":\"{reason}\"}}]}}\n\n"
        );
        let (parts, _) = decode(ChatCodec::default(), &[stream.as_bytes()]);
        assert!(
            matches!(parts.last(), Some(Part::Finish { reason, .. }) if *reason == expected),
            "{reason}: {parts:?}"
        );
    };
    check("stop", "null", FinishReason::Stop);
    check("stop", "\"I will not.\"", FinishReason::ContentFilter);
    check("STOP", "null", FinishReason::Stop);
    check("length", "null", FinishReason::Length);
    check("content_filter", "null", FinishReason::ContentFilter);
    check("function_call", "null", FinishReason::ToolCalls);
    check("insufficient_system_resource", "null", FinishReason::Error);
    check("a later one", "null", FinishReason::Other);
}

/// Invalid input ends in an error that names the cause, and never becomes a call.
#[test]
fn invalid_streams_are_errors() {
    let check = |stream: &str, kind, expected: &str| {
        let (parts, read) = decode(ChatCodec::default(), &[stream.as_bytes()]);
        let error = read.unwrap_err();
        assert!(error.kind == kind && error.cause.contains(expected), "{stream}: {error}");
        assert!(!parts.iter().any(|part| matches!(part, Part::ToolCall { .. } | Part::Finish { .. })), "{stream}");
    };
    use ModelErrorKind::{BrokenStream, ContextTooLong, RateLimited, Refused, Unauthorized, Unavailable};
    let line = |json: &str| format!("data: {json}\n\n");
    check("", BrokenStream, "without a finish reason");
    check(DONE, BrokenStream, "without a finish reason");
    check("<html></html>", BrokenStream, "no server-sent events");
    check(&line("{"), BrokenStream, "cannot be parsed");
    check(&line("\"text\""), BrokenStream, "without a finish reason");
    check(
        &line(&format!(r#"{{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(5 * 1024 * 1024))),
        BrokenStream,
        "larger",
    );
    let call = line(
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}"#,
    );
    check(&call, BrokenStream, "without a finish reason");
    check(&(call + DONE), BrokenStream, "without a finish reason");
    let many = |index| {
        line(&format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{index},"function":{{"name":"f"}}}}]}}}}]}}"#
        ))
    };
    check(&(0..2_000).map(many).collect::<String>(), BrokenStream, "too many tool calls");
    check(&line(r#"{"error":{"message":"slow down","code":429}}"#), RateLimited, "slow down");
    check(&line(r#"{"error":{"message":"m","code":"rate_limit_exceeded"}}"#), RateLimited, "");
    check(&line(r#"{"error":{"message":"m","type":"invalid_request_error","code":null}}"#), Refused, "");
    check(
        &line(r#"{"error":{"message":"m","code":"invalid_api_key","type":"invalid_request_error"}}"#),
        Unauthorized,
        "",
    );
    check(
        &line(r#"{"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}}"#),
        ContextTooLong,
        "",
    );
    let of_vllm = r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}"#;
    check(&line(of_vllm), ContextTooLong, "4096");
    check(&line(r#"{"error":"busy"}"#), Unavailable, "busy");
    check(&line(r#"{"object":"error","message":"out of memory","code":500}"#), Unavailable, "out of memory");
    check(&line(r#"{"choices":[],"x_groq":{"error":"internal"}}"#), Unavailable, "internal");
}

proptest! {
    #[test]
    fn chunk_boundaries_do_not_matter(
        fixture in prop::sample::select(vec![TEXT, THINKING_AND_TOOLS, GROQ]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let stream = sse_events(fixture, DONE);
        let (whole, _) = decode(ChatCodec::default(), &[stream.as_bytes()]);
        let (parts, end) = decode(ChatCodec::default(), &split(stream.as_bytes(), &cuts));
        prop_assert!(end.is_ok());
        prop_assert_eq!(parts, whole);
    }

    /// A reply that is cut off before its finish reason is an error, and none of its calls is
    /// complete.
    #[test]
    fn truncated_stream_is_an_error(
        fixture in prop::sample::select(vec![TEXT, THINKING_AND_TOOLS, CARELESS, GROQ]),
        at in any::<prop::sample::Index>(),
    ) {
        let stream = sse_events(fixture, "");
        let is_before = |line: &&str| !line.contains(r#"finish_reason":""#) || line.contains(r#"finish_reason":"""#);
        let before: usize = fixture.lines().take_while(is_before).map(|line| line.len() + "data: \n\n".len()).sum();
        let (parts, end) = decode(ChatCodec::default(), &[&stream.as_bytes()[..at.index(before)]]);
        prop_assert_eq!(end.unwrap_err().kind, ModelErrorKind::BrokenStream);
        let is_complete = parts.iter().any(|part| matches!(part, Part::ToolCall { .. } | Part::Finish { .. }));
        prop_assert!(!is_complete);
    }

    #[test]
    fn no_input_panics(lines in prop::collection::vec("data: [\\{\"a-z\\}:,\\[\\]0-9]{0,40}\n\n", 0..8)) {
        let _ = decode(ChatCodec::default(), &[lines.concat().as_bytes()]);
    }
}
