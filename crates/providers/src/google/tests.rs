use super::stream::GeminiCodec;
use crate::testing::{decode, decoded_lines, history_after, request, split, sse_events};
use contract::{ModelErrorKind, Part};
use proptest::prelude::*;

const THINKING_AND_TOOLS: &str = include_str!("../../fixtures/google/thinking_and_tools.jsonl");
const SERVER_TOOLS: &str = include_str!("../../fixtures/google/server_tools.jsonl");

#[test]
fn thinking_and_tools_are_decoded() {
    insta::assert_snapshot!(decoded_lines(GeminiCodec::default(), &sse_events(THINKING_AND_TOOLS, "")), @r##"
    reasoning-start {"id":"0"}
    reasoning-delta {"id":"0","delta":"Two places."}
    reasoning-end {"id":"0","metadata":{"google":{"thoughtSignature":"s0"}}}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"I look "}
    text-delta {"id":"1","delta":"twice. 🌍"}
    text-end {"id":"1","metadata":{"google":{"thoughtSignature":"s1"}}}
    tool-input-start {"id":"call_*","name":"weather"}
    tool-input-delta {"id":"call_*","delta":"{\"city\":\"Paris\"}"}
    tool-call {"id":"call_*","name":"weather","input":"{\"city\":\"Paris\"}","metadata":{"google":{"thoughtSignature":"s2"}}}
    tool-input-start {"id":"own-1","name":"weather"}
    tool-input-delta {"id":"own-1","delta":"{\"city\":\"Rome\"}"}
    tool-call {"id":"own-1","name":"weather","input":"{\"city\":\"Rome\"}"}
    tool-input-start {"id":"call_*","name":"clock"}
    tool-input-delta {"id":"call_*","delta":"{}"}
    tool-call {"id":"call_*","name":"clock","input":"{}"}
    finish {"reason":"tool-calls","rawReason":"STOP","usage":{"inputTokens":20,"outputTokens":22,"cacheReadTokens":8,"cacheWriteTokens":0,"reasoningTokens":10}}
    "##);
}

