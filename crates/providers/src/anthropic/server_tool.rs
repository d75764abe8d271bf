//! Converts the calls and results of tools that Anthropic runs itself to parts that the user sees.
//! The blocks are also kept as received, because only they can be sent back.

use super::stream::{ReplyState, provider_metadata};
use contract::{Citation, Part, Source};
use serde_json::{Map, Value, json};

/// Returns the tool name that the user sees. The tools of code execution are shown as one.
pub(crate) fn display_name(name: &str) -> &str {
    match name {
        "bash_code_execution" | "text_editor_code_execution" => "code_execution",
        name => name,
    }
}

/// Returns the name that the user sees of a tool of an MCP server that the API calls. The server chooses the name, and
/// must not pass off its results as those of the API's search for tools, which do not count as text from outside.
pub(crate) fn mcp_name(name: &str) -> String {
    if name.starts_with("tool_search") { format!("mcp.{name}") } else { name.to_owned() }
}

/// Returns the field `type` of the input, which distinguishes the tools of code execution.
pub(crate) fn input_type(name: &str) -> Option<&str> {
    match name {
        "bash_code_execution" | "text_editor_code_execution" => Some(name),
        "code_execution" => Some("programmatic-tool-call"),
        _ => None,
    }
}

/// Adds the type to the front of a complete input, unless it has one.
pub(crate) fn with_input_type(input: String, kind: Option<&str>) -> String {
    let Some(kind) = kind else { return input };
    match serde_json::from_str::<Map<String, Value>>(&input) {
        Ok(fields) if !fields.contains_key("type") => {
            let first = ("type".to_owned(), kind.into());
            Value::Object([first].into_iter().chain(fields).collect()).to_string()
        }
        _ => input,
    }
}

/// Appends the result in a block and the sources it found. Returns false if the block is not a
/// result.
pub(crate) fn push_result(block: &Map<String, Value>, state: &mut ReplyState, parts: &mut Vec<Part>) -> bool {
    let Some(kind) = block.get("type").and_then(Value::as_str).filter(|kind| kind.ends_with("tool_result")) else {
        return false;
    };
    let Some(id) = block.get("tool_use_id").and_then(Value::as_str) else { return false };
    let content = block.get("content").unwrap_or(&Value::Null);
    let called = state.server_calls.iter().rfind(|(call, _)| call == id).map(|(_, name)| name.as_str());
    let name = called.unwrap_or_else(|| display_name(kind.trim_end_matches("_tool_result"))).to_owned();
    let failure = content["error_code"].as_str().filter(|_| !kind.contains("_code_execution_"));
    let (output, is_error) = match (kind, failure) {
        ("mcp_tool_result", _) => (content.clone(), block.get("is_error") == Some(&Value::Bool(true))),
        (_, Some(code)) => (json!({ "type": content["type"], "errorCode": code }), true),
        _ => (display_output(content), false),
    };
    parts.push(Part::ToolResult { id: id.to_owned(), name, output, is_error, metadata: None });
    match kind {
        "web_search_tool_result" => push_search_sources(content, state, parts),
        "web_fetch_tool_result" => record_document(content, state),
        _ => {}
    }
    true
}

/// Converts a result to the AI SDK's format.
fn display_output(content: &Value) -> Value {
    match content["type"].as_str().unwrap_or_default() {
        "web_fetch_result" => {
            let document = &content["content"];
            let source = &document["source"];
            let mut shown = without_absent(
                json!({
                    "type": document["type"],
                    "title": document["title"],
                    "citations": document["citations"],
                }),
                document,
            );
            shown["source"] =
                json!({ "type": source["type"], "mediaType": source["media_type"], "data": source["data"] });
            json!({
                "type": "web_fetch_result",
                "url": content["url"],
                "retrievedAt": content["retrieved_at"],
                "content": shown,
            })
        }
        "code_execution_result" | "encrypted_code_execution_result" => {
            let known = ["type", "stdout", "encrypted_stdout", "stderr", "return_code"];
            let known = known.into_iter().filter_map(|key| Some((key.to_owned(), content.get(key)?.clone())));
            let files = Some(&content["content"]).filter(|files| !files.is_null()).cloned();
            let files = ("content".to_owned(), files.unwrap_or_else(|| json!([])));
            Value::Object(known.chain([files]).collect())
        }
        "tool_search_tool_search_result" => content["tool_references"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|reference| json!({ "type": reference["type"], "toolName": reference["tool_name"] }))
            .collect(),
        "advisor_result" | "advisor_redacted_result" => content
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (to_camel_case(key), value.clone()))
            .collect::<Map<_, _>>()
            .into(),
        _ => match content.as_array() {
            Some(list) if list.iter().any(|entry| entry["type"] == "web_search_result") => {
                list.iter().map(display_search_result).collect()
            }
            _ => content.clone(),
        },
    }
}

