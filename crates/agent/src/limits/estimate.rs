//! Estimates the usage of a reply whose provider does not report it, so that limits and quotas of
//! tokens and cost hold with such a provider, too.

use contract::{AssistantPart, Request, Usage};

/// The usual length of a token in bytes of English text. Other languages have shorter ones, so their
/// usage is estimated too low rather than too high.
const BYTES_PER_TOKEN: usize = 4;

/// Estimates the usage from the texts of the request and the reply. Pictures and other files are not
/// counted.
pub(crate) fn estimated_usage(request: &Request, reply: &[AssistantPart]) -> Usage {
    let system = request.system.as_ref().map_or(0, String::len);
    let tools = request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.to_string().len());
    let messages = request.messages.iter().map(|message| message.text_length());
    let input = tools.chain(messages).fold(system, usize::saturating_add);
    let output = reply.iter().map(AssistantPart::text_length).sum();
    Usage { input_tokens: tokens(input), output_tokens: tokens(output), ..Usage::default() }
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX)
}
