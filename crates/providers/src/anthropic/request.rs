//! Converts a request to JSON for the Messages API.

use super::PROVIDER;
use super::model_features::{self, ModelFeatures};
use super::{betas, cache, called_tools, container, file, structured, tool_search};
use crate::lenient::sanitize_identifier;
use crate::options::{self, OptionMapping};
use contract::{
    AssistantPart, Message, ProviderMetadata, Request, Sampling, ToolChoice, ToolOutput, ToolResult, ToolSpec, UserPart,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The output limit for unknown models if the config has none.
const DEFAULT_MAX_TOKENS: u32 = 4_096;

/// The mapping of the AI SDK's options.
const OPTION_MAPPING: OptionMapping = OptionMapping {
    paths: &[
        ("effort", &["output_config", "effort"]),
        ("taskBudget", &["output_config", "task_budget"]),
        ("mcpServers", &["mcp_servers"]),
        ("contextManagement", &["context_management"]),
        ("inferenceGeo", &["inference_geo"]),
        ("serviceTier", &["service_tier"]),
    ],
    snake_case_values: &["thinking", "metadata", "mcpServers", "container", "contextManagement"],
};

/// Returns the body of `POST /messages`.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut options = match request.provider_options.get(PROVIDER) {
        Some(Value::Object(options)) => OPTION_MAPPING.translate(options),
        _ => Map::new(),
    };
    // Options that only the AI SDK has: the API has no fields for all tools at once, nor for the
    // behavior of this codec.
    let control = options.shift_remove("cacheControl");
    options.shift_remove(betas::BETA_OPTION);
    let sends_reasoning = options.shift_remove("sendReasoning") != Some(Value::Bool(false));
    let takes_format = options.shift_remove("structuredOutputMode").is_none_or(|mode| mode != "jsonTool");
    let is_serial = options.shift_remove("disableParallelToolUse") == Some(Value::Bool(true));
    let eager = options.shift_remove("toolStreaming") != Some(Value::Bool(false));
    let abilities = model_features::for_model(model);
    let thinking = thinking_type(&options);
    let mut body = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(key.to_owned(), value);
        }
    };
    set("model", Some(model.into()));
    set("max_tokens", Some(max_tokens(request.sampling.max_output_tokens, abilities, &options).into()));
    set("stream", Some(true.into()));
    set("system", system(request));
    set("messages", Some(messages(&request.messages, sends_reasoning).into()));
    let stop = &request.sampling.stop_sequences;
    set("stop_sequences", (!stop.is_empty()).then(|| json!(stop)));
    if abilities.accepts_sampling && thinking.is_none() {
        let Sampling { temperature, top_p, top_k, .. } = request.sampling;
        set("temperature", temperature.map(Into::into));
        // Claude accepts only one of the two.
        set(
            "top_p",
            top_p.filter(|_| abilities.accepts_temperature_and_top_p || temperature.is_none()).map(Into::into),
        );
        set("top_k", top_k.map(Into::into));
    }
    if !request.tools.is_empty() {
        let is_forced = abilities.can_force_tool_call && thinking != Some("enabled");
        let (tools, mut choice) = tools(request, is_forced, eager);
        if is_serial && choice["type"] != "none" {
            choice["disable_parallel_tool_use"] = true.into();
        }
        set("tools", Some(tools));
        set("tool_choice", Some(choice));
    }
    options::merge(&mut body, &options);
    if let Some(format) = request
        .response_format
        .as_ref()
        .filter(|_| abilities.has_structured_output && takes_format)
        .and_then(structured::output_format)
        && let Value::Object(output) = body.entry("output_config").or_insert_with(|| json!({}))
    {
        output.insert("format".to_owned(), format);
    }
    container::reuse_container(&mut body, &request.messages, jiff::Timestamp::now());
    tool_search::remove_unknown(&mut body);
    called_tools::declare(&mut body);
    if let Some(control) = control {
        cache::add_cache_control(&mut body, &control);
    }
    Value::Object(body)
}

/// Returns the type of thinking; `None` if it is disabled. With thinking, sampling parameters are
/// not accepted, and with a fixed budget forced calls are not either.
fn thinking_type(options: &Map<String, Value>) -> Option<&str> {
    options.get("thinking")?.get("type")?.as_str().filter(|kind| *kind != "disabled")
}

/// Returns the output limit, which the API requires. The API's limit includes thinking, the
/// config's does not.
fn max_tokens(limit: Option<u32>, abilities: ModelFeatures, options: &Map<String, Value>) -> u32 {
    let budget = options.get("thinking").and_then(|thinking| thinking.get("budget_tokens")).and_then(Value::as_u64);
    let budget = budget.and_then(|budget| u32::try_from(budget).ok()).unwrap_or_default();
    let answer = limit.or(abilities.max_output_tokens).unwrap_or(DEFAULT_MAX_TOKENS);
    answer.saturating_add(budget).min(abilities.max_output_tokens.unwrap_or(u32::MAX))
}

/// Returns the tools and the tool choice. If calls cannot be forced, only the tool to call is sent.
fn tools(request: &Request, is_forced: bool, eager: bool) -> (Value, Value) {
    let choice = match &request.tool_choice {
        ToolChoice::Required | ToolChoice::Tool(_) if !is_forced => &ToolChoice::Auto,
        choice => choice,
    };
    let only = match &request.tool_choice {
        ToolChoice::Tool(name) if !is_forced => Some(name),
        _ => None,
    };
    let offered = request.tools.iter().filter(|tool| only.is_none_or(|only| tool.name == *only));
    if !request.provider_search || only.is_some() {
        return (offered.map(|spec| tool(spec, eager)).collect(), tool_choice(choice));
    }
    let (deferred, listed): (Vec<_>, Vec<_>) = offered.partition(|tool| tool.deferrable);
    let tools = std::iter::once(tool_search::search_tool()).chain(listed.into_iter().map(|spec| tool(spec, eager)));
    (tools.chain(tool_search::deferred_tools(deferred.into_iter())).collect(), tool_choice(choice))
}

