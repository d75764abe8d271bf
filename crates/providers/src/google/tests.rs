use super::stream::Reader;
use crate::testing::{cut, events, read, shown};
use contract::{ModelErrorKind, Part};
use proptest::prelude::*;

const THINKING_AND_TOOLS: &str = include_str!("../../fixtures/google/thinking_and_tools.jsonl");
const SERVER_TOOLS: &str = include_str!("../../fixtures/google/server_tools.jsonl");

#[test]
fn thinking_and_tools() {
    insta::assert_snapshot!(shown(Reader::default(), &events(THINKING_AND_TOOLS, "")), @r##"
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
    tool-input-delta {"id":"own-1","delta":""}
    tool-input-delta {"id":"own-1","delta":""}
    tool-input-delta {"id":"own-1","delta":"{\"city\":\"Rome\"}"}
    tool-call {"id":"own-1","name":"weather","input":"{\"city\":\"Rome\"}"}
    tool-input-start {"id":"call_*","name":"clock"}
    tool-input-delta {"id":"call_*","delta":"{}"}
    tool-call {"id":"call_*","name":"clock","input":"{}"}
    finish {"reason":"tool-calls","rawReason":"STOP","usage":{"inputTokens":20,"outputTokens":22,"cacheReadTokens":8,"cacheWriteTokens":0,"reasoningTokens":10}}
    "##);
}

#[test]
fn tools_of_googles_files_and_sources() {
    insta::assert_snapshot!(shown(Reader::default(), &events(SERVER_TOOLS, "")), @r##"
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
    provider-item {"provider":"google","item":{"laterKind":{"x":1}}}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"Done."}
    text-end {"id":"1"}
    finish {"reason":"stop","rawReason":"STOP","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

#[test]
fn ends() {
    let check = |lines: &str, expected: &str| {
        let shown = shown(Reader::default(), &events(lines, ""));
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
fn errors() {
    let check = |line: &str, kind: ModelErrorKind| {
        let stream = events(&format!("{}\n{line}", THINKING_AND_TOOLS.lines().next().unwrap()), "");
        let (parts, read) = read(Reader::default(), &[stream.as_bytes()]);
        assert_eq!(read.unwrap_err().kind, kind, "{line}");
        assert!(!parts.is_empty() && !parts.iter().any(|part| matches!(part, Part::Finish { .. })));
    };
    use ModelErrorKind::{BrokenStream, RateLimited, Refused, Unauthorized, Unavailable};
    check(r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#, Unavailable);
    check(r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}"#, RateLimited);
    check(r#"{"error":{"status":"INVALID_ARGUMENT"}}"#, Refused);
    check(r#"{"error":{"status":"PERMISSION_DENIED"}}"#, Unauthorized);
    check("{nonsense", BrokenStream);
    check(r#"{"candidates":[{"content":{"parts":[1]}}]}"#, BrokenStream);
}

proptest! {
    #[test]
    fn cuts_do_not_matter(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let stream = events(THINKING_AND_TOOLS, "");
        // Ids of calls are minted: only what has no id of its own is compared.
        let plain = |parts: Vec<Part>| {
            let is_call = |part: &Part| matches!(part, Part::ToolInputStart { .. } | Part::ToolInputDelta { .. } | Part::ToolCall { .. });
            parts.into_iter().filter(|part| !is_call(part)).collect::<Vec<_>>()
        };
        let (whole, _) = read(Reader::default(), &[stream.as_bytes()]);
        let (parts, ended) = read(Reader::default(), &cut(stream.as_bytes(), &cuts));
        prop_assert!(ended.is_ok());
        prop_assert_eq!(parts.len(), whole.len());
        prop_assert_eq!(plain(parts), plain(whole));
    }
}
