//! Estimates the usage of a reply whose provider does not report it, so that limits and quotas of
//! tokens and cost hold with such a provider, too.

use contract::{AssistantPart, Request, Usage, estimated_tokens};

/// Estimates the usage from the texts of the request and the reply. Pictures and other files are not
/// counted.
pub(crate) fn estimated_usage(request: &Request, reply: &[AssistantPart]) -> Usage {
    let system = request.system.as_ref().map_or(0, String::len);
    let tools = request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.to_string().len());
    let messages = request.messages.iter().map(|message| message.text_length());
    let input = tools.chain(messages).fold(system, usize::saturating_add);
    let output = reply.iter().map(AssistantPart::text_length).sum();
    Usage { input_tokens: estimated_tokens(input), output_tokens: estimated_tokens(output), ..Usage::default() }
}
