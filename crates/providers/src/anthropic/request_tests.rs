use super::request::body;
use super::stream::MessagesCodec;
use crate::testing::{call, file, history_after, reasoning, request, result, sse_events, text, tool, user};
use contract::{AssistantPart, FileData, Message, Request, Sampling, ToolChoice, ToolOutput, ToolSpec, UserPart};
use serde_json::{Value, json};

/// Returns the messages of a body, one per line.
fn messages(messages: Vec<Message>) -> String {
    let body = body("claude-sonnet-4-20250514", &request(messages));
    body["messages"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn complete_request_is_converted() {
    let request = Request {
        system: Some("Be kind.".to_owned()),
        tools: vec![tool()],
        tool_choice: ToolChoice::Tool("weather".to_owned()),
        sampling: Sampling {
            temperature: Some(0.5),
            top_p: Some(0.9),
            top_k: Some(3),
            seed: Some(1),
            stop_sequences: vec!["END".to_owned()],
            ..Sampling::default()
        },
        provider_options: serde_json::from_value(json!({
            "anthropic": { "thinking": { "type": "enabled", "budget_tokens": 1024 }, "top_k": 5 },
            "openai": { "not": "for this one" },
        }))
        .unwrap(),
        ..request(vec![Message::System("Be brief.".to_owned()), user("Hi")])
    };
    insta::assert_snapshot!(format!("{:#}", body("claude-sonnet-4-20250514", &request)), @r##"
    {
      "model": "claude-sonnet-4-20250514",
      "max_tokens": 64000,
      "stream": true,
      "system": [
        {
          "type": "text",
          "text": "Be kind."
        },
        {
          "type": "text",
          "text": "Be brief."
        }
      ],
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "Hi"
            }
          ]
        }
      ],
      "stop_sequences": [
        "END"
      ],
      "tools": [
        {
          "name": "weather",
          "description": "The weather.",
          "input_schema": {
            "type": "object"
          },
          "eager_input_streaming": true
        }
      ],
      "tool_choice": {
        "type": "auto"
      },
      "thinking": {
        "type": "enabled",
        "budget_tokens": 1024
      },
      "top_k": 5
    }
    "##);
}

#[test]
fn output_limit_depends_on_the_model() {
    let check = |model: &str, expected: u64| {
        assert_eq!(body(model, &request(vec![user("Hi")]))["max_tokens"], expected, "{model}");
        let sampling = Sampling { max_output_tokens: Some(7), ..Sampling::default() };
        assert_eq!(body(model, &Request { sampling, ..request(vec![user("Hi")]) })["max_tokens"], 7);
    };
    check("claude-sonnet-4-5-20250929", 64_000);
    check("claude-opus-4-1-20250805", 32_000);
    check("claude-3-5-haiku-latest", 8_192);
    check("claude-3-haiku-20240307", 4_096);
    check("a-model-of-a-gateway", 4_096);
}

#[test]
fn history_with_tools_is_converted() {
    insta::assert_snapshot!(messages(vec![
        user("The weather?"),
        Message::Assistant(vec![
            reasoning("Two calls.", "anthropic", json!({ "signature": "sig==" })),
            reasoning("", "anthropic", json!({ "redactedData": "data" })),
            reasoning("cut off, so not signed", "anthropic", json!({})),
            reasoning("another provider's", "openai", json!({ "reasoningField": "reasoning_content" })),
            AssistantPart::ProviderItem { provider: "anthropic".to_owned(), item: json!({ "type": "compaction" }) },
            AssistantPart::ProviderItem { provider: "openai".to_owned(), item: json!({ "type": "other" }) },
            text(""),
            text(" \n"),
            text("I look. "),
            call("toolu_1", json!({ "city": "Paris" })),
            call("functions.weather:0", json!("no object")),
        ]),
        Message::Tool(vec![
            result("toolu_1", ToolOutput::Json(json!({ "sun": true }))),
            result("functions.weather:0", ToolOutput::ErrorText("bad input".to_owned())),
        ]),
        user("And now?"),
        Message::Assistant(vec![call("a", json!({})), call("b", json!({}))]),
        Message::Tool(vec![result("a", ToolOutput::Denied(None)), result("b", ToolOutput::Text("rain".to_owned()))]),
    ]), @r##"
    {"role":"user","content":[{"type":"text","text":"The weather?"}]}
    {"role":"assistant","content":[{"type":"thinking","thinking":"Two calls.","signature":"sig=="},{"type":"redacted_thinking","data":"data"},{"type":"compaction"},{"type":"text","text":"I look. "},{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Paris"}},{"type":"tool_use","id":"functions_weather_0","name":"weather","input":{}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"{\"sun\":true}"},{"type":"tool_result","tool_use_id":"functions_weather_0","content":"bad input","is_error":true},{"type":"text","text":"And now?"}]}
    {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"weather","input":{}},{"type":"tool_use","id":"b","name":"weather","input":{}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"Tool call execution denied.","is_error":true},{"type":"tool_result","tool_use_id":"b","content":"rain"}]}
    "##);
}