#[test]
fn server_tools_files_and_sources_are_decoded() {
    insta::assert_snapshot!(decoded_lines(GeminiCodec::default(), &sse_events(SERVER_TOOLS, "")), @r#"
    text-start {"id":"0"}
    text-delta {"id":"0","delta":"I count."}
    source {"kind":"url","id":"source-1","url":"https://example.org/a","title":"A"}
    source {"kind":"document","id":"source-2","mediaType":"application/pdf","title":"B","filename":"b.pdf"}
    text-end {"id":"0"}
    tool-call {"id":"call_*","name":"code_execution","input":"{\"language\":\"PYTHON\",\"code\":\"print(1)\"}","providerExecuted":true}
    provider-item {"provider":"google","item":{"executableCode":{"language":"PYTHON","code":"print(1)"}}}
    tool-result {"id":"call_*","name":"code_execution","output":{"outcome":"OUTCOME_OK","output":"1\n"}}
    provider-item {"provider":"google","item":{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}}}
    tool-call {"id":"t1","name":"server:GOOGLE_SEARCH_WEB","input":"{\"queries\":[\"a\"]}","providerExecuted":true}
    provider-item {"provider":"google","item":{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB","id":"t1","args":{"queries":["a"]}}}}
    tool-result {"id":"t1","name":"server:GOOGLE_SEARCH_WEB","output":{"n":1}}
    provider-item {"provider":"google","item":{"toolResponse":{"toolType":"GOOGLE_SEARCH_WEB","id":"t1","response":{"n":1}}}}
    file {"mediaType":"image/png","url":"data:image/png;base64,aGk=","metadata":{"google":{"thoughtSignature":"s"}}}
    provider-item {"provider":"google","item":{"laterKind":{"x":1}},"shownAs":"laterKind"}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"Done."}
    text-end {"id":"1"}
    finish {"reason":"stop","rawReason":"STOP","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "#);
}

#[test]
fn end_of_the_stream_is_checked() {
    let check = |lines: &str, expected: &str| {
        let shown = decoded_lines(GeminiCodec::default(), &sse_events(lines, ""));
        let last = shown.lines().last().unwrap_or_default();
        assert!(last.contains(expected), "{lines}: {last}");
    };
    check(r#"{"candidates":[{"finishReason":"SAFETY"}]}"#, r#""reason":"content-filter","rawReason":"SAFETY""#);
    check(r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#, r#""reason":"length""#);
    check(r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#, r#""reason":"error""#);
    check(r#"{"candidates":[{"finishReason":"LATER"}]}"#, r#""reason":"other","rawReason":"LATER""#);
    check(r#"{"promptFeedback":{"blockReason":"OTHER"}}"#, r#""reason":"content-filter","rawReason":"OTHER""#);
    check(r#"{"candidates":[]}"#, "without a finish reason");
    let begun = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","willContinue":true}}]},"finishReason":"MAX_TOKENS"}]}"#;
    check(begun, "in the middle of a tool call");
}

#[test]
fn error_code_determines_the_kind() {
    let check = |line: &str, kind: ModelErrorKind| {
        let stream = sse_events(&format!("{}\n{line}", THINKING_AND_TOOLS.lines().next().unwrap()), "");
        let (parts, read) = decode(GeminiCodec::default(), &[stream.as_bytes()]);
        assert_eq!(read.unwrap_err().kind, kind, "{line}");
        assert!(!parts.is_empty() && !parts.iter().any(|part| matches!(part, Part::Finish { .. })));
    };
    use ModelErrorKind::{BrokenStream, ContextTooLong, RateLimited, Refused, Unauthorized, Unavailable};
    check(r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#, Unavailable);
    check(r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}"#, RateLimited);
    check(r#"{"error":{"status":"INVALID_ARGUMENT"}}"#, Refused);
    let long = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    check(&format!(r#"{{"error":{{"code":400,"message":"{long}","status":"INVALID_ARGUMENT"}}}}"#), ContextTooLong);
    check(r#"{"error":{"status":"PERMISSION_DENIED"}}"#, Unauthorized);
    check("{nonsense", BrokenStream);
    check(r#"{"candidates":[{"content":{"parts":[1]}}]}"#, BrokenStream);
}

proptest! {
    #[test]
    fn chunk_boundaries_do_not_matter(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let stream = sse_events(THINKING_AND_TOOLS, "");
        // Call ids are generated, so only parts without an id of their own are compared.
        let plain = |parts: Vec<Part>| {
            let is_call = |part: &Part| matches!(part, Part::ToolInputStart { .. } | Part::ToolInputDelta { .. } | Part::ToolCall { .. });
            parts.into_iter().filter(|part| !is_call(part)).collect::<Vec<_>>()
        };
        let (whole, _) = decode(GeminiCodec::default(), &[stream.as_bytes()]);
        let (parts, ended) = decode(GeminiCodec::default(), &split(stream.as_bytes(), &cuts));
        prop_assert!(ended.is_ok());
        prop_assert_eq!(parts.len(), whole.len());
        prop_assert_eq!(plain(parts), plain(whole));
    }
}

const GROUNDING: &str = include_str!("../../fixtures/google/grounding.jsonl");

/// Code, fetched pages, map places, file stores, and the passages that cite them.
#[test]
fn grounding_becomes_sources_and_citations() {
    insta::assert_snapshot!(decoded_lines(GeminiCodec::default(), &sse_events(GROUNDING, "")), @r##"
    tool-call {"id":"x1","name":"code_execution","input":"{\"id\":\"x1\",\"language\":\"PYTHON\",\"code\":\"print(1)\"}","providerExecuted":true}
    provider-item {"provider":"google","item":{"executableCode":{"id":"x1","language":"PYTHON","code":"print(1)"}}}
    tool-call {"id":"x2","name":"code_execution","input":"{\"id\":\"x2\",\"language\":\"PYTHON\",\"code\":\"print(2)\"}","providerExecuted":true}
    provider-item {"provider":"google","item":{"executableCode":{"id":"x2","language":"PYTHON","code":"print(2)"}}}
    tool-result {"id":"x1","name":"code_execution","output":{"outcome":"OUTCOME_OK","output":"1\n"}}
    provider-item {"provider":"google","item":{"codeExecutionResult":{"id":"x1","outcome":"OUTCOME_OK","output":"1\n"}}}
    tool-result {"id":"x2","name":"code_execution","output":{"outcome":"OUTCOME_FAILED","output":""}}
    provider-item {"provider":"google","item":{"codeExecutionResult":{"id":"x2","outcome":"OUTCOME_FAILED"}}}
    tool-call {"id":"u1","name":"server:URL_CONTEXT","input":"{\"urls\":[\"https://example.org/p\"]}","providerExecuted":true}
    provider-item {"provider":"google","item":{"toolCall":{"toolType":"URL_CONTEXT","id":"u1","args":{"urls":["https://example.org/p"]}}}}
    tool-result {"id":"u1","name":"server:URL_CONTEXT","output":{"ok":true}}
    provider-item {"provider":"google","item":{"toolResponse":{"toolType":"URL_CONTEXT","id":"u1","response":{"ok":true}},"thoughtSignature":"s1"}}
    text-start {"id":"0"}
    text-delta {"id":"0","delta":"A café. "}
    text-end {"id":"0"}
    tool-input-start {"id":"f1","name":"weather"}
    tool-input-delta {"id":"f1","delta":"{\"city\":\"Rome\"}"}
    tool-call {"id":"f1","name":"weather","input":"{\"city\":\"Rome\"}","metadata":{"google":{"thoughtSignature":"s2"}}}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"Done."}
    source {"kind":"url","id":"source-1","url":"https://example.org/a","title":"A"}
    source {"kind":"url","id":"source-2","url":"https://maps.example/c","title":"Café"}
    source {"kind":"url","id":"source-3","url":"https://example.org/i","title":"I"}
    source {"kind":"document","id":"source-4","mediaType":"application/octet-stream","title":"B","filename":"store-1"}
    source {"kind":"url","id":"source-5","url":"https://example.org/p"}
    text-end {"id":"1","citations":[{"source":{"kind":"url","id":"https://example.org/a","url":"https://example.org/a","title":"A","metadata":null},"startIndex":0,"endIndex":5,"citedText":"Done."},{"source":{"kind":"url","id":"https://maps.example/c","url":"https://maps.example/c","title":"Café","metadata":null},"startIndex":0,"endIndex":5,"citedText":"Done."}]}
    finish {"reason":"tool-calls","rawReason":"STOP","usage":{"inputTokens":3,"outputTokens":4,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

#[test]
fn items_are_sent_back_unchanged() {
    let request = request(history_after(GeminiCodec::default(), &sse_events(GROUNDING, "")));
    let body = super::request::body("gemini-3-pro", &request);
    let parts: Vec<_> = body["contents"][1]["parts"].as_array().unwrap().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(parts.join("\n"), @r##"
    {"executableCode":{"id":"x1","language":"PYTHON","code":"print(1)"}}
    {"executableCode":{"id":"x2","language":"PYTHON","code":"print(2)"}}
    {"codeExecutionResult":{"id":"x1","outcome":"OUTCOME_OK","output":"1\n"}}
    {"codeExecutionResult":{"id":"x2","outcome":"OUTCOME_FAILED"}}
    {"toolCall":{"toolType":"URL_CONTEXT","id":"u1","args":{"urls":["https://example.org/p"]}}}
    {"toolResponse":{"toolType":"URL_CONTEXT","id":"u1","response":{"ok":true}},"thoughtSignature":"s1"}
    {"text":"A café. "}
    {"functionCall":{"id":"f1","name":"weather","args":{"city":"Rome"}},"thoughtSignature":"s2"}
    {"text":"Done."}
    "##);
}
