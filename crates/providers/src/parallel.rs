//! Expands the wrapper in which OpenAI's models sometimes make several tool calls at once:
//! `multi_tool_use.parallel`, a tool of their training that no request offers, with the arguments
//! `{"tool_uses":[{"recipient_name":"functions.NAME","parameters":{…}}]}`. Source:
//! <https://github.com/vercel/ai/issues/19067>.
//!
//! The wrapper is replaced by its calls before anything else reads the reply. They are stored and
//! sent back as ordinary calls, each with its own result. This is valid because every request
//! carries the complete history and the provider stores nothing: no wrapper waits for a joint
//! result.

use crate::driver::Codec;
use crate::json;
use crate::lenient::CallIds;
use contract::{ModelError, Part, ProviderMetadata, ToolSpec};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The names of the wrapper in Chat Completions, in Responses, and from gateways without the dot.
const WRAPPER_NAMES: [&str; 3] = ["multi_tool_use.parallel", "parallel", "multi_tool_use_parallel"];
/// The prefix of the names of tools that the request offers.
const FUNCTION_PREFIX: &str = "functions.";

/// A codec that replaces each wrapper in the parts of another codec with the calls in it.
pub(crate) struct ParallelExpander<C> {
    codec: C,
    /// The names of the wrapper that no offered tool has.
    names: Vec<&'static str>,
    /// The ids of this reply's calls, so that the ids of expanded calls are unique.
    ids: CallIds,
    /// The ids of wrappers that are not complete yet. No part of them is passed on.
    open_wrappers: Vec<String>,
}

impl<C: Codec> ParallelExpander<C> {
    /// Creates a codec that expands the wrappers in `codec`'s parts. A call with the name of one of
    /// `tools` is a call of that tool and never a wrapper.
    pub(crate) fn new(codec: C, tools: &[ToolSpec]) -> Self {
        let is_free = |name: &&str| !tools.iter().any(|tool| tool.name == **name);
        let names = WRAPPER_NAMES.into_iter().filter(is_free).collect();
        Self { codec, names, ids: CallIds::default(), open_wrappers: Vec::new() }
    }

    /// Replaces the wrappers among the parts from the index `from` on.
    fn expand(&mut self, from: usize, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let is_of_call = |part: &Part| match part {
            Part::ToolInputStart { .. } | Part::ToolCall { .. } => true,
            Part::ToolInputDelta { .. } => !self.open_wrappers.is_empty(),
            _ => false,
        };
        if parts[from..].iter().any(is_of_call) {
            for part in parts.split_off(from) {
                self.push_part(part, parts)?;
            }
        }
        Ok(())
    }

    fn push_part(&mut self, part: Part, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        match part {
            Part::ToolInputStart { id, name, provider_executed: false } if self.is_wrapper(&name) => {
                self.open_wrappers.push(id);
            }
            Part::ToolInputDelta { id, .. } if self.open_wrappers.contains(&id) => {}
            Part::ToolCall { id, name, input, provider_executed: false, metadata } if self.is_wrapper(&name) => {
                self.open_wrappers.retain(|begun| *begun != id);
                match parse_uses(&input) {
                    Some(uses) => self.push_calls(&id, uses, metadata.as_ref(), parts)?,
                    None => push_invalid_wrapper(id, name, input, metadata, parts),
                }
            }
            Part::ToolInputStart { id, name, provider_executed } => {
                self.ids.assign(Some(id.clone()))?;
                parts.push(Part::ToolInputStart { id, name, provider_executed });
            }
            part => parts.push(part),
        }
        Ok(())
    }

    fn is_wrapper(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Appends the calls of a wrapper. Their ids are derived from the wrapper's id, and each gets
    /// its metadata, such as the provider's program that made the call.
    fn push_calls(
        &mut self,
        wrapper_id: &str,
        uses: Vec<(String, String)>,
        metadata: Option<&ProviderMetadata>,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        for (number, (name, input)) in uses.into_iter().enumerate() {
            let id = self.ids.assign(Some(format!("{wrapper_id}_{number}")))?;
            parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
            parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata: metadata.cloned() });
        }
        Ok(())
    }
}

impl<C: Codec> Codec for ParallelExpander<C> {
    const MAX_EVENT: usize = C::MAX_EVENT;

    fn decode_event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let from = parts.len();
        let read = self.codec.decode_event(data, parts);
        self.expand(from, parts)?;
        read
    }

    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let from = parts.len();
        let read = self.codec.end(parts);
        self.expand(from, parts)?;
        read
    }

    fn is_complete(&self) -> bool {
        self.codec.is_complete()
    }
}

/// Appends a wrapper whose arguments are invalid as a call of its own. As no tool has its name, the
/// call fails, and the model reads why.
fn push_invalid_wrapper(
    id: String,
    name: String,
    input: String,
    metadata: Option<ProviderMetadata>,
    parts: &mut Vec<Part>,
) {
    parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
    parts.push(Part::ToolInputDelta { id: id.clone(), delta: input.clone() });
    parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
}

/// The arguments of a wrapper.
#[derive(Deserialize)]
struct Wrapper<'a> {
    #[serde(borrow)]
    tool_uses: Vec<ToolUse<'a>>,
}

/// One call in a wrapper.
#[derive(Deserialize)]
struct ToolUse<'a> {
    recipient_name: String,
    #[serde(borrow, default)]
    parameters: Option<&'a RawValue>,
}

/// Reads the name and the arguments of each call in a wrapper; `None` if there is no call, or one
/// has no name. The loop checks for each call whether the tool exists and the arguments fit.
fn parse_uses(input: &str) -> Option<Vec<(String, String)>> {
    let mut spare = String::new();
    let wrapper: Wrapper<'_> = json::parse(input, &mut spare).ok()?;
    let uses: Option<Vec<_>> = wrapper.tool_uses.into_iter().map(ToolUse::into_call).collect();
    uses.filter(|uses| !uses.is_empty())
}

impl ToolUse<'_> {
    /// The tool's name, and the JSON text of the arguments, which may be inside a string.
    fn into_call(self) -> Option<(String, String)> {
        let name = self.recipient_name.trim();
        let name = name.strip_prefix(FUNCTION_PREFIX).unwrap_or(name);
        let input = self.parameters.and_then(|raw| json::text_from_json(raw.get())).unwrap_or_default();
        (!name.is_empty()).then(|| (name.to_owned(), input))
    }
}

#[cfg(test)]
mod tests;
