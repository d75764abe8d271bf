use super::request::body;
use super::stream::ResponsesCodec;
use crate::testing::{decode, decoded_lines, history_after, request, split, sse_events, tool};
use contract::{
    AssistantPart, FinishReason, Message, ModelErrorKind, Part, Request, ToolCall, ToolOutput, ToolResult, UserPart,
};
use proptest::prelude::*;
use serde_json::{Map, json};

const THINKING_AND_TOOL: &str = include_str!("../../fixtures/openai_responses/thinking_and_tool.jsonl");

#[test]
fn thinking_and_tool_are_decoded() {
    insta::assert_snapshot!(decoded_lines(ResponsesCodec::default(), &sse_events(THINKING_AND_TOOL, "")), @r##"
    reasoning-start {"id":"rs_1:0","metadata":{"openai":{"itemId":"rs_1"}}}
    reasoning-delta {"id":"rs_1:0","delta":"First."}
    reasoning-end {"id":"rs_1:0"}
    reasoning-start {"id":"rs_1:1","metadata":{"openai":{"itemId":"rs_1"}}}
    reasoning-delta {"id":"rs_1:1","delta":"Then."}
    reasoning-end {"id":"rs_1:1","metadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"c2VjcmV0"}}}
    text-start {"id":"msg_1"}
    text-delta {"id":"msg_1","delta":"I look. 🌍"}
    text-end {"id":"msg_1","metadata":{"openai":{"itemId":"msg_1"}},"citations":[{"source":{"kind":"url","id":"https://example.org/a","url":"https://example.org/a","title":"A","metadata":null}}]}
    tool-input-start {"id":"call_1","name":"weather"}
    tool-input-delta {"id":"call_1","delta":"{\"city\":"}
    tool-input-delta {"id":"call_1","delta":"\"Rome\"}"}
    tool-call {"id":"call_1","name":"weather","input":"{\"city\":\"Rome\"}","metadata":{"openai":{"itemId":"fc_1"}}}
    tool-input-start {"id":"ws_1","name":"web_search","providerExecuted":true}
    tool-call {"id":"ws_1","name":"web_search","input":"{}","providerExecuted":true,"metadata":{"openai":{"itemId":"ws_1"}}}
    tool-result {"id":"ws_1","name":"web_search","output":{}}
    provider-item {"provider":"openai","item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"query":"rome"}}}
    source {"kind":"url","id":"source-1","url":"https://example.org/a","title":"A"}
    finish {"reason":"tool-calls","usage":{"inputTokens":30,"outputTokens":12,"cacheReadTokens":8,"cacheWriteTokens":0,"reasoningTokens":5}}
    "##);
}

#[test]
fn incomplete_and_failed_replies_are_errors() {
    let check = |last: &str, kind: ModelErrorKind| {
        let lines: Vec<_> = THINKING_AND_TOOL.lines().take(16).chain((!last.is_empty()).then_some(last)).collect();
        let stream = sse_events(&lines.join("\n"), "");
        let (parts, ended) = decode(ResponsesCodec::default(), &[stream.as_bytes()]);
        assert_eq!(ended.unwrap_err().kind, kind, "{last}");
        // The call's arguments were cut off, so there is no call.
        assert!(!parts.iter().any(|part| matches!(part, Part::ToolCall { .. } | Part::Finish { .. })));
    };
    check("", ModelErrorKind::BrokenStream);
    check("{nonsense", ModelErrorKind::BrokenStream);
    check(r#"{"type":"error","code":"server_error","message":"oops"}"#, ModelErrorKind::Unavailable);
    check(
        r#"{"type":"error","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window."}}"#,
        ModelErrorKind::ContextTooLong,
    );
    check(
        r#"{"type":"error","error":{"code":"rate_limit_exceeded","message":"slow down"}}"#,
        ModelErrorKind::RateLimited,
    );
    check(
        r#"{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"no"}}}"#,
        ModelErrorKind::Refused,
    );
}

#[test]
fn incomplete_responses_are_never_whole() {
    let check = |details: &str, expected: FinishReason| {
        let last = format!(r#"{{"type":"response.incomplete","response":{{"output":[]{details}}}}}"#);
        let (parts, ended) = decode(ResponsesCodec::default(), &[sse_events(&last, "").as_bytes()]);
        ended.unwrap();
        let Some(Part::Finish { reason, .. }) = parts.last() else { panic!("no end: {details}") };
        assert_eq!(*reason, expected, "{details}");
    };
    check(r#","incomplete_details":{"reason":"max_output_tokens"}"#, FinishReason::Length);
    check(r#","incomplete_details":{"reason":"content_filter"}"#, FinishReason::ContentFilter);
    check(r#","incomplete_details":{"reason":"a later one"}"#, FinishReason::Error);
    check(r#","incomplete_details":{"reason":7}"#, FinishReason::Error);
    check(r#","incomplete_details":null"#, FinishReason::Error);
    check("", FinishReason::Error);
}

#[test]
fn conversation_is_converted() {
    let own = |value| Some(Map::from_iter([("openai".to_owned(), value)]));
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: "weather".to_owned(),
        input: json!({ "city": "Rome" }),
        provider_executed: false,
        metadata: None,
    };
    let result = ToolResult {
        call_id: "call_1".to_owned(),
        name: "weather".to_owned(),
        output: ToolOutput::Json(json!({ "sun": true })),
        metadata: None,
    };
    let mut request = request(vec![
        Message::User(vec![UserPart::Text { text: "Weather?".to_owned() }]),
        Message::Assistant(vec![
            AssistantPart::Reasoning {
                text: "Then.".to_owned(),
                metadata: own(json!({ "itemId": "rs_1", "reasoningEncryptedContent": "c2VjcmV0" })),
            },
            AssistantPart::Reasoning { text: "of another provider".to_owned(), metadata: None },
            AssistantPart::Text { text: "I look.".to_owned(), metadata: None },
            AssistantPart::ToolCall(call),
        ]),
        Message::Tool(vec![result]),
    ]);
    request.system = Some("Be brief.".to_owned());
    request.provider_options.insert("openai".to_owned(), json!({ "reasoning": { "effort": "low" } }));
    insta::assert_snapshot!(body("gpt-5", &request), @r#"{"model":"gpt-5","instructions":"Be brief.","input":[{"role":"user","content":[{"type":"input_text","text":"Weather?"}]},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Then."}],"encrypted_content":"c2VjcmV0"},{"role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Rome\"}"},{"type":"function_call_output","call_id":"call_1","output":"{\"sun\":true}"}],"stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low"}}"#);
}

const ITEMS: &str = include_str!("../../fixtures/openai_responses/items.jsonl");

#[test]
fn items_of_every_type_are_decoded() {
    insta::assert_snapshot!(decoded_lines(ResponsesCodec::default(), &sse_events(ITEMS, "")), @r#"
    reasoning-start {"id":"rs_1:0","metadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"c2VjcmV0"}}}
    reasoning-end {"id":"rs_1:0","metadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"c2VjcmV0"}}}
    tool-input-start {"id":"tsc_1","name":"tool_search","providerExecuted":true}
    tool-call {"id":"tsc_1","name":"tool_search","input":"{\"arguments\":{\"paths\":[\"crm\"]},\"call_id\":null}","providerExecuted":true,"metadata":{"openai":{"itemId":"tsc_1"}}}
    provider-item {"provider":"openai","item":{"id":"tsc_1","type":"tool_search_call","call_id":null,"execution":"server","status":"completed","arguments":{"paths":["crm"]}}}
    tool-result {"id":"tsc_1","name":"tool_search","output":{"tools":[{"type":"function","name":"crm_find"}]}}
    provider-item {"provider":"openai","item":{"id":"tso_1","type":"tool_search_output","call_id":null,"execution":"server","status":"completed","tools":[{"type":"function","name":"crm_find"}]}}
    tool-input-start {"id":"call_s","name":"tool_search"}
    tool-call {"id":"call_s","name":"tool_search","input":"{\"arguments\":{\"goal\":\"tickets\"},\"call_id\":\"call_s\"}","metadata":{"openai":{"itemId":"tsc_2","itemType":"tool_search_call"}}}
    provider-item {"provider":"openai","item":{"id":"tsc_2","type":"tool_search_call","call_id":"call_s","execution":"client","status":"completed","arguments":{"goal":"tickets"}}}
    tool-input-start {"id":"call_h","name":"shell","providerExecuted":true}
    tool-call {"id":"call_h","name":"shell","input":"{\"action\":{\"commands\":[\"ls\"]}}","providerExecuted":true,"metadata":{"openai":{"itemId":"sh_1"}}}
    provider-item {"provider":"openai","item":{"id":"sh_1","type":"shell_call","call_id":"call_h","status":"completed","action":{"commands":["ls"]},"environment":{"type":"container_reference","container_id":"c1"}}}
    tool-result {"id":"call_h","name":"shell","output":{"maxOutputLength":100,"output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exitCode":0}},{"stdout":"","stderr":"b","outcome":{"type":"timeout"}}]}}
    provider-item {"provider":"openai","item":{"id":"sho_1","type":"shell_call_output","call_id":"call_h","status":"completed","max_output_length":100,"output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}},{"stdout":"","stderr":"b","outcome":{"type":"timeout"}}]}}
    tool-input-start {"id":"call_l","name":"shell"}
    tool-call {"id":"call_l","name":"shell","input":"{\"action\":{\"commands\":[\"pwd\"],\"timeoutMs\":5,\"maxOutputLength\":50}}","metadata":{"openai":{"itemId":"sh_2","itemType":"shell_call"}}}
    provider-item {"provider":"openai","item":{"id":"sh_2","type":"shell_call","call_id":"call_l","status":"completed","action":{"commands":["pwd"],"timeout_ms":5,"max_output_length":50},"environment":{"type":"local"}}}
    tool-input-start {"id":"call_p","name":"apply_patch"}
    tool-call {"id":"call_p","name":"apply_patch","input":"{\"callId\":\"call_p\",\"operation\":{\"type\":\"update_file\",\"path\":\"a.txt\",\"diff\":\"@@\\n-a\\n+b\\n\"}}","metadata":{"openai":{"itemId":"ap_1","itemType":"apply_patch_call"}}}
    provider-item {"provider":"openai","item":{"id":"ap_1","type":"apply_patch_call","call_id":"call_p","status":"completed","operation":{"type":"update_file","path":"a.txt","diff":"@@\n-a\n+b\n"}}}
    tool-input-start {"id":"call_c","name":"computer"}
    tool-call {"id":"call_c","name":"computer","input":"{\"actions\":[{\"type\":\"click\",\"x\":1,\"y\":2}],\"pendingSafetyChecks\":[{\"id\":\"sc_1\",\"code\":\"x\",\"message\":\"y\"}],\"status\":\"completed\"}","metadata":{"openai":{"itemId":"cu_1","itemType":"computer_call"}}}
    provider-item {"provider":"openai","item":{"id":"cu_1","type":"computer_call","call_id":"call_c","status":"completed","actions":[{"type":"click","x":1,"y":2}],"pending_safety_checks":[{"id":"sc_1","code":"x","message":"y"}]}}
    provider-item {"provider":"openai","item":{"id":"mcpl_1","type":"mcp_list_tools","server_label":"s","tools":[{"name":"add","input_schema":{"type":"object"}}],"error":null},"shownAs":"mcp_list_tools"}
    tool-call {"id":"mcp_2","name":"mcp.add","input":"{\"a\":1}","providerExecuted":true}
    tool-result {"id":"mcp_2","name":"mcp.add","output":{"type":"call","serverLabel":"s","name":"add","arguments":"{\"a\":1}","error":{"type":"http_error","code":500,"message":"down"}}}
    provider-item {"provider":"openai","item":{"id":"mcp_2","type":"mcp_call","name":"add","server_label":"s","arguments":{"a":1},"output":null,"error":{"type":"http_error","code":500,"message":"down"}}}
    tool-input-start {"id":"call_g","name":"programmatic_tool_calling","providerExecuted":true}
    tool-call {"id":"call_g","name":"programmatic_tool_calling","input":"{\"code\":\"await f()\",\"fingerprint\":\"fp\"}","providerExecuted":true,"metadata":{"openai":{"itemId":"prog_1"}}}
    provider-item {"provider":"openai","item":{"id":"prog_1","type":"program","call_id":"call_g","code":"await f()","fingerprint":"fp"}}
    tool-input-start {"id":"call_f","name":"weather"}
    tool-input-delta {"id":"call_f","delta":"{\"city\":"}
    tool-input-delta {"id":"call_f","delta":"\"Rome\"}"}
    tool-call {"id":"call_f","name":"weather","input":"{\"city\":\"Rome\"}","metadata":{"openai":{"itemId":"fc_1","caller":{"type":"program","caller_id":"call_g"}}}}
    tool-result {"id":"call_g","name":"programmatic_tool_calling","output":{"result":"ok","status":"completed"}}
    provider-item {"provider":"openai","item":{"id":"progo_1","type":"program_output","call_id":"call_g","result":"ok","status":"completed"}}
    provider-item {"provider":"openai","item":{"id":"cmp_1","type":"compaction","encrypted_content":"Y29tcGFjdA=="},"shownAs":"compaction"}
    tool-input-start {"id":"ig_1","name":"image_generation","providerExecuted":true}
    tool-call {"id":"ig_1","name":"image_generation","input":"{}","providerExecuted":true,"metadata":{"openai":{"itemId":"ig_1"}}}
    tool-result {"id":"ig_1","name":"image_generation","output":{"result":"aGk="}}
    provider-item {"provider":"openai","item":{"id":"ig_1","type":"image_generation_call","status":"completed","result":"aGk=","output_format":"png"}}
    text-start {"id":"msg_1"}
    text-delta {"id":"msg_1","delta":"Done. "}
    text-delta {"id":"msg_1","delta":"🌍"}
    text-end {"id":"msg_1","metadata":{"openai":{"itemId":"msg_1","phase":"final_answer"}}}
    finish {"reason":"tool-calls","usage":{"inputTokens":3,"outputTokens":4,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "#);
}

/// The next request contains each item as received, and results of the matching types.
#[test]
fn items_of_every_type_are_sent_back() {
    let history = history_after(ResponsesCodec::default(), &sse_events(ITEMS, ""));
    let body = body("gpt-5", &Request { tools: vec![tool()], provider_search: true, ..request(history) });
    let sent = body["input"].as_array().unwrap();
    let completed: serde_json::Value = serde_json::from_str(ITEMS.lines().last().unwrap()).unwrap();
    for item in completed["response"]["output"].as_array().unwrap() {
        let kind = item["type"].as_str().unwrap();
        // A screenshot without an image is sent back as a function call; the other types are
        // converted.
        if !["message", "reasoning", "function_call", "computer_call"].contains(&kind) {
            assert!(sent.contains(item), "{kind}");
        }
    }
    let came = completed["response"]["output"].as_array().unwrap();
    let rest: Vec<_> = sent.iter().filter(|item| !came.contains(item)).map(ToString::to_string).collect();
    insta::assert_snapshot!(rest.join("\n"), @r##"
    {"role":"user","content":[{"type":"input_text","text":"hi"}]}
    {"type":"function_call","call_id":"call_c","name":"computer","arguments":"{\"actions\":[{\"type\":\"click\",\"x\":1,\"y\":2}],\"pendingSafetyChecks\":[{\"id\":\"sc_1\",\"code\":\"x\",\"message\":\"y\"}],\"status\":\"completed\"}"}
    {"type":"function_call","call_id":"call_f","name":"weather","arguments":"{\"city\":\"Rome\"}","caller":{"type":"program","caller_id":"call_g"}}
    {"role":"assistant","content":[{"type":"output_text","text":"Done. 🌍"}],"phase":"final_answer"}
    {"type":"tool_search_output","execution":"client","status":"completed","tools":[],"call_id":"call_s"}
    {"type":"shell_call_output","output":[{"stdout":"ok","stderr":"","outcome":{"type":"exit","exit_code":0}}],"call_id":"call_l","max_output_length":50}
    {"type":"apply_patch_call_output","status":"completed","output":"ok","call_id":"call_p"}
    {"type":"function_call_output","call_id":"call_c","output":"ok"}
    {"type":"function_call_output","call_id":"call_f","output":"ok","caller":{"type":"program","caller_id":"call_g"}}
    "##);
}

/// Data that a careless server omits in one event is taken from another.
#[test]
fn missing_events_are_tolerated() {
    let check = |lines: &[&str], expected: &str| {
        let shown = decoded_lines(ResponsesCodec::default(), &sse_events(&lines.join("\n"), ""));
        let seen: Vec<_> = shown.lines().map(|line| line.split(" {").next().unwrap()).collect();
        assert_eq!(seen.join(" "), expected, "{shown}");
    };
    let text = r#"{"id":"m","type":"message","content":[{"type":"output_text","text":"Hi"}]}"#;
    let call = r#"{"id":"f","type":"function_call","call_id":"c","name":"weather","arguments":"{}"}"#;
    let done = |item: &str| format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#);
    let added = |item: &str| format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{item}}}"#);
    let end = |item: &str| format!(r#"{{"type":"response.completed","response":{{"output":[{item}]}}}}"#);
    let delta = r#"{"type":"response.output_text.delta","output_index":0,"item_id":"m","delta":"Hi"}"#;
    check(&[&done(text), &end(text)], "text-start text-delta text-end finish");
    check(&[&end(text)], "text-start text-delta text-end finish");
    check(&[&added(text), &end("")], "text-start text-end finish");
    check(&[delta, &end(text)], "text-start text-delta text-end finish");
    check(&[delta, &done(text), &done(text), &end(text)], "text-start text-delta text-end finish");
    check(&[&added(call), &end(call)], "tool-input-start tool-call finish");
    check(&[&done(call), &end(call)], "tool-input-start tool-call finish");
    check(&[&added(call), &done(call), &end("")], "tool-input-start tool-call finish");
    check(
        &[&added(call), &end("")],
        "tool-input-start error: the provider's stream is broken: the response was completed without the `response.output_item.done` of a tool call",
    );
    let cut = r#"{"type":"response.incomplete","response":{"output":[],"incomplete_details":{"reason":"max_output_tokens"}}}"#;
    check(&[&added(call), cut], "tool-input-start finish");
}

proptest! {
    #[test]
    fn chunk_boundaries_do_not_matter(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let stream = sse_events(THINKING_AND_TOOL, "");
        let (whole, _) = decode(ResponsesCodec::default(), &[stream.as_bytes()]);
        let (parts, ended) = decode(ResponsesCodec::default(), &split(stream.as_bytes(), &cuts));
        prop_assert!(ended.is_ok());
        prop_assert_eq!(parts, whole);
    }
}

#[test]
fn server_tools_are_decoded() {
    let stream = sse_events(include_str!("../../fixtures/openai_responses/server_tools.jsonl"), "");
    insta::assert_snapshot!(decoded_lines(ResponsesCodec::default(), &stream), @r#"
    tool-input-start {"id":"ws_1","name":"web_search","providerExecuted":true}
    tool-call {"id":"ws_1","name":"web_search","input":"{}","providerExecuted":true,"metadata":{"openai":{"itemId":"ws_1"}}}
    tool-result {"id":"ws_1","name":"web_search","output":{"action":{"type":"search","query":"rust"},"sources":[{"type":"url","url":"https://example.org/a"}]}}
    source {"kind":"url","id":"source-1","url":"https://example.org/a"}
    provider-item {"provider":"openai","item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"rust","sources":[{"type":"url","url":"https://example.org/a"}]}}}
    tool-input-start {"id":"fs_1","name":"file_search","providerExecuted":true}
    tool-call {"id":"fs_1","name":"file_search","input":"{}","providerExecuted":true,"metadata":{"openai":{"itemId":"fs_1"}}}
    tool-result {"id":"fs_1","name":"file_search","output":{"queries":["q"],"results":[{"attributes":{},"fileId":"f1","filename":"a.pdf","score":0.5,"text":"x"},{"attributes":{},"fileId":"f1","filename":"a.pdf","score":0.4,"text":"y"}]}}
    source {"kind":"document","id":"source-2","mediaType":"text/plain","title":"a.pdf","filename":"a.pdf","metadata":{"openai":{"type":"file_search","fileId":"f1"}}}
    provider-item {"provider":"openai","item":{"id":"fs_1","type":"file_search_call","status":"completed","queries":["q"],"results":[{"attributes":{},"file_id":"f1","filename":"a.pdf","score":0.5,"text":"x"},{"attributes":{},"file_id":"f1","filename":"a.pdf","score":0.4,"text":"y"}]}}
    tool-input-start {"id":"ci_1","name":"code_interpreter","providerExecuted":true}
    tool-call {"id":"ci_1","name":"code_interpreter","input":"{\"containerId\":\"c1\",\"code\":\"print(1)\"}","providerExecuted":true,"metadata":{"openai":{"itemId":"ci_1"}}}
    tool-result {"id":"ci_1","name":"code_interpreter","output":{"outputs":[{"type":"logs","logs":"1"}]}}
    provider-item {"provider":"openai","item":{"id":"ci_1","type":"code_interpreter_call","container_id":"c1","code":"print(1)","outputs":[{"type":"logs","logs":"1"}]}}
    tool-input-start {"id":"ig_1","name":"image_generation","providerExecuted":true}
    tool-call {"id":"ig_1","name":"image_generation","input":"{}","providerExecuted":true,"metadata":{"openai":{"itemId":"ig_1"}}}
    tool-result {"id":"ig_1","name":"image_generation","output":{"result":"aGk="}}
    provider-item {"provider":"openai","item":{"id":"ig_1","type":"image_generation_call","result":"aGk="}}
    tool-call {"id":"mcp_1","name":"mcp.add","input":"{\"a\":1}","providerExecuted":true}
    tool-result {"id":"mcp_1","name":"mcp.add","output":{"type":"call","serverLabel":"s","name":"add","arguments":"{\"a\":1}","output":"2"}}
    provider-item {"provider":"openai","item":{"id":"mcp_1","type":"mcp_call","name":"add","server_label":"s","arguments":"{\"a\":1}","output":"2"}}
    tool-input-start {"id":"call_1","name":"local_shell"}
    tool-call {"id":"call_1","name":"local_shell","input":"{\"action\":{\"type\":\"exec\",\"command\":[\"ls\"],\"timeoutMs\":5}}","metadata":{"openai":{"itemId":"lsh_1","itemType":"local_shell_call"}}}
    provider-item {"provider":"openai","item":{"id":"lsh_1","type":"local_shell_call","call_id":"call_1","action":{"type":"exec","command":["ls"],"timeout_ms":5}}}
    tool-input-start {"id":"call_2","name":"write_sql"}
    tool-call {"id":"call_2","name":"write_sql","input":"{\"input\":\"SELECT 1\"}","metadata":{"openai":{"itemId":"ctc_1","itemType":"custom_tool_call"}}}
    provider-item {"provider":"openai","item":{"id":"ctc_1","type":"custom_tool_call","call_id":"call_2","name":"write_sql","input":"SELECT 1"}}
    provider-item {"provider":"openai","item":{"id":"x_1","type":"later_kind","a":1},"shownAs":"later_kind"}
    reasoning-start {"id":"rs_1:0","metadata":{"openai":{"itemId":"rs_1"}}}
    reasoning-delta {"id":"rs_1:0","delta":"Hm."}
    reasoning-end {"id":"rs_1:0","metadata":{"openai":{"itemId":"rs_1"}}}
    text-start {"id":"msg_1"}
    text-delta {"id":"msg_1","delta":"I cannot."}
    source {"kind":"document","id":"source-3","mediaType":"text/plain","title":"b.csv","filename":"b.csv","metadata":{"openai":{"type":"container_file_citation","fileId":"f2","containerId":"c1"}}}
    text-end {"id":"msg_1","metadata":{"openai":{"itemId":"msg_1","phase":"final_answer"}},"citations":[{"source":{"kind":"url","id":"https://example.org/a","url":"https://example.org/a","title":"A","metadata":null}},{"source":{"kind":"document","id":"f2","mediaType":"text/plain","title":"b.csv","filename":"b.csv","metadata":{"openai":{"type":"container_file_citation","fileId":"f2","containerId":"c1"}}}}]}
    finish {"reason":"content-filter","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "#);
}

/// OpenAI asks before it calls a remote tool; the decision is sent back after its request.
#[test]
fn decision_about_a_remote_tool_is_sent_back() {
    let item =
        r#"{"id":"mcpr_1","type":"mcp_approval_request","server_label":"s","name":"add","arguments":"{\"a\":1}"}"#;
    let lines = format!(
        "{{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{item}}}\n\
         {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}\n\
         {{\"type\":\"response.completed\",\"response\":{{}}}}"
    );
    insta::assert_snapshot!(decoded_lines(ResponsesCodec::default(), &sse_events(&lines, "")), @r##"
    tool-input-start {"id":"mcpr_1","name":"mcp.add"}
    tool-call {"id":"mcpr_1","name":"mcp.add","input":"{\"a\":1}","metadata":{"openai":{"itemId":"mcpr_1","itemType":"mcp_approval_request","approvalRequestId":"mcpr_1"}}}
    provider-item {"provider":"openai","item":{"id":"mcpr_1","type":"mcp_approval_request","server_label":"s","name":"add","arguments":"{\"a\":1}"}}
    finish {"reason":"stop","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}}
    "##);
    let check = |input: serde_json::Value, output: ToolOutput| {
        let metadata = json!({ "openai": { "itemId": "mcpr_1", "itemType": "mcp_approval_request", "approvalRequestId": "mcpr_1" } });
        let call = ToolCall {
            id: "call_1".to_owned(),
            name: "mcp.add".to_owned(),
            input,
            provider_executed: false,
            metadata: serde_json::from_value(metadata).unwrap(),
        };
        assert!(call.needs_provider_approval());
        let (call_id, name) = (call.id.clone(), call.name.clone());
        let item = serde_json::from_str(item).unwrap();
        let reply =
            vec![AssistantPart::ToolCall(call), AssistantPart::ProviderItem { provider: "openai".to_owned(), item }];
        let result = ToolResult { call_id, name, output, metadata: None };
        let body = body("gpt-5", &request(vec![Message::Assistant(reply), Message::Tool(vec![result])]));
        assert_eq!(body["input"][0]["type"], "mcp_approval_request");
        body["input"][1].to_string()
    };
    let yes = || ToolOutput::Text("yes".to_owned());
    let answers = [
        check(json!({ "a": 1 }), yes()),
        check(json!({ "a": 2 }), yes()),
        check(json!({ "a": 1 }), ToolOutput::Denied(Some("not now".to_owned()))),
    ];
    insta::assert_snapshot!(answers.join("\n"), @r##"
    {"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}
    {"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":false,"reason":"The user approves only these arguments: {\"a\":2}"}
    {"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":false,"reason":"not now"}
    "##);
}

/// Items are sent back to their provider as received: a text has its phase, and the summaries of a
/// reasoning item are one item. The result of a tool with text input is an item of that type.
#[test]
fn items_and_results_are_sent_back() {
    let own = |value| Some(Map::from_iter([("openai".to_owned(), value)]));
    let call = |id: &str, provider_executed, metadata| {
        let (id, name, input) = (id.to_owned(), "tool".to_owned(), json!({}));
        AssistantPart::ToolCall(ToolCall { id, name, input, provider_executed, metadata })
    };
    let result = |id: &str| ToolResult {
        call_id: id.to_owned(),
        name: "tool".to_owned(),
        output: ToolOutput::ErrorText("no".to_owned()),
        metadata: None,
    };
    let summary = |text: &str, encrypted: Option<&str>| AssistantPart::Reasoning {
        text: text.to_owned(),
        metadata: own(json!({ "itemId": "rs_1", "reasoningEncryptedContent": encrypted })),
    };
    let item = |provider: &str, item| AssistantPart::ProviderItem { provider: provider.to_owned(), item };
    let messages = vec![
        Message::Assistant(vec![
            summary("First.", None),
            summary("Then.", Some("e")),
            call("ws_1", true, None),
            item("openai", json!({ "type": "web_search_call", "id": "ws_1" })),
            item("anthropic", json!({ "type": "server_tool_use" })),
            AssistantPart::Text { text: "Hi.".to_owned(), metadata: own(json!({ "phase": "commentary" })) },
            call("call_1", false, own(json!({ "itemId": "lsh_1" }))),
            call("call_2", false, own(json!({ "itemId": "ctc_1", "itemType": "custom_tool_call" }))),
            item("openai", json!({ "type": "custom_tool_call", "call_id": "call_2", "input": "x" })),
        ]),
        Message::Tool(vec![result("call_1"), result("call_2")]),
    ];
    let body = body("gpt-5", &request(messages));
    let lines: Vec<_> = body["input"].as_array().unwrap().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r##"
    {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"First."},{"type":"summary_text","text":"Then."}],"encrypted_content":"e"}
    {"type":"web_search_call","id":"ws_1"}
    {"role":"assistant","content":[{"type":"output_text","text":"Hi."}],"phase":"commentary"}
    {"type":"function_call","call_id":"call_1","name":"tool","arguments":"{}"}
    {"type":"custom_tool_call","call_id":"call_2","input":"x"}
    {"type":"function_call_output","call_id":"call_1","output":"no"}
    {"type":"custom_tool_call_output","call_id":"call_2","output":"no"}
    "##);
}
