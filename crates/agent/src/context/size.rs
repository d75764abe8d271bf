//! Estimates of sizes in tokens.

use crate::context::projection::SUMMARY_START;
use contract::{AssistantPart, Message, OutputPart, Request, ToolOutput, ToolResult, UserPart, estimated_tokens};

/// The tokens that an image or a document counts as. Providers charge between a few hundred and a few thousand
/// tokens for one.
const FILE_TOKENS: u64 = 1_600;
/// The tokens that a message counts beside its content.
const MESSAGE_TOKENS: u64 = 4;

/// The size of a request's context, and what it consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSize {
    /// The estimated tokens of its parts.
    pub parts: ContextParts,
    /// The tokens of the request and its reply.
    pub used: u64,
    /// The tokens of the reply.
    pub reply: u64,
    /// Whether `used` is what the provider reported; otherwise it is an estimate, too.
    pub is_measured: bool,
}

/// The size of a request by our estimate, and by the provider's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredSize {
    /// The estimated tokens.
    pub estimated: u64,
    /// The tokens that the provider reported.
    pub reported: u64,
}

impl MeasuredSize {
    /// The greatest correction. More is an error of the provider, or files that are larger than usual.
    const MAX_FACTOR: f64 = 4.0;
    /// The shortest request that counts. In a shorter one, most tokens are added by the provider.
    const MIN_ESTIMATED: u64 = 500;

    /// Returns the factor by which estimates are too low for this model and language, at least 1;
    /// `None` if the request was too short to tell.
    pub(crate) fn factor(self) -> Option<f64> {
        let factor = self.reported as f64 / self.estimated as f64;
        (self.estimated >= Self::MIN_ESTIMATED && self.reported > 0).then(|| factor.clamp(1.0, Self::MAX_FACTOR))
    }
}

/// The estimated tokens of what a request contains, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextParts {
    /// The instructions.
    pub instructions: u64,
    /// The names, descriptions and schemas of the tools.
    pub tools: u64,
    /// The summary of earlier messages.
    pub summary: u64,
    /// The texts of the user and the agent, with the agent's calls and reasoning.
    pub messages: u64,
    /// The results of tools.
    pub results: u64,
    /// Files, also those in results.
    pub files: u64,
}

impl ContextParts {
    /// Returns the sum.
    pub fn total(&self) -> u64 {
        let Self { instructions, tools, summary, messages, results, files } = *self;
        [instructions, tools, summary, messages, results, files].into_iter().fold(0, u64::saturating_add)
    }

    fn add_message(&mut self, message: &Message) {
        self.messages += MESSAGE_TOKENS;
        match message {
            Message::System(text) => self.instructions += estimated_tokens(text.len()),
            Message::User(parts) => parts.iter().for_each(|part| match part {
                UserPart::Text { text } if text.starts_with(SUMMARY_START) => {
                    self.summary += estimated_tokens(text.len());
                }
                UserPart::Text { text } => self.messages += estimated_tokens(text.len()),
                UserPart::File { .. } => self.files += FILE_TOKENS,
            }),
            Message::Assistant(parts) => parts.iter().for_each(|part| match part {
                AssistantPart::File { .. } => self.files += FILE_TOKENS,
                AssistantPart::ToolResult(result) => self.add_result(result),
                AssistantPart::ProviderItem { item, .. } => {
                    self.messages += estimated_tokens(item.to_string().len());
                }
                AssistantPart::Reasoning { text, .. } => self.messages += estimated_tokens(text.len()),
                AssistantPart::Text { .. } | AssistantPart::ToolCall(_) => {
                    self.messages += estimated_tokens(part.text_length());
                }
            }),
            Message::Tool(results) => results.iter().for_each(|result| self.add_result(result)),
        }
    }

    fn add_result(&mut self, result: &ToolResult) {
        let files = match &result.output {
            ToolOutput::Content(parts) => {
                parts.iter().filter(|part| matches!(part, OutputPart::File { .. })).count() as u64 * FILE_TOKENS
            }
            _ => 0,
        };
        self.files += files;
        self.results += result_tokens(result).saturating_sub(files);
    }
}

/// Estimates the tokens of what a request contains.
pub(crate) fn parts(request: &Request) -> ContextParts {
    let instructions = request.system.as_ref().map_or(0, |text| estimated_tokens(text.len()));
    let tools = fixed_tokens(request).saturating_sub(instructions);
    let mut parts = ContextParts { instructions, tools, ..ContextParts::default() };
    request.messages.iter().for_each(|message| parts.add_message(message));
    parts
}

/// Estimates the tokens of a message, reasoning and files included.
pub(crate) fn message_tokens(message: &Message) -> u64 {
    let mut parts = ContextParts::default();
    parts.add_message(message);
    parts.total()
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
    // The model does not read what its provider may find.
    let read = request.tools.iter().filter(|tool| !(request.provider_search && tool.deferrable));
    let tools = read.map(|tool| tool.description.len() + tool.input_schema.to_string().len());
    estimated_tokens(tools.fold(request.system.as_ref().map_or(0, String::len), usize::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::FileData;
    use std::sync::Arc;

    #[test]
    fn tokens_of_a_request_are_listed_by_kind() {
        let text = |bytes: usize| UserPart::Text { text: "x".repeat(bytes) };
        let data = FileData::from_url("data:image/png;base64,AA==");
        let file = UserPart::File { media_type: "image/png".to_owned(), data, filename: None };
        let summary = UserPart::Text { text: format!("{SUMMARY_START}{}", "x".repeat(400 - SUMMARY_START.len())) };
        let seen = OutputPart::File { media_type: "image/png".to_owned(), data: "AA==".to_owned() };
        let output = ToolOutput::Content(vec![OutputPart::Text { text: "x".repeat(40) }, seen]);
        let result = ToolResult { call_id: "c".to_owned(), name: "look".to_owned(), output, metadata: None };
        let says = AssistantPart::Text { text: "x".repeat(80), metadata: None };
        let messages =
            [Message::User(vec![summary, text(40), file]), Message::Assistant(vec![says]), Message::Tool(vec![result])];
        let request = Request {
            system: Some("x".repeat(120)),
            messages: messages.into_iter().map(Arc::new).collect(),
            ..Request::default()
        };
        let found = parts(&request);
        let expected = ContextParts {
            instructions: 30,
            tools: 0,
            summary: 100,
            messages: 10 + 20 + 3 * MESSAGE_TOKENS,
            results: 10,
            files: 2 * FILE_TOKENS,
        };
        assert_eq!(found, expected);
        let counted = request.messages.iter().map(|message| message_tokens(message)).sum::<u64>();
        assert_eq!(found.total(), counted + fixed_tokens(&request), "nothing is counted twice or left out");
    }
}
