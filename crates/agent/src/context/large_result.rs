//! Large results of tools: the model reads their beginning and end, and the rest on demand. This
//! depends on nothing but the result, so each request has the same bytes.

use crate::context::read_result::READ_RESULT_TOOL;
use contract::{Message, OutputPart, ToolOutput, ToolResult};
use std::sync::Arc;

/// How much of the beginning is sent, in bytes, where the limit leaves room for it.
const HEAD: usize = 6_000;
/// How much of the end is sent, in bytes, where the limit leaves room for it.
const TAIL: usize = 2_000;
/// The limit of results that are shortened further, since the request would be too long with them.
const SHORT: usize = 1_000;

/// Returns whether a message has a result that is not sent whole.
pub(crate) fn has_large(message: &Message, limit: usize) -> bool {
    matches!(message, Message::Tool(results) if results.iter().any(|result| is_large(result, limit)))
}

/// Returns the message with its large results shortened. A message without one stays shared.
pub(crate) fn shortened(message: &Arc<Message>, limit: usize) -> Arc<Message> {
    match &**message {
        Message::Tool(results) if has_large(message, limit) => {
            let results = results
                .iter()
                .map(|result| if is_large(result, limit) { short_result(result, limit) } else { result.clone() });
            Arc::new(Message::Tool(results.collect()))
        }
        _ => message.clone(),
    }
}

/// Returns the message with its first `count` results shortened to [`SHORT`], and the others to the
/// limit. Unlike the limit, this applies to results that were read again, too.
pub(crate) fn shortened_further(message: &Arc<Message>, count: usize, limit: usize) -> Arc<Message> {
    match &**message {
        Message::Tool(results) if results.iter().take(count).any(can_be_shortened) => {
            let results = results.iter().enumerate().map(|(at, result)| {
                if at < count && can_be_shortened(result) {
                    short_result(result, SHORT)
                } else if is_large(result, limit) {
                    short_result(result, limit)
                } else {
                    result.clone()
                }
            });
            Arc::new(Message::Tool(results.collect()))
        }
        _ => shortened(message, limit),
    }
}

/// Returns whether a result becomes shorter by [`shortened_further`].
pub(crate) fn can_be_shortened(result: &ToolResult) -> bool {
    is_longer(result, SHORT)
}

fn is_large(result: &ToolResult, limit: usize) -> bool {
    limit != usize::MAX && result.name != READ_RESULT_TOOL && is_longer(result, limit)
}

fn is_longer(result: &ToolResult, limit: usize) -> bool {
    match &result.output {
        ToolOutput::Text(text) | ToolOutput::ErrorText(text) => text.len() > limit,
        ToolOutput::Json(value) => value.to_string().len() > limit,
        ToolOutput::Content(parts) => text_bytes(parts) > limit,
        ToolOutput::Denied(_) => false,
    }
}

fn text_bytes(parts: &[OutputPart]) -> usize {
    let length = |part: &OutputPart| if let OutputPart::Text { text } = part { text.len() } else { 0 };
    parts.iter().map(length).sum()
}

fn short_result(result: &ToolResult, limit: usize) -> ToolResult {
    let short = |text: &str| short_text(text, &result.call_id, limit);
    let output = match &result.output {
        ToolOutput::ErrorText(text) => ToolOutput::ErrorText(short(text)),
        // Files stay; they are not counted by their bytes.
        ToolOutput::Content(parts) if parts.iter().any(|part| matches!(part, OutputPart::File { .. })) => {
            let files = parts.iter().filter(|part| matches!(part, OutputPart::File { .. })).cloned();
            let text = OutputPart::Text { text: short(&result.output.to_text()) };
            ToolOutput::Content(std::iter::once(text).chain(files).collect())
        }
        output if is_longer(result, limit) => ToolOutput::Text(short(&output.to_text())),
        output => output.clone(),
    };
    ToolResult { output, ..result.clone() }
}

/// Returns the beginning and the end of a text, with a note between them.
fn short_text(text: &str, call_id: &str, limit: usize) -> String {
    let head = text.floor_char_boundary(HEAD.min(limit / 5 * 3));
    let tail = text.ceil_char_boundary(text.len().saturating_sub(TAIL.min(limit / 5))).max(head);
    format!(
        "{}\n[{} of {} bytes are left out here. Call {READ_RESULT_TOOL} with the callId {} and the offset {head} to read \
         them.]\n{}",
        &text[..head],
        tail - head,
        text.len(),
        serde_json::Value::from(call_id),
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_large_results_are_shortened() {
        let check = |name: &str, output: ToolOutput, is_short: bool| {
            let result = ToolResult { call_id: "c".to_owned(), name: name.to_owned(), output, metadata: None };
            let message = Arc::new(Message::Tool(vec![result.clone()]));
            let sent = shortened(&message, 20_000);
            assert_eq!(Arc::ptr_eq(&sent, &message), !is_short, "{name}");
            let Message::Tool(results) = &*sent else { unreachable!() };
            let text = results[0].output.to_text();
            assert!(text.len() <= 20_000 && (!is_short || text.contains("the callId \"c\" and the offset ")), "{text}");
            assert_eq!(shortened(&sent, 20_000), sent, "a short result stays");
        };
        check("look", ToolOutput::Text("é".repeat(10_000)), false);
        check("look", ToolOutput::Text("é".repeat(10_001)), true);
        check("look", ToolOutput::ErrorText("x".repeat(50_000)), true);
        check("look", ToolOutput::Json(json!({ "a": "x".repeat(50_000) })), true);
        check("look", ToolOutput::Json(json!({ "a": 1 })), false);
        let text = || OutputPart::Text { text: "x".repeat(12_000) };
        let file = || OutputPart::File { media_type: "image/png".to_owned(), data: "x".repeat(50_000) };
        check("look", ToolOutput::Content(vec![text(), file()]), false);
        check("look", ToolOutput::Content(vec![text(), file(), text()]), true);
        check("look", ToolOutput::Content(vec![text(), text()]), true);
        check(READ_RESULT_TOOL, ToolOutput::Text("x".repeat(20_000)), false);
    }
}
