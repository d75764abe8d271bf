//! Estimates of sizes in tokens.

use contract::{AssistantPart, Message, OutputPart, Request, ToolOutput, ToolResult, UserPart, estimated_tokens};

/// What an image or a document counts. Providers charge between a few hundred and a few thousand
/// tokens for one.
const FILE_TOKENS: u64 = 1_600;
/// What a message counts beside its content.
const MESSAGE_TOKENS: u64 = 4;

/// Estimates the tokens of a message, reasoning and files included.
pub(crate) fn message_tokens(message: &Message) -> u64 {
    let parts: u64 = match message {
        Message::System(text) => estimated_tokens(text.len()),
        Message::User(parts) => parts.iter().map(user_tokens).sum(),
        Message::Assistant(parts) => parts.iter().map(assistant_tokens).sum(),
        Message::Tool(results) => results.iter().map(result_tokens).sum(),
    };
    parts.saturating_add(MESSAGE_TOKENS)
}

fn user_tokens(part: &UserPart) -> u64 {
    match part {
        UserPart::Text { text } => estimated_tokens(text.len()),
        UserPart::File { .. } => FILE_TOKENS,
    }
}

fn assistant_tokens(part: &AssistantPart) -> u64 {
    match part {
        AssistantPart::Reasoning { text, .. } => estimated_tokens(text.len()),
        AssistantPart::File { .. } => FILE_TOKENS,
        AssistantPart::ProviderItem { item, .. } => estimated_tokens(item.to_string().len()),
        AssistantPart::ToolResult(result) => result_tokens(result),
        AssistantPart::Text { .. } | AssistantPart::ToolCall(_) => estimated_tokens(part.text_length()),
    }
}

/// Estimates the tokens of a result.
pub(crate) fn result_tokens(result: &ToolResult) -> u64 {
    match &result.output {
        ToolOutput::Content(parts) => parts
            .iter()
            .map(|part| match part {
                OutputPart::Text { text } => estimated_tokens(text.len()),
                OutputPart::File { .. } => FILE_TOKENS,
            })
            .sum(),
        output => estimated_tokens(output.to_text().len()),
    }
}

/// Estimates the tokens of what a request contains beside its messages.
pub(crate) fn fixed_tokens(request: &Request) -> u64 {
    let tools = request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.to_string().len());
    estimated_tokens(tools.fold(request.system.as_ref().map_or(0, String::len), usize::saturating_add))
}
