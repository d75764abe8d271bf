//! Tracks what an agent has read that makes sending data dangerous. It is stored in the messages in
//! which it was read, so that later turns on any server know it and other branches are not
//! affected.

use agent::{ExposureState, is_provider_search};
use contract::Exposure;
use serde_json::{Value, json};
use wire::message::DataPart;
use wire::{Chunk, DataChunk, EXPOSURE, Role, UiMessage, UiPart};

/// The source name of an imported conversation.
const FILE: &str = "imported_file";

/// The source name of messages that a client brought.
const PRESET: &str = "loaded_messages";

/// Builds the data chunk for the message.
pub(crate) fn exposure_chunk(exposure: &Exposure) -> Chunk {
    let (kind, id) = (EXPOSURE.to_owned(), Some("exposure".to_owned()));
    Chunk::Data(DataChunk { kind, id, data: data(exposure), transient: None })
}

fn data(exposure: &Exposure) -> Value {
    json!({ "private": exposure.private, "untrusted": exposure.untrusted })
}

/// Returns the exposure of a branch. Results of a provider's own tools count even without a stored
/// mark, since an interrupted reply has none; except those of its search for tools, which has found the agent's tools.
pub fn for_branch<'a>(messages: impl IntoIterator<Item = &'a UiMessage>) -> ExposureState {
    after(Exposure::default(), messages).into()
}

/// Returns the exposure of messages after others with this exposure.
pub fn after<'a>(before: Exposure, messages: impl IntoIterator<Item = &'a UiMessage>) -> Exposure {
    let mut seen = before;
    for part in messages.into_iter().flat_map(|message| &message.parts) {
        let untrusted = match part {
            UiPart::Data(data) if data.kind == EXPOSURE => {
                let named = |key: &str| data.data.get(key).and_then(Value::as_str).map(str::to_owned);
                seen.private = seen.private.or_else(|| named("private"));
                named("untrusted")
            }
            UiPart::Tool(tool) if tool.provider_executed == Some(true) && tool.is_final() => {
                (!is_provider_search(&tool.tool_name)).then(|| tool.tool_name.clone())
            }
            UiPart::SourceUrl(_) | UiPart::SourceDocument(_) => Some(Exposure::WEB.to_owned()),
            _ => None,
        };
        seen.untrusted = seen.untrusted.or(untrusted);
    }
    seen
}

/// Returns false if a message changes nothing in what was seen before. `contains` says whether the message's JSON contains a
/// text; it may say so of a text that is not there.
pub fn may_add(seen: &Exposure, contains: impl Fn(&str) -> bool) -> bool {
    let is_private_open = seen.private.is_none();
    let is_untrusted_open = seen.untrusted.is_none();
    // A call that the provider has run, and a source that it has named, count without a mark.
    let is_unmarked = || contains("\"providerExecuted\"") || contains("\"source-");
    (is_private_open || is_untrusted_open) && contains(EXPOSURE) || is_untrusted_open && is_unmarked()
}

/// Marks a message whose run was interrupted as exposed to both private data and text from outside:
/// the marks of its tools may not have been stored.
pub fn mark_cut_off(message: &mut UiMessage) {
    let Some(tool) = message.tools().next().map(|tool| tool.tool_name.clone()) else { return };
    mark(message, &Exposure { private: Some(tool.clone()), untrusted: Some(tool) });
}

/// Marks an imported message as untrusted, since anybody may have written the file; and as private
/// if the file has results of tools, which may be private.
pub fn mark_imported(message: &mut UiMessage, has_results: bool) {
    mark(message, &Exposure { private: has_results.then(|| FILE.to_owned()), untrusted: Some(FILE.to_owned()) });
}

/// Returns whether a message has more than text of a model, such as results of tools.
pub fn has_results(message: &UiMessage) -> bool {
    message.parts.iter().any(|part| !matches!(part, UiPart::Text(_) | UiPart::Reasoning(_) | UiPart::StepStart))
        && message.role == Role::Assistant
}

/// Marks messages that a client brought as private and untrusted: where they come from is not known.
pub fn mark_preset(message: &mut UiMessage) {
    mark(message, &preset());
}

/// Returns the kinds of data in messages that a client brought.
pub fn preset() -> Exposure {
    Exposure { private: Some(PRESET.to_owned()), untrusted: Some(PRESET.to_owned()) }
}

/// Marks a message with the kinds of data that the model reads in it.
pub fn mark(message: &mut UiMessage, exposure: &Exposure) {
    message.parts.push(UiPart::Data(DataPart { kind: EXPOSURE.to_owned(), id: None, data: data(exposure) }));
}

/// Returns the reason for an approval request, for the audit log.
pub fn reason(private: &str, untrusted: &str) -> String {
    format!("it can send out private data (read by {private}) after text from outside (read by {untrusted})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_a_provider_count_without_a_mark() {
        let check = |name: &str, expected: Option<&str>| {
            let mut call = json!({ "type": format!("tool-{name}"), "toolCallId": "c", "state": "output-available" });
            (call["input"], call["output"], call["providerExecuted"]) = (json!({}), 1.into(), true.into());
            let message = json!({ "id": "m", "role": "assistant", "parts": [call] });
            let message: UiMessage = serde_json::from_value(message).unwrap();
            assert_eq!(for_branch([&message]).snapshot().untrusted.as_deref(), expected, "{name}");
        };
        check("web_search", Some("web_search"));
        check("mcp.tool_search", Some("mcp.tool_search"));
        // It has found the agent's own tools.
        check("tool_search", None);
        check("tool_search_tool_bm25", None);
    }
}
