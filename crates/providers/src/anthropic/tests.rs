use super::request::body;
use super::stream::MessagesCodec;
use crate::testing::{decode, decoded_lines, history_after, request, split, sse_events};
use contract::{AssistantPart, Message, ModelErrorKind, Part};
use proptest::prelude::*;
use std::sync::Arc;

const TEXT: &str = include_str!("../../fixtures/anthropic/text.jsonl");
const THINKING_AND_TOOLS: &str = include_str!("../../fixtures/anthropic/thinking_and_tools.jsonl");
const ITEMS: &str = include_str!("../../fixtures/anthropic/items.jsonl");

fn parts(fixture: &str) -> String {
    decoded_lines(MessagesCodec::default(), &sse_events(fixture, ""))
}

#[test]
fn text_is_decoded() {
    insta::assert_snapshot!(parts(TEXT), @r##"
    text-start {"id":"0"}
    text-delta {"id":"0","delta":"Grüße, "}
    text-delta {"id":"0","delta":"\"Welt\" 🌍\n"}
    text-end {"id":"0"}
    finish {"reason":"stop","rawReason":"end_turn","usage":{"inputTokens":442,"outputTokens":9,"cacheReadTokens":400,"cacheWriteTokens":30,"reasoningTokens":0}}
    "##);
}

#[test]
fn thinking_and_tools_are_decoded() {
    insta::assert_snapshot!(parts(THINKING_AND_TOOLS), @r##"
    reasoning-start {"id":"0"}
    reasoning-delta {"id":"0","delta":"Two places. "}
    reasoning-delta {"id":"0","delta":"Two calls."}
    reasoning-delta {"id":"0","delta":"","metadata":{"anthropic":{"signature":"sig=="}}}
    reasoning-end {"id":"0"}
    reasoning-start {"id":"1","metadata":{"anthropic":{"redactedData":"secret-data"}}}
    reasoning-end {"id":"1"}
    text-start {"id":"2"}
    text-delta {"id":"2","delta":"I look."}
    text-end {"id":"2"}
    tool-input-start {"id":"toolu_1","name":"weather"}
    tool-input-delta {"id":"toolu_1","delta":"{\"city\": \"Par"}
    tool-input-delta {"id":"toolu_1","delta":"is\"}"}
    tool-call {"id":"toolu_1","name":"weather","input":"{\"city\": \"Paris\"}"}
    tool-input-start {"id":"toolu_2","name":"clock"}
    tool-call {"id":"toolu_2","name":"clock","input":""}
    finish {"reason":"tool-calls","rawReason":"tool_use","usage":{"inputTokens":50,"outputTokens":70,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":20}}
    "##);
}

#[test]
fn search_and_compaction_are_decoded() {
    insta::assert_snapshot!(parts(ITEMS), @r##"
    tool-input-start {"id":"srv_1","name":"web_search","providerExecuted":true}
    tool-input-delta {"id":"srv_1","delta":"{\"query\":"}
    tool-input-delta {"id":"srv_1","delta":"\"rust\"}"}
    tool-call {"id":"srv_1","name":"web_search","input":"{\"query\":\"rust\"}","providerExecuted":true}
    provider-item {"provider":"anthropic","item":{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"rust"}}}
    tool-result {"id":"srv_1","name":"web_search","output":[{"url":"https://example.com","pageAge":null,"encryptedContent":"e","type":"web_search_result"}]}
    source {"kind":"url","id":"source-1","url":"https://example.com","metadata":{"anthropic":{"pageAge":null}}}
    provider-item {"provider":"anthropic","item":{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"https://example.com","encrypted_content":"e"}]}}
    text-start {"id":"0"}
    text-delta {"id":"0","delta":"It is fast."}
    text-end {"id":"0","metadata":{"anthropic":{"citations":[{"type":"web_search_result_location","url":"https://example.com","cited_text":"fast"}]}},"citations":[{"source":{"kind":"url","id":"https://example.com","url":"https://example.com","title":null,"metadata":{"anthropic":{"type":"web_search_result_location","url":"https://example.com","cited_text":"fast"}}},"citedText":"fast"}]}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"So far: "}
    text-delta {"id":"1","delta":"rust."}
    text-end {"id":"1","metadata":{"anthropic":{"type":"compaction"}}}
    finish {"reason":"pause","rawReason":"pause_turn","usage":{"inputTokens":5,"outputTokens":8,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

#[test]
fn careless_gateways_are_tolerated() {
    // All input at once, a missing id, a repeated id, a missing name, a text without an end,
    // invalid usage, events after the end.
    insta::assert_snapshot!(parts(concat!(
        r#"{"type":"message_start","message":{"id":"a","content":[{"type":"tool_use","id":"p","name":"inside","input":{"x":1}}]}}"#, "\n",
        r#"{"type":"message_start","message":{"id":"a"}}"#, "\n",
        r#"{"type":"content_block_start","index":7,"content_block":{"type":"tool_use","id":"p","name":"twice","input":{"a":1}}}"#, "\n",
        r#"{"type":"content_block_stop","index":7}"#, "\n",
        r#"{"type":"content_block_stop","index":7}"#, "\n",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"","input":{"a":1}}}"#, "\n",
        r#"{"type":"content_block_delta","index":0,"delta":{"partial_json":"{\"a\":1}"}}"#, "\n",
        r#"{"type":"content_block_delta","index":9,"delta":{"text":"nowhere"}}"#, "\n",
        r#"{"type":"content_block_stop","index":0}"#, "\n",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"at once"}}"#, "\n",
        r#"{"type":"message_delta","delta":{},"usage":{"input_tokens":-1,"output_tokens":1e999,"cache_read_input_tokens":"7"}}"#, "\n",
        r#"{"type":"message_delta","usage":"none"}"#, "\n",
        r#"{"type":"message_stop"}"#, "\n",
        r#"{"type":"message_stop"}"#, "\n",
        "[DONE]\n",
    )), @r##"
    tool-input-start {"id":"p","name":"inside"}
    tool-call {"id":"p","name":"inside","input":"{\"x\":1}"}
    tool-input-start {"id":"call_*","name":"twice"}
    tool-call {"id":"call_*","name":"twice","input":"{\"a\":1}"}
    tool-input-start {"id":"call_*","name":"unnamed_tool"}
    tool-input-delta {"id":"call_*","delta":"{\"a\":1}"}
    text-start {"id":"0"}
    text-delta {"id":"0","delta":"nowhere"}
    tool-call {"id":"call_*","name":"unnamed_tool","input":"{\"a\":1}"}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"at once"}
    text-end {"id":"0"}
    text-end {"id":"1"}
    finish {"reason":"other","usage":{"inputTokens":7,"outputTokens":9007199254740991,"cacheReadTokens":7,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

/// Invalid input ends in an error that names the cause, and never becomes a call.
#[test]
fn invalid_streams_are_errors() {
    let check = |stream: &str, expected: &str| {
        let (parts, read) = decode(MessagesCodec::default(), &[stream.as_bytes()]);
        let error = read.unwrap_err();
        assert!(error.to_string().contains(expected), "{stream}: {error}");
        assert!(!parts.iter().any(|part| matches!(part, Part::ToolCall { .. } | Part::Finish { .. })), "{stream}");
    };
    let line = |json: &str| format!("data: {json}\n\n");
    check("", "before `message_stop`");
    check("<html><body>Bad gateway</body></html>", "no server-sent events");
    check(r#"{"type":"error","error":{"type":"overloaded_error"}}"#, "no server-sent events");
    check(&line("{"), "cannot be parsed");
    check(&line("[1]"), "before `message_stop`");
    check(&line("\u{0}"), "cannot be parsed");
    check(&line(&"[".repeat(10_000)), "cannot be parsed");
    let deep = format!(r#"{{"type":"later","a":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    check(&line(&deep), "");
    check(&line(&"x".repeat(5 * 1024 * 1024)), "larger than the limit");
    check(
        &line(r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#),
        "temporarily unavailable: overloaded_error: busy",
    );
    check(&line(r#"{"error":{"message":"no type"}}"#), "no type");
    let begin = line(r#"{"type":"message_start","message":{"id":"a"}}"#);
    check(&(begin + &line(r#"{"type":"message_start","message":{"id":"b"}}"#)), "another `message_start`");
    let call =
        line(r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n"}}"#)
            + &line(r#"{"type":"content_block_delta","index":0,"delta":{"partial_json":"{}"}}"#);
    check(&call, "before `message_stop`");
    check(&(call.clone() + &line(r#"{"type":"message_stop"}"#)), "in the middle of a tool call");
    check(
        &(call.clone() + &line(r#"{"type":"content_block_start","index":0,"content_block":{}}"#)),
        "in the middle of a tool call",
    );
    let much = line(&format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"partial_json":"{}"}}}}"#,
        "a".repeat(1024 * 1024)
    ));
    check(&(call + &much.repeat(17)), "too large");
    let open =
        |index| line(&format!(r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"text"}}}}"#));
    check(&(0..100).map(open).collect::<String>(), "too many open blocks");
}

#[test]
fn error_type_determines_the_kind() {
    use ModelErrorKind::{ContextTooLong, RateLimited, Refused, Unauthorized, Unavailable};
    let check_message = |kind: &str, message: &str, expected| {
        let event =
            format!("data: {{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"{message}\"}}}}\n\n");
        let (_, read) = decode(MessagesCodec::default(), &[event.as_bytes()]);
        assert_eq!(read.unwrap_err().kind, expected, "{kind}");
    };
    let check = |kind: &str, expected| check_message(kind, "m", expected);
    check_message("invalid_request_error", "prompt is too long: 210133 tokens > 200000 maximum", ContextTooLong);
    check("overloaded_error", Unavailable);
    check("api_error", Unavailable);
    check("a_later_error", Unavailable);
    check("rate_limit_error", RateLimited);
    check("authentication_error", Unauthorized);
    check("invalid_request_error", Refused);
}

proptest! {
    #[test]
    fn chunk_boundaries_do_not_matter(
        fixture in prop::sample::select(vec![TEXT, THINKING_AND_TOOLS, ITEMS]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let stream = sse_events(fixture, "");
        let (whole, _) = decode(MessagesCodec::default(), &[stream.as_bytes()]);
        let (parts, end) = decode(MessagesCodec::default(), &split(stream.as_bytes(), &cuts));
        prop_assert!(end.is_ok());
        prop_assert_eq!(parts, whole);
    }

    /// A reply that is cut off before its end is an error, and its incomplete calls are dropped.
    #[test]
    fn truncated_stream_is_an_error(
        fixture in prop::sample::select(vec![TEXT, THINKING_AND_TOOLS, ITEMS]),
        at in any::<prop::sample::Index>(),
    ) {
        let stream = sse_events(fixture, "");
        let (whole, _) = decode(MessagesCodec::default(), &[stream.as_bytes()]);
        let (parts, end) = decode(MessagesCodec::default(), &[&stream.as_bytes()[..at.index(stream.len() - 1)]]);
        prop_assert_eq!(end.unwrap_err().kind, ModelErrorKind::BrokenStream);
        prop_assert_eq!(&parts[..], &whole[..parts.len()]);
    }

    #[test]
    fn no_input_panics(lines in prop::collection::vec("data: [\\{\"a-z\\}:,\\[\\]0-9]{0,40}\n\n", 0..8)) {
        let _ = decode(MessagesCodec::default(), &[lines.concat().as_bytes()]);
    }
}

#[test]
fn server_tools_are_decoded() {
    insta::assert_snapshot!(parts(include_str!("../../fixtures/anthropic/server_tools.jsonl")), @r##"
    tool-input-start {"id":"srv_1","name":"code_execution","providerExecuted":true}
    tool-input-delta {"id":"srv_1","delta":"{\"command\": \"ls\"}"}
    tool-call {"id":"srv_1","name":"code_execution","input":"{\"type\":\"bash_code_execution\",\"command\":\"ls\"}","providerExecuted":true}
    provider-item {"provider":"anthropic","item":{"type":"server_tool_use","id":"srv_1","name":"bash_code_execution","input":{"command":"ls"}}}
    tool-result {"id":"srv_1","name":"code_execution","output":{"type":"bash_code_execution_result","stdout":"a","stderr":"","return_code":0,"content":[]}}
    provider-item {"provider":"anthropic","item":{"type":"bash_code_execution_tool_result","tool_use_id":"srv_1","content":{"type":"bash_code_execution_result","stdout":"a","stderr":"","return_code":0,"content":[]}}}
    tool-input-start {"id":"srv_2","name":"web_fetch","providerExecuted":true}
    tool-call {"id":"srv_2","name":"web_fetch","input":"{\"url\":\"https://example.org\"}","providerExecuted":true}
    provider-item {"provider":"anthropic","item":{"type":"server_tool_use","id":"srv_2","name":"web_fetch","input":{"url":"https://example.org"}}}
    tool-result {"id":"srv_2","name":"web_fetch","output":{"type":"web_fetch_result","url":"https://example.org","retrievedAt":"2026-01-01","content":{"type":"document","title":"Example","source":{"type":"text","mediaType":"text/plain","data":"Hi."}}}}
    provider-item {"provider":"anthropic","item":{"type":"web_fetch_tool_result","tool_use_id":"srv_2","content":{"type":"web_fetch_result","url":"https://example.org","retrieved_at":"2026-01-01","content":{"type":"document","title":"Example","source":{"type":"text","media_type":"text/plain","data":"Hi."}}}}}
    tool-input-start {"id":"mcp_1","name":"echo","providerExecuted":true}
    tool-input-delta {"id":"mcp_1","delta":"{\"a\":1}"}
    tool-call {"id":"mcp_1","name":"echo","input":"{\"a\":1}","providerExecuted":true}
    provider-item {"provider":"anthropic","item":{"type":"mcp_tool_use","id":"mcp_1","name":"echo","server_name":"s","input":{"a":1}}}
    tool-result {"id":"mcp_1","name":"echo","output":[{"type":"text","text":"no"}],"isError":true}
    provider-item {"provider":"anthropic","item":{"type":"mcp_tool_result","tool_use_id":"mcp_1","is_error":true,"content":[{"type":"text","text":"no"}]}}
    tool-input-start {"id":"srv_3","name":"tool_search_tool_bm25","providerExecuted":true}
    tool-call {"id":"srv_3","name":"tool_search_tool_bm25","input":"{}","providerExecuted":true}
    provider-item {"provider":"anthropic","item":{"type":"server_tool_use","id":"srv_3","name":"tool_search_tool_bm25","input":{}}}
    tool-result {"id":"srv_3","name":"tool_search_tool_bm25","output":[{"type":"tool_reference","toolName":"weather"}]}
    provider-item {"provider":"anthropic","item":{"type":"tool_search_tool_result","tool_use_id":"srv_3","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"weather"}]}}}
    tool-result {"id":"srv_4","name":"web_search","output":{"type":"web_search_tool_result_error","errorCode":"max_uses_exceeded"},"isError":true}
    provider-item {"provider":"anthropic","item":{"type":"web_search_tool_result","tool_use_id":"srv_4","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}}
    text-start {"id":"0"}
    text-delta {"id":"0","delta":"Hi."}
    source {"kind":"document","id":"source-1","mediaType":"text/plain","title":"Example","metadata":{"anthropic":{"documentIndex":0,"citedText":"Hi.","startCharIndex":0,"endCharIndex":3}}}
    text-end {"id":"0","metadata":{"anthropic":{"citations":[{"type":"char_location","document_index":0,"cited_text":"Hi.","start_char_index":0,"end_char_index":3}]}},"citations":[{"source":{"kind":"document","id":"0","mediaType":"text/plain","title":"Example","filename":null,"metadata":{"anthropic":{"type":"char_location","document_index":0,"cited_text":"Hi.","start_char_index":0,"end_char_index":3}}},"citedText":"Hi."}]}
    tool-input-start {"id":"t1","name":"weather"}
    tool-call {"id":"t1","name":"weather","input":"{\"a\":1}","metadata":{"anthropic":{"caller":{"type":"code_execution_20250825","tool_id":"srv_1"}}}}
    finish {"reason":"tool-calls","rawReason":"tool_use","usage":{"inputTokens":0,"outputTokens":3,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
}

#[test]
fn tools_of_mcp_servers_cannot_pass_for_the_search() {
    let check = |name: &str, expected: &str| {
        let shown = parts(&include_str!("../../fixtures/anthropic/server_tools.jsonl").replace("echo", name));
        for part in ["tool-input-start", "tool-call", "tool-result"] {
            assert!(shown.contains(&format!(r#"{part} {{"id":"mcp_1","name":"{expected}""#)), "{shown}");
        }
        // It is sent back as received.
        assert!(shown.contains(&format!(r#""type":"mcp_tool_use","id":"mcp_1","name":"{name}""#)), "{shown}");
    };
    check("find", "find");
    check("tool_search", "mcp.tool_search");
    check("tool_search_tool_bm25", "mcp.tool_search_tool_bm25");
}

const CONTAINERS: &str = include_str!("../../fixtures/anthropic/containers.jsonl");

/// Code in a container, a remote tool, a call that a program made, and a block of an unknown type.
#[test]
fn blocks_of_every_type_are_decoded() {
    insta::assert_snapshot!(parts(CONTAINERS), @r#"
    reasoning-start {"id":"0"}
    reasoning-delta {"id":"0","delta":"Hm."}
    reasoning-delta {"id":"0","delta":"","metadata":{"anthropic":{"signature":"s1"}}}
    reasoning-end {"id":"0"}
    tool-input-start {"id":"srvtoolu_1","name":"code_execution","providerExecuted":true}
    tool-input-delta {"id":"srvtoolu_1","delta":"{\"command\":"}
    tool-input-delta {"id":"srvtoolu_1","delta":"\"ls\"}"}
    tool-call {"id":"srvtoolu_1","name":"code_execution","input":"{\"type\":\"bash_code_execution\",\"command\":\"ls\"}","providerExecuted":true}
    provider-item {"provider":"anthropic","item":{"type":"server_tool_use","id":"srvtoolu_1","name":"bash_code_execution","input":{"command":"ls"},"caller":{"type":"direct"}}}
    tool-result {"id":"srvtoolu_1","name":"code_execution","output":{"type":"bash_code_execution_result","stdout":"a","stderr":"","return_code":0,"content":[]}}
    provider-item {"provider":"anthropic","item":{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"bash_code_execution_result","stdout":"a","stderr":"","return_code":0,"content":[]}}}
    tool-input-start {"id":"mcptoolu_1","name":"add","providerExecuted":true}
    tool-input-delta {"id":"mcptoolu_1","delta":"{\"a\":1}"}
    tool-call {"id":"mcptoolu_1","name":"add","input":"{\"a\":1}","providerExecuted":true}
    provider-item {"provider":"anthropic","item":{"type":"mcp_tool_use","id":"mcptoolu_1","name":"add","server_name":"s","input":{"a":1}}}
    tool-result {"id":"mcptoolu_1","name":"add","output":[{"type":"text","text":"2"}]}
    provider-item {"provider":"anthropic","item":{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[{"type":"text","text":"2"}]}}
    tool-input-start {"id":"toolu_1","name":"weather"}
    tool-input-delta {"id":"toolu_1","delta":"{\"city\":\"Rome\"}"}
    tool-call {"id":"toolu_1","name":"weather","input":"{\"city\":\"Rome\"}","metadata":{"anthropic":{"caller":{"type":"code_execution_20260120","tool_id":"srvtoolu_1"}}}}
    provider-item {"provider":"anthropic","item":{"type":"later_block","a":{"b":1},"c":"d"},"shownAs":"later_block"}
    text-start {"id":"1"}
    text-delta {"id":"1","delta":"Done. "}
    text-delta {"id":"1","delta":"🌍"}
    text-end {"id":"1"}
    provider-item {"provider":"anthropic","item":{"type":"container","id":"container_1","expires_at":"2026-01-02T03:04:05Z"},"shownAs":"container"}
    context-edits {"provider":"anthropic","edits":[{"type":"clear_tool_uses_20250919","clearedToolUses":1}]}
    finish {"reason":"tool-calls","rawReason":"tool_use","usage":{"inputTokens":5,"outputTokens":9,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "#);
}

/// Blocks are sent back as received, extended by their deltas. The container's id is sent if a tool
/// runs code.
#[test]
fn blocks_of_every_type_are_sent_back() {
    let mut request = request(history_after(MessagesCodec::default(), &sse_events(CONTAINERS, "")));
    let body = body("claude-sonnet-4-5", &request);
    assert!(body.get("container").is_none());
    let blocks: Vec<_> = body["messages"][1]["content"].as_array().unwrap().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(blocks.join("\n"), @r##"
    {"type":"thinking","thinking":"Hm.","signature":"s1"}
    {"type":"server_tool_use","id":"srvtoolu_1","name":"bash_code_execution","input":{"command":"ls"},"caller":{"type":"direct"}}
    {"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"bash_code_execution_result","stdout":"a","stderr":"","return_code":0,"content":[]}}
    {"type":"mcp_tool_use","id":"mcptoolu_1","name":"add","server_name":"s","input":{"a":1}}
    {"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[{"type":"text","text":"2"}]}
    {"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Rome"},"caller":{"type":"code_execution_20260120","tool_id":"srvtoolu_1"}}
    {"type":"later_block","a":{"b":1},"c":"d"}
    {"type":"text","text":"Done. 🌍"}
    "##);
    for message in &mut request.messages {
        let Message::Assistant(parts) = Arc::make_mut(message) else { continue };
        for part in parts {
            if let AssistantPart::ProviderItem { item, .. } = part
                && item["type"] == "container"
            {
                item["expires_at"] = serde_json::Value::Null;
            }
        }
    }
    let tools = serde_json::json!({ "tools": [{ "type": "code_execution_20250825", "name": "code_execution" }] });
    request.provider_options.insert("anthropic".to_owned(), tools);
    assert_eq!(super::request::body("claude-sonnet-4-5", &request)["container"], "container_1");
}

/// Missing events do not end a reply, except within a call.
#[test]
fn missing_events_are_tolerated_outside_of_calls() {
    let check = |lines: &str, expected: &str| {
        let shown = parts(lines);
        let last = shown.lines().last().unwrap();
        assert!(last.contains(expected), "{lines}: {shown}");
        shown
    };
    let delta = |delta: &str| {
        format!(
            "{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n{{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}}}}\n{{\"type\":\"message_stop\"}}"
        )
    };
    let text = check(&delta(r#"{"type":"text_delta","text":"Hi"}"#), "\"stop\"");
    assert!(text.contains("\"delta\":\"Hi\""), "{text}");
    check(&delta(r#"{"type":"thinking_delta","thinking":"Hm"}"#), "\"stop\"");
    check(&delta(r#"{"type":"text_delta","text":{"a":1}}"#), "\"stop\"");
    check(&delta(r#"{"type":"later_delta","x":1}"#), "\"stop\"");
    check(&delta(r#"{"type":"input_json_delta","partial_json":"{}"}"#), "`content_block_start`");
    check(&delta("7"), "`delta` cannot be parsed: expected an object, found a number");
    check(r#"{"type":"error","error":"overloaded"}"#, "error");
}

/// Returns the parts of a reply without content that ends with this `message_delta`.
fn reply_ending_with(message_delta: &serde_json::Value) -> String {
    parts(&format!("{message_delta}\n{{\"type\":\"message_stop\"}}"))
}

#[test]
fn applied_context_edits_become_a_part() {
    let check = |management: serde_json::Value, expected: &str| {
        let shown =
            reply_ending_with(&serde_json::json!({ "type": "message_delta", "context_management": management }));
        let edits: Vec<_> = shown.lines().filter_map(|line| line.strip_prefix("context-edits ")).collect();
        let expected = (!expected.is_empty()).then(|| format!(r#"{{"provider":"anthropic","edits":[{expected}]}}"#));
        assert_eq!(edits, Vec::from_iter(expected.as_deref()), "{management}");
        assert!(shown.lines().last().unwrap().starts_with("finish "), "{shown}");
    };
    check(
        serde_json::json!({ "applied_edits": [
            { "type": "clear_thinking_20251015", "cleared_thinking_turns": 3, "cleared_input_tokens": 15000 },
            { "type": "clear_tool_uses_20250919", "cleared_tool_uses": 8, "cleared_input_tokens": "50000" },
            { "type": "compact_20260112" },
            { "type": "later_edit", "cleared_input_tokens": -1, "more": {} },
            { "cleared_input_tokens": 1 },
            7,
        ] }),
        concat!(
            r#"{"type":"clear_thinking_20251015","clearedThinkingTurns":3,"clearedInputTokens":15000},"#,
            r#"{"type":"clear_tool_uses_20250919","clearedToolUses":8,"clearedInputTokens":50000},"#,
            r#"{"type":"compact_20260112"},{"type":"later_edit","clearedInputTokens":0}"#,
        ),
    );
    check(serde_json::json!({ "applied_edits": [] }), "");
    check(serde_json::json!({ "applied_edits": "none" }), "");
    check(serde_json::json!([1]), "");
    check(serde_json::Value::Null, "");
    let whole =
        r#"{"type":"message_start","message":{"context_management":{"applied_edits":[{"type":"compact_20260112"}]}}}"#;
    let shown = parts(&format!("{whole}\n{{\"type\":\"message_stop\"}}"));
    assert!(shown.starts_with("context-edits "), "{shown}");
}

/// The loop asks a model that paused after a compaction to continue.
#[test]
fn stop_after_a_compaction_is_a_pause() {
    let shown =
        reply_ending_with(&serde_json::json!({ "type": "message_delta", "delta": { "stop_reason": "compaction" } }));
    assert!(shown.contains(r#"{"reason":"pause","rawReason":"compaction""#), "{shown}");
}