/// Roles alternate, the user begins, no text is blank, and a reply to be continued does not end
/// with white space.
#[test]
fn turns_alternate_and_begin_with_the_user() {
    insta::assert_snapshot!(messages(vec![Message::Assistant(vec![text("Welcome.")]), user("Hi"), user("again")]), @r##"
    {"role":"user","content":[{"type":"text","text":"(no text)"}]}
    {"role":"assistant","content":[{"type":"text","text":"Welcome."}]}
    {"role":"user","content":[{"type":"text","text":"Hi"},{"type":"text","text":"again"}]}
    "##);
    insta::assert_snapshot!(messages(vec![user("Hi"), user("  "), Message::Assistant(vec![text(" ")]), Message::Assistant(vec![text("So \n")])]), @r##"
    {"role":"user","content":[{"type":"text","text":"Hi"}]}
    {"role":"assistant","content":[{"type":"text","text":"So"}]}
    "##);
    insta::assert_snapshot!(messages(vec![user(""), Message::System("x".to_owned())]), @r##"{"role":"user","content":[{"type":"text","text":"(no text)"}]}"##);
}

#[test]
fn files_become_blocks_or_notes() {
    let base64 = || FileData::Base64("SGk=".to_owned());
    let url = || FileData::Url("https://example.com/a".to_owned());
    insta::assert_snapshot!(messages(vec![Message::User(vec![
        file("image/png", base64(), None),
        file("image/*", url(), None),
        file("application/pdf", base64(), Some("a.pdf")),
        file("application/pdf", url(), None),
        file("text/csv; charset=utf-8", base64(), Some("a.csv")),
        file("text/plain", FileData::Base64("not base64!".to_owned()), None),
        file("audio/wav", base64(), Some("a.wav")),
        UserPart::Text { text: "What is this?".to_owned() },
    ])]).replace("},{", "},\n{"), @r##"
    {"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"SGk="}},
    {"type":"image","source":{"type":"url","url":"https://example.com/a"}},
    {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"SGk="},"title":"a.pdf"},
    {"type":"document","source":{"type":"url","url":"https://example.com/a"}},
    {"type":"document","source":{"type":"text","media_type":"text/plain","data":"Hi"},"title":"a.csv"},
    {"type":"text","text":"(The user sent a file without a name of type text/plain, which cannot be read here.)"},
    {"type":"text","text":"(The user sent a file a.wav of type audio/wav, which cannot be read here.)"},
    {"type":"text","text":"What is this?"}]}
    "##);
}

#[test]
fn citations_are_sent_back_with_their_text() {
    let metadata =
        serde_json::from_value(json!({ "anthropic": { "citations": [{ "type": "page_location" }] } })).unwrap();
    let cited = AssistantPart::Text { text: "So.".to_owned(), metadata: Some(metadata) };
    insta::assert_snapshot!(messages(vec![user("Hi"), Message::Assistant(vec![cited])]), @r##"
    {"role":"user","content":[{"type":"text","text":"Hi"}]}
    {"role":"assistant","content":[{"type":"text","text":"So.","citations":[{"type":"page_location"}]}]}
    "##);
}

/// The provider's own tools follow the agent's. The last tool, the instructions and the newest
/// message get `cache_control`.
#[test]
fn provider_tools_and_cache_control_are_sent() {
    let mut request = request(vec![user("Weather?")]);
    request.system = Some("Be brief.".to_owned());
    request.tools = vec![tool()];
    let options = json!({ "tools": [{ "type": "web_search_20250305", "name": "web_search" }], "cacheControl": { "type": "ephemeral" } });
    request.provider_options.insert("anthropic".to_owned(), options);
    let body = body("claude-sonnet-4-20250514", &request);
    insta::assert_snapshot!(json!([body["system"], body["messages"], body["tools"], body["cacheControl"]]), @r##"[[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],[{"role":"user","content":[{"type":"text","text":"Weather?","cache_control":{"type":"ephemeral"}}]}],[{"name":"weather","description":"The weather.","input_schema":{"type":"object"},"eager_input_streaming":true},{"type":"web_search_20250305","name":"web_search","cache_control":{"type":"ephemeral"}}],null]"##);
}

/// The API's search stands first, and what it finds last, in a fixed order.
#[test]
fn deferrable_tools_are_found_by_the_search_of_the_api() {
    let spec = |name: &str, deferrable: bool| ToolSpec {
        deferrable,
        ..ToolSpec::new(name, "Does it.", json!({ "type": "object" }))
    };
    let cached = json!({ "anthropic": { "cacheControl": { "type": "ephemeral" } } });
    let request = Request {
        tools: vec![spec("mail_send", true), spec("own", false), spec("crm_find", true)],
        provider_search: true,
        provider_options: serde_json::from_value(cached).unwrap(),
        ..request(vec![user("Hi")])
    };
    let lines = |request: &Request| {
        let body = body("claude-sonnet-4-5", request);
        body["tools"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(lines(&request), @r##"
    {"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}
    {"name":"own","description":"Does it.","input_schema":{"type":"object"},"eager_input_streaming":true,"cache_control":{"type":"ephemeral"}}
    {"name":"crm_find","description":"Does it.","input_schema":{"type":"object"},"defer_loading":true}
    {"name":"mail_send","description":"Does it.","input_schema":{"type":"object"},"defer_loading":true}
    "##);
    let listed = lines(&Request { provider_search: false, ..request });
    assert!(!listed.contains("tool_search") && !listed.contains("defer_loading"), "{listed}");
}

#[test]
fn searches_of_the_api_are_sent_back_unchanged() {
    let stream = sse_events(include_str!("../../fixtures/anthropic/server_tools.jsonl"), "");
    let request = Request {
        tools: vec![ToolSpec { deferrable: true, ..tool() }],
        provider_search: true,
        ..request(history_after(MessagesCodec::default(), &stream))
    };
    let body = body("claude-sonnet-4-5", &request);
    let blocks = body["messages"][1]["content"].as_array().unwrap();
    let found = json!({ "type": "tool_search_tool_search_result", "tool_references": [{ "type": "tool_reference", "tool_name": "weather" }] });
    for expected in [
        json!({ "type": "server_tool_use", "id": "srv_3", "name": "tool_search_tool_bm25", "input": {} }),
        json!({ "type": "tool_search_tool_result", "tool_use_id": "srv_3", "content": found }),
    ] {
        assert!(blocks.contains(&expected), "{expected} {blocks:?}");
    }
}