fn display_search_result(entry: &Value) -> Value {
    let mut shown = json!({ "url": entry["url"] });
    if !entry["title"].is_null() {
        shown["title"] = entry["title"].clone();
    }
    shown["pageAge"] = entry["page_age"].clone();
    shown["encryptedContent"] = entry["encrypted_content"].clone();
    shown["type"] = entry["type"].clone();
    shown
}

/// Removes the fields that are absent in the original; those that are null there remain.
fn without_absent(mut shown: Value, original: &Value) -> Value {
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|key, _| original.get(key).is_some());
    }
    shown
}

fn to_camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let head = letters.next().map(|letter| letter.to_ascii_uppercase());
        name + &head.into_iter().chain(letters).collect::<String>()
    })
}

/// Appends search results as sources, even if the text does not cite them.
fn push_search_sources(content: &Value, state: &mut ReplyState, parts: &mut Vec<Part>) {
    for entry in content.as_array().into_iter().flatten() {
        let Some(url) = entry["url"].as_str() else { continue };
        state.has_search_sources = true;
        let title = entry["title"].as_str().map(str::to_owned);
        let metadata = Some(provider_metadata("pageAge", entry["page_age"].clone()));
        parts.push(Part::Source(Source::Url { id: state.next_source_id(), url: url.to_owned(), title, metadata }));
    }
}

/// Records a fetched document, to which later citations refer by index.
fn record_document(content: &Value, state: &mut ReplyState) {
    let document = &content["content"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let title = text(&document["title"]).or_else(|| text(&content["url"])).unwrap_or_default();
    let media_type = text(&document["source"]["media_type"]).unwrap_or_else(|| "text/plain".to_owned());
    state.documents.push((title, media_type));
}

/// Appends the source of a citation, unless the search has already reported it.
pub(crate) fn push_cited_source(citation: &Value, state: &mut ReplyState, parts: &mut Vec<Part>) {
    let text = |key: &str| citation[key].as_str().map(str::to_owned);
    match citation["type"].as_str().unwrap_or_default() {
        "web_search_result_location" if !state.has_search_sources => {
            let Some(url) = text("url") else { return };
            let kept = json!({ "citedText": citation["cited_text"], "encryptedIndex": citation["encrypted_index"] });
            let metadata = Some(Map::from_iter([(super::PROVIDER.to_owned(), kept)]));
            parts.push(Part::Source(Source::Url { id: state.next_source_id(), url, title: text("title"), metadata }));
        }
        "page_location" | "char_location" => {
            let index = citation["document_index"].as_u64().and_then(|index| usize::try_from(index).ok());
            let Some((title, media_type)) = index.and_then(|index| state.documents.get(index)).cloned() else { return };
            let title = text("document_title").unwrap_or(title);
            let kept = citation.as_object().into_iter().flatten().filter(|(key, _)| *key != "type");
            let kept: Map<_, _> = kept.map(|(key, value)| (to_camel_case(key), value.clone())).collect();
            let metadata = Some(Map::from_iter([(super::PROVIDER.to_owned(), kept.into())]));
            let id = state.next_source_id();
            parts.push(Part::Source(Source::Document { id, media_type, title, filename: None, metadata }));
        }
        _ => {}
    }
}

/// Converts a citation of a text.
pub(crate) fn citation(citation: &Value, state: &ReplyState) -> Citation {
    let text = |key: &str| citation[key].as_str().map(str::to_owned);
    let metadata = Some(Map::from_iter([(super::PROVIDER.to_owned(), citation.clone())]));
    let page = match citation["type"].as_str().unwrap_or_default() {
        "web_search_result_location" => text("url"),
        "search_result_location" => text("source"),
        _ => None,
    };
    let source = match page {
        Some(url) => Source::Url { id: url.clone(), url, title: text("title"), metadata },
        None => {
            let number = citation["document_index"].as_u64().unwrap_or_default();
            let document = usize::try_from(number).ok().and_then(|index| state.documents.get(index)).cloned();
            let (known, media_type) = document.unzip();
            Source::Document {
                id: text("file_id").unwrap_or_else(|| number.to_string()),
                media_type: media_type.unwrap_or_else(|| "text/plain".to_owned()),
                title: text("document_title").or(known).unwrap_or_else(|| format!("Document {number}")),
                filename: None,
                metadata,
            }
        }
    };
    Citation { source, start_index: None, end_index: None, cited_text: text("cited_text") }
}