/// With `eager_input_streaming`, arguments are streamed before they are complete. They are
/// validated here anyway.
fn tool(tool: &ToolSpec, eager: bool) -> Value {
    let mut written = json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema });
    if eager {
        written["eager_input_streaming"] = true.into();
    }
    written
}

/// Collects all system messages, which the API expects in a field of their own.
fn system(request: &Request) -> Option<Value> {
    let inside = request.messages.iter().filter_map(|message| match &**message {
        Message::System(text) => Some(text),
        _ => None,
    });
    let texts = request.system.iter().chain(inside).filter(|text| !is_blank(text));
    let blocks: Vec<_> = texts.map(|text| json!({ "type": "text", "text": text })).collect();
    (!blocks.is_empty()).then(|| blocks.into())
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    }
}

/// Converts the messages to turns. Roles must alternate and begin with the user, so adjacent
/// messages of a role are merged.
fn messages(messages: &[Arc<Message>], sends_reasoning: bool) -> Vec<Value> {
    let is_sent = |part: &&AssistantPart| sends_reasoning || !matches!(part, AssistantPart::Reasoning { .. });
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match &**message {
            Message::System(_) => continue,
            Message::User(parts) => ("user", parts.iter().filter_map(user_block).collect::<Vec<_>>()),
            Message::Tool(results) => ("user", results.iter().map(result_block).collect()),
            Message::Assistant(parts) => {
                ("assistant", parts.iter().filter(is_sent).filter_map(assistant_block).collect())
            }
        };
        if blocks.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    if turns.first().is_none_or(|(role, _)| *role == "assistant") {
        turns.insert(0, ("user", vec![json!({ "type": "text", "text": "(no text)" })]));
    }
    trim_last_text(&mut turns);
    turns.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// Trims the end of a reply that is to be continued, because the API rejects trailing white space
/// there.
fn trim_last_text(turns: &mut [(&str, Vec<Value>)]) {
    let Some(("assistant", blocks)) = turns.last_mut() else { return };
    if let Some(text) = blocks.last_mut().and_then(|block| block.get_mut("text")) {
        *text = text.as_str().unwrap_or_default().trim_end().into();
    }
}

/// Returns whether a text is blank, which the API rejects.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn user_block(part: &UserPart) -> Option<Value> {
    match part {
        UserPart::Text { text } if is_blank(text) => None,
        UserPart::Text { text } => Some(json!({ "type": "text", "text": text })),
        UserPart::File { media_type, data, filename } => Some(file::file_block(media_type, data, filename.as_deref())),
    }
}

fn result_block(result: &ToolResult) -> Value {
    let mut block = json!({
        "type": "tool_result",
        "tool_use_id": sanitize_identifier(&result.call_id),
        "content": match &result.output {
            ToolOutput::Content(parts) => parts.iter().cloned().filter_map(|part| user_block(&part.into())).collect(),
            other => Value::from(other.to_text()),
        },
    });
    if result.output.is_error() {
        block["is_error"] = true.into();
    }
    block
}

fn assistant_block(part: &AssistantPart) -> Option<Value> {
    Some(match part {
        AssistantPart::Text { text, .. } if is_blank(text) => return None,
        AssistantPart::Text { text, metadata }
            if own_metadata(metadata.as_ref(), "type") == Some(&"compaction".into()) =>
        {
            let mut block = metadata.as_ref()?.get(PROVIDER)?.clone();
            block["content"] = text.as_str().into();
            block
        }
        AssistantPart::Text { text, metadata } => {
            let mut block = json!({ "type": "text", "text": text });
            if let Some(citations) = own_metadata(metadata.as_ref(), "citations") {
                block["citations"] = citations.clone();
            }
            block
        }
        AssistantPart::Reasoning { text, metadata } => reasoning_block(text, metadata.as_ref()?)?,
        AssistantPart::ToolCall(call) if !call.provider_executed => {
            let input = if call.input.is_object() { call.input.clone() } else { json!({}) };
            let mut block = json!({ "type": "tool_use", "id": sanitize_identifier(&call.id), "name": sanitize_identifier(&call.name), "input": input });
            if let Some(caller) = own_metadata(call.metadata.as_ref(), "caller") {
                block["caller"] = caller.clone();
            }
            block
        }
        AssistantPart::ProviderItem { provider, item }
            if provider == PROVIDER && !container::is_container_item(item) =>
        {
            item.clone()
        }
        // Results of the provider's own tools are sent back as its items, and only to that
        // provider. Claude accepts files only from the user.
        AssistantPart::File { .. }
        | AssistantPart::ToolCall(_)
        | AssistantPart::ToolResult(_)
        | AssistantPart::ProviderItem { .. } => return None,
    })
}

/// Returns this provider's metadata of a part.
fn own_metadata<'a>(metadata: Option<&'a ProviderMetadata>, key: &str) -> Option<&'a Value> {
    metadata?.get(PROVIDER)?.get(key)
}

/// Converts reasoning to a block. Without a signature, it is another provider's or truncated, and
/// would be rejected.
fn reasoning_block(text: &str, metadata: &ProviderMetadata) -> Option<Value> {
    let own = metadata.get(PROVIDER)?;
    if let Some(data) = own.get("redactedData") {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let signature = own.get("signature")?;
    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
}
