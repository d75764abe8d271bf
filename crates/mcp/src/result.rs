//! Converts the result of a call into a tool's value.
//!
//! Text alone becomes a string, structured content alone becomes data. A result with an image or
//! audio keeps MCP's form, which [`contract::ToolOutput::from_value`] and the page's cards read:
//! `{"content": [{"type": "text" | "image" | "audio", …}]}`.

use crate::{MAX_ERROR, MAX_RESULT, clean};
use contract::ToolError;
use rmcp::model::{CallToolResult, ContentBlock, EmbeddedResource, PromptMessage, ResourceContents, Role};
use serde::Serialize;
use serde_json::{Value, json};

/// The maximum number of messages of a prompt.
const MAX_MESSAGES: usize = 50;

/// Returns the value, or the tool's error.
pub(crate) fn into_value(result: CallToolResult) -> Result<Value, ToolError> {
    let blocks = bounded(result.content.into_iter().map(block).collect());
    if result.is_error == Some(true) {
        let text = clean(&text(&blocks), MAX_ERROR);
        return Err(ToolError::new(if text.trim().is_empty() { "The tool failed.".to_owned() } else { text }));
    }
    if blocks.iter().any(|block| block["type"] != "text") {
        return Ok(json!({ "content": blocks }));
    }
    match result.structured_content {
        Some(data) if data.to_string().len() <= MAX_RESULT => Ok(data),
        _ => Ok(Value::String(text(&blocks))),
    }
}

/// Returns a result for a user interface of the server: as the server has sent it.
///
/// # Errors
/// It is too large.
pub(crate) fn for_app(result: &impl Serialize) -> Result<Value, ToolError> {
    let too_large = || ToolError::new(format!("The result is larger than {} MB.", MAX_RESULT >> 20));
    let value = serde_json::to_value(result).ok().filter(|value| value.to_string().len() <= MAX_RESULT);
    value.ok_or_else(too_large)
}

/// Returns the value of a resource that was read.
pub(crate) fn resource_value(contents: Vec<ResourceContents>) -> Value {
    blocks_value(bounded(contents.into_iter().map(embedded).collect()))
}

/// Returns the value of a prompt. Its messages are named by their roles if there are several.
pub(crate) fn prompt_value(messages: Vec<PromptMessage>) -> Value {
    let has_several = messages.len() > 1;
    let named = |message: PromptMessage| {
        let role = if message.role == Role::User { "User" } else { "Assistant" };
        let mut block = block(message.content);
        if let (true, Some(text)) = (has_several, block["text"].as_str()) {
            block["text"] = format!("{role}: {text}").into();
        }
        block
    };
    blocks_value(bounded(messages.into_iter().take(MAX_MESSAGES).map(named).collect()))
}

fn blocks_value(blocks: Vec<Value>) -> Value {
    if blocks.iter().all(|block| block["type"] == "text") {
        Value::String(text(&blocks))
    } else {
        json!({ "content": blocks })
    }
}

fn text(blocks: &[Value]) -> String {
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn text_block(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

fn block(block: ContentBlock) -> Value {
    match block {
        ContentBlock::Text(text) => text_block(text.text),
        ContentBlock::Image(image) => json!({ "type": "image", "mimeType": image.mime_type, "data": image.data }),
        ContentBlock::Audio(audio) => json!({ "type": "audio", "mimeType": audio.mime_type, "data": audio.data }),
        ContentBlock::Resource(EmbeddedResource { resource, .. }) => embedded(resource),
        ContentBlock::ResourceLink(link) => text_block(format!("[{}]({})", link.name, link.uri)),
        _ => text_block("[content of an unsupported kind]"),
    }
}

fn embedded(resource: ResourceContents) -> Value {
    match resource {
        ResourceContents::TextResourceContents { uri, text, .. } => text_block(format!("{uri}:\n{text}")),
        ResourceContents::BlobResourceContents { uri, blob, mime_type, .. } => match mime_type {
            Some(kind) if kind.starts_with("image/") => json!({ "type": "image", "mimeType": kind, "data": blob }),
            kind => {
                let (kind, size) =
                    (kind.as_deref().unwrap_or("an unknown type"), blob.len().div_ceil(4) * 3 / 1000 + 1);
                text_block(format!("[{uri}: a file of {kind}, {size} KB, which cannot be read here]"))
            }
        },
        _ => text_block("[a resource of an unsupported kind]"),
    }
}

/// Truncates blocks to the limit, with notes about what is left out.
fn bounded(blocks: Vec<Value>) -> Vec<Value> {
    let mut left = MAX_RESULT;
    let fit = blocks.into_iter().map(|mut block| {
        let key = if block["type"] == "text" { "text" } else { "data" };
        let length = block[key].as_str().map_or(0, str::len);
        if length <= left {
            left -= length;
            return block;
        }
        if key == "data" {
            return text_block(format!("[left out: a file of {} KB is too large]", length >> 10));
        }
        let text = block[key].as_str().unwrap_or_default();
        let cut = format!("{}\n[cut off: {} KB in all]", &text[..text.floor_char_boundary(left)], length >> 10);
        left = 0;
        block[key] = cut.into();
        block
    });
    fit.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Value, expected: &str) {
        let read = into_value(serde_json::from_value(result.clone()).unwrap());
        let seen = read.map_or_else(|error| format!("error: {}", error.message), |value| value.to_string());
        assert_eq!(seen, expected, "{result}");
    }

    #[test]
    fn results_become_text_data_or_blocks() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let image = json!({ "type": "image", "mimeType": "image/png", "data": "aGk=" });
        check(json!({ "content": [text("a"), text("b")] }), r#""a\nb""#);
        check(json!({ "content": [text("a")], "structuredContent": { "a": 1 } }), r#"{"a":1}"#);
        check(
            json!({ "content": [text("a"), image] }),
            r#"{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"aGk="}]}"#,
        );
        check(json!({ "content": [text("it\u{1b}[31m broke")], "isError": true }), "error: it[31m broke");
        check(json!({ "content": [], "isError": true }), "error: The tool failed.");
        check(json!({ "content": [] }), r#""""#);
        let resource = |resource: Value| json!({ "content": [{ "type": "resource", "resource": resource }] });
        check(resource(json!({ "uri": "file:///a", "text": "hi" })), r#""file:///a:\nhi""#);
        check(
            resource(json!({ "uri": "x:a", "mimeType": "image/png", "blob": "aGk=" })),
            r#"{"content":[{"type":"image","mimeType":"image/png","data":"aGk="}]}"#,
        );
        check(
            resource(json!({ "uri": "x:a", "blob": "aGk=" })),
            r#""[x:a: a file of an unknown type, 1 KB, which cannot be read here]""#,
        );
    }

    #[test]
    fn results_are_truncated() {
        let long = "ü".repeat(MAX_RESULT);
        let cut = into_value(serde_json::from_value(json!({ "content": [{ "type": "text", "text": long }] })).unwrap());
        let cut = cut.unwrap();
        assert!(cut.as_str().unwrap().ends_with("ü\n[cut off: 2048 KB in all]"));
        check(
            json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "A".repeat(MAX_RESULT + 1) }] }),
            r#""[left out: a file of 1024 KB is too large]""#,
        );
    }
}
