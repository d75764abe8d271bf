//! Tests how options in the AI SDK's spelling are sent to each API.

use crate::testing::{request, tool, user};
use crate::{anthropic, google, openai_chat, openai_responses};
use contract::{AssistantPart, Message, Request, ResponseFormat};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Returns the fields that these options add or change in a request, one per line.
fn changed_fields(body: fn(&str, &Request) -> Value, model: &str, provider: &str, options: Value) -> String {
    let mut request = request(vec![user("hi")]);
    request.tools.push(tool());
    let before = body(model, &request);
    request.provider_options.insert(provider.to_owned(), options);
    let after = body(model, &request);
    let news = after.as_object().unwrap().iter().filter(|(key, value)| before.get(key.as_str()) != Some(value));
    news.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn ai_sdk_options_are_translated_for_responses() {
    let options = json!({
        "reasoningEffort": "low",
        "reasoningSummary": "auto",
        "textVerbosity": "high",
        "parallelToolCalls": false,
        "promptCacheKey": "k",
        "promptCacheOptions": { "mode": "explicit" },
        "serviceTier": "flex",
        "maxToolCalls": 3,
        "safetyIdentifier": "u",
        "contextManagement": [{ "type": "compaction", "compactThreshold": 9 }],
        "logprobs": 5,
        "allowedTools": { "toolNames": ["weather"], "mode": "required" },
        "strictJsonSchema": true,
        "metadata": { "userId": "kept" },
        "truncation": "auto",
    });
    assert_snapshot!(changed_fields(openai_responses::request::body, "gpt-5", "openai", options), @r##"
    include ["reasoning.encrypted_content","message.output_text.logprobs"]
    tool_choice {"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"weather"}]}
    reasoning {"effort":"low","summary":"auto"}
    text {"verbosity":"high"}
    parallel_tool_calls false
    prompt_cache_key "k"
    prompt_cache_options {"mode":"explicit"}
    service_tier "flex"
    max_tool_calls 3
    safety_identifier "u"
    context_management [{"compact_threshold":9,"type":"compaction"}]
    metadata {"userId":"kept"}
    truncation "auto"
    top_logprobs 5
    "##);
    let raw = json!({ "reasoning": { "effort": "high" }, "reasoningEffort": "low", "parallel_tool_calls": true });
    assert_snapshot!(changed_fields(openai_responses::request::body, "gpt-5", "openai", raw), @r##"
    reasoning {"effort":"high"}
    parallel_tool_calls true
    "##);
}

#[test]
fn ai_sdk_options_are_translated_for_chat_completions() {
    let options = json!({
        "reasoningEffort": "low",
        "textVerbosity": "high",
        "parallelToolCalls": false,
        "maxCompletionTokens": 7,
        "logitBias": { "5": -1 },
        "logprobs": 2,
        "serviceTier": "flex",
        "promptCacheKey": "k",
        "strictJsonSchema": true,
        "top_k": 4,
        "chat_template_kwargs": { "enableThinking": false },
    });
    assert_snapshot!(changed_fields(openai_chat::request::body, "gpt-5", "openai", options), @r##"
    reasoning_effort "low"
    verbosity "high"
    parallel_tool_calls false
    max_completion_tokens 7
    logit_bias {"5":-1}
    service_tier "flex"
    prompt_cache_key "k"
    logprobs true
    top_k 4
    chat_template_kwargs {"enableThinking":false}
    top_logprobs 2
    "##);
}

#[test]
fn ai_sdk_options_are_translated_for_anthropic() {
    let options = json!({
        "thinking": { "type": "enabled", "budgetTokens": 2000 },
        "effort": "low",
        "disableParallelToolUse": true,
        "cacheControl": { "type": "ephemeral", "ttl": "1h" },
        "metadata": { "userId": "u" },
        "mcpServers": [{ "type": "url", "name": "s", "url": "https://s.example", "authorizationToken": "t", "toolConfiguration": { "allowedTools": ["aB"] } }],
        "container": { "skills": [{ "type": "anthropic", "skillId": "pdf" }] },
        "contextManagement": { "edits": [{ "type": "clear_tool_uses_20250919", "clearAtLeast": { "type": "input_tokens", "value": 5 }, "excludeTools": ["t"] }] },
        "toolStreaming": false,
        "inferenceGeo": "us",
    });
    assert_snapshot!(changed_fields(anthropic::request::body, "claude-sonnet-4-5", "anthropic", options), @r##"
    messages [{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]
    tools [{"name":"weather","description":"The weather.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}]
    tool_choice {"type":"auto","disable_parallel_tool_use":true}
    output_config {"effort":"low"}
    mcp_servers [{"authorization_token":"t","tool_configuration":{"allowed_tools":["aB"]},"type":"url","name":"s","url":"https://s.example"}]
    context_management {"edits":[{"clear_at_least":{"type":"input_tokens","value":5},"exclude_tools":["t"],"type":"clear_tool_uses_20250919"}]}
    inference_geo "us"
    thinking {"budget_tokens":2000,"type":"enabled"}
    metadata {"user_id":"u"}
    container {"skills":[{"skill_id":"pdf","type":"anthropic"}]}
    "##);
}

/// All strategies for context editing, with all their options.
#[test]
fn context_management_is_translated_for_anthropic() {
    let edits = json!([
        { "type": "clear_thinking_20251015", "keep": { "type": "thinking_turns", "value": 2 } },
        {
            "type": "clear_tool_uses_20250919",
            "trigger": { "type": "input_tokens", "value": 30000 },
            "keep": { "type": "tool_uses", "value": 3 },
            "clearAtLeast": { "type": "input_tokens", "value": 5000 },
            "clearToolInputs": true,
            "excludeTools": ["webSearch"],
        },
        {
            "type": "compact_20260112",
            "trigger": { "type": "input_tokens", "value": 150000 },
            "pauseAfterCompaction": true,
            "instructions": "Keep names.",
        },
    ]);
    let options = json!({ "contextManagement": { "edits": edits } });
    assert_snapshot!(changed_fields(anthropic::request::body, "claude-sonnet-4-5", "anthropic", options), @r##"
    context_management {"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}},{"clear_at_least":{"type":"input_tokens","value":5000},"clear_tool_inputs":true,"exclude_tools":["webSearch"],"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":30000},"keep":{"type":"tool_uses","value":3}},{"pause_after_compaction":true,"type":"compact_20260112","trigger":{"type":"input_tokens","value":150000},"instructions":"Keep names."}]}
    "##);
    let all = json!({ "context_management": { "edits": [{ "type": "clear_thinking_20251015", "keep": "all" }] } });
    assert_snapshot!(changed_fields(anthropic::request::body, "claude-sonnet-4-5", "anthropic", all), @r##"
    context_management {"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}
    "##);
}

#[test]
fn options_can_omit_reasoning_and_structured_output() {
    let signed = json!({ "anthropic": { "signature": "s" } });
    let thought =
        AssistantPart::Reasoning { text: "Hm.".to_owned(), metadata: serde_json::from_value(signed).unwrap() };
    let mut request = request(vec![user("a"), Message::Assistant(vec![thought, crate::testing::text("b")]), user("c")]);
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    request.response_format = Some(ResponseFormat { name: "n".to_owned(), strict: true, schema });
    let check = |request: &Request, thoughts: bool, format: bool| {
        let body = anthropic::request::body("claude-sonnet-4-5", request);
        assert_eq!(body["messages"][1]["content"][0]["type"] == "thinking", thoughts);
        assert_eq!(body["output_config"]["format"].is_object(), format);
        assert!(body.get("sendReasoning").is_none() && body.get("structuredOutputMode").is_none());
    };
    check(&request, true, true);
    let options = json!({ "sendReasoning": false, "structuredOutputMode": "jsonTool" });
    request.provider_options.insert("anthropic".to_owned(), options);
    check(&request, false, false);
}

#[test]
fn ai_sdk_options_are_translated_for_google() {
    let options = json!({
        "thinkingConfig": { "thinkingBudget": -1, "includeThoughts": true },
        "generationConfig": { "thinkingConfig": { "thinkingBudget": 5 } },
        "responseModalities": ["TEXT"],
        "imageConfig": { "aspectRatio": "1:1" },
        "retrievalConfig": { "latLng": { "latitude": 1, "longitude": 2 } },
        "streamFunctionCallArguments": true,
        "threshold": "BLOCK_NONE",
        "cachedContent": "c",
        "labels": { "a": "b" },
    });
    assert_snapshot!(changed_fields(google::request::body, "gemini-2.5-flash", "google", options), @r##"
    toolConfig {"functionCallingConfig":{"mode":"AUTO","streamFunctionCallArguments":true},"retrievalConfig":{"latLng":{"latitude":1,"longitude":2}}}
    generationConfig {"thinkingConfig":{"thinkingBudget":5,"includeThoughts":true},"responseModalities":["TEXT"],"imageConfig":{"aspectRatio":"1:1"}}
    cachedContent "c"
    labels {"a":"b"}
    safetySettings [{"category":"HARM_CATEGORY_HATE_SPEECH","threshold":"BLOCK_NONE"},{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","threshold":"BLOCK_NONE"},{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"},{"category":"HARM_CATEGORY_SEXUALLY_EXPLICIT","threshold":"BLOCK_NONE"},{"category":"HARM_CATEGORY_CIVIC_INTEGRITY","threshold":"BLOCK_NONE"}]
    "##);
}
