use super::request::body;
use super::stream::Reader;
use crate::testing::{cut, events, read, request, shown};
use contract::{AssistantPart, Message, ModelErrorKind, Part, ToolCall, ToolOutput, ToolResult, UserPart};
use proptest::prelude::*;
use serde_json::{Map, json};

const THINKING_AND_TOOL: &str = include_str!("../../fixtures/openai_responses/thinking_and_tool.jsonl");

#[test]
fn thinking_and_tool() {
    insta::assert_snapshot!(shown(Reader::default(), &events(THINKING_AND_TOOL, "")), @r##"
    reasoning-start {"id":"rs_1:0","metadata":{"openai":{"itemId":"rs_1"}}}
    reasoning-delta {"id":"rs_1:0","delta":"First."}
    reasoning-end {"id":"rs_1:0"}
    reasoning-start {"id":"rs_1:1","metadata":{"openai":{"itemId":"rs_1"}}}
    reasoning-delta {"id":"rs_1:1","delta":"Then."}
    reasoning-end {"id":"rs_1:1","metadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"c2VjcmV0"}}}
    text-start {"id":"msg_1"}
    text-delta {"id":"msg_1","delta":"I look. 🌍"}
    text-end {"id":"msg_1","metadata":{"openai":{"itemId":"msg_1"}}}
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
fn ends_that_are_none() {
    let check = |last: &str, kind: ModelErrorKind| {
        let lines: Vec<_> = THINKING_AND_TOOL.lines().take(16).chain((!last.is_empty()).then_some(last)).collect();
        let stream = events(&lines.join("\n"), "");
        let (parts, ended) = read(Reader::default(), &[stream.as_bytes()]);
        assert_eq!(ended.unwrap_err().kind, kind, "{last}");
        // The call's arguments were cut off: nothing may come of it.
        assert!(!parts.iter().any(|part| matches!(part, Part::ToolCall { .. } | Part::Finish { .. })));
    };
    check("", ModelErrorKind::BrokenStream);
    check("{nonsense", ModelErrorKind::BrokenStream);
    check(r#"{"type":"error","code":"server_error","message":"oops"}"#, ModelErrorKind::Unavailable);
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
fn a_conversation_as_it_is_sent() {
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

proptest! {
    #[test]
    fn cuts_do_not_matter(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let stream = events(THINKING_AND_TOOL, "");
        let (whole, _) = read(Reader::default(), &[stream.as_bytes()]);
        let (parts, ended) = read(Reader::default(), &cut(stream.as_bytes(), &cuts));
        prop_assert!(ended.is_ok());
        prop_assert_eq!(parts, whole);
    }
}
