//! Decodes one content block.

use super::PROVIDER;
use super::api::{Block as Start, Delta};
use super::server_tool;
use super::stream::{ReplyState, provider_metadata};
use crate::json;
use crate::lenient::tool_name_or_default;
use contract::{Citation, ModelError, Part};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A content block that is not complete yet.
pub(crate) enum OpenBlock {
    Text {
        id: String,
        /// The citations as received; they are sent back with the text.
        citations: Vec<Value>,
        /// The parsed citations.
        cited: Vec<Citation>,
        /// For a compaction, the summary that replaces the earlier context: the block's other
        /// fields. It is sent back as a compaction.
        compaction: Option<Map<String, Value>>,
    },
    Thinking {
        id: String,
    },
    Call {
        id: String,
        name: String,
        /// The input in the block's start; used unless deltas follow.
        whole: String,
        input: String,
        /// The program at the provider that made the call; sent back with the call.
        caller: Option<Value>,
    },
    /// A call that the provider runs itself. The block is sent back as received.
    ServerCall {
        id: String,
        name: String,
        block: Map<String, Value>,
        /// See [`server_tool::input_type`].
        input_type: Option<String>,
        input: String,
    },
    /// A block of a type without a part of its own: kept as received and extended by the deltas.
    Item {
        block: Map<String, Value>,
        input: String,
        /// Whether it is the result of a call, which is shown as such.
        is_result: bool,
    },
}

impl OpenBlock {
    /// Begins a block and appends the parts for its start.
    pub(crate) fn start(raw: &str, state: &mut ReplyState, parts: &mut Vec<Part>) -> Result<Self, ModelError> {
        let mut spare = String::new();
        let start: Start<'_> = json::parse(raw, &mut spare).map_err(|error| json::parse_error("a block", &error))?;
        let new_id = |named: &mut u64| {
            *named += 1;
            format!("{}", *named - 1)
        };
        Ok(match start.kind() {
            "text" => {
                let id = new_id(&mut state.part_count);
                parts.push(Part::TextStart { id: id.clone() });
                push_text(&id, start.text, parts);
                Self::Text { id, citations: Vec::new(), cited: Vec::new(), compaction: None }
            }
            "compaction" => {
                let id = new_id(&mut state.part_count);
                parts.push(Part::TextStart { id: id.clone() });
                push_text(&id, start.content.and_then(content_text), parts);
                state.buffered.add(raw.len())?;
                let mut fields: Map<String, Value> = parse_block(raw)?;
                fields.remove("content");
                Self::Text { id, citations: Vec::new(), cited: Vec::new(), compaction: Some(fields) }
            }
            "thinking" => {
                let id = new_id(&mut state.part_count);
                parts.push(Part::ReasoningStart { id: id.clone(), metadata: None });
                push_thinking(&id, start.thinking, start.signature, parts);
                Self::Thinking { id }
            }
            "redacted_thinking" => {
                let id = new_id(&mut state.part_count);
                let metadata = start.data.map(|data| provider_metadata("redactedData", data.into()));
                parts.push(Part::ReasoningStart { id: id.clone(), metadata });
                Self::Thinking { id }
            }
            "tool_use" => {
                let (id, name) = (state.calls.assign(start.id)?, tool_name_or_default(start.name));
                parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
                let whole = start.input.map(|input| input.get()).filter(|input| !matches!(*input, "{}" | "null"));
                let caller = start.caller.and_then(|caller| serde_json::from_str::<Value>(caller.get()).ok());
                let caller = caller.filter(|caller| !caller.is_null());
                Self::Call { id, name, whole: whole.unwrap_or_default().to_owned(), input: String::new(), caller }
            }
            "server_tool_use" | "mcp_tool_use" => {
                state.buffered.add(raw.len())?;
                let block = parse_block(raw)?;
                let is_mcp = start.kind() == "mcp_tool_use";
                let (id, given) = (state.calls.assign(start.id)?, tool_name_or_default(start.name));
                let name =
                    if is_mcp { server_tool::mcp_name(&given) } else { server_tool::display_name(&given).to_owned() };
                let input_type = server_tool::input_type(&given).filter(|_| !is_mcp).map(str::to_owned);
                state.server_calls.push((id.clone(), name.clone()));
                parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: true });
                Self::ServerCall { id, name, block, input_type, input: String::new() }
            }
            _ => {
                state.buffered.add(raw.len())?;
                let block = parse_block(raw)?;
                let is_result = server_tool::push_result(&block, state, parts);
                Self::Item { block, input: String::new(), is_result }
            }
        })
    }

    /// Appends the parts of a delta; `raw` is the delta as received.
    pub(crate) fn push_delta(
        &mut self,
        delta: Delta<'_>,
        raw: &str,
        state: &mut ReplyState,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        match self {
            Self::Text { id, citations, cited, .. } => {
                push_text(id, delta.text.or_else(|| delta.content.and_then(content_text)), parts);
                if let Some(citation) = delta.citation {
                    state.buffered.add(citation.get().len())?;
                    if let Ok(citation) = serde_json::from_str::<Value>(citation.get()) {
                        server_tool::push_cited_source(&citation, state, parts);
                        cited.push(server_tool::citation(&citation, state));
                        citations.push(citation);
                    }
                }
            }
            Self::Thinking { id } => push_thinking(id, delta.thinking, delta.signature, parts),
            Self::Call { id, input, .. } | Self::ServerCall { id, input, .. } => {
                if let Some(json) = delta.partial_json.filter(|json| !json.is_empty()) {
                    state.buffered.add(json.len())?;
                    input.push_str(&json);
                    parts.push(Part::ToolInputDelta { id: id.clone(), delta: json });
                }
            }
            Self::Item { block, input, .. } => {
                state.buffered.add(raw.len())?;
                match delta.partial_json {
                    Some(json) => input.push_str(&json),
                    None => merge_delta(block, raw),
                }
            }
        }
        Ok(())
    }

    /// Appends the parts for the end of the block.
    pub(crate) fn finish(self, parts: &mut Vec<Part>) {
        match self {
            Self::Text { id, compaction: Some(fields), .. } => {
                let metadata = Map::from_iter([(PROVIDER.to_owned(), Value::Object(fields))]);
                parts.push(Part::TextEnd { id, metadata: Some(metadata), citations: Vec::new() });
            }
            Self::Text { id, citations, cited, .. } => {
                let metadata = (!citations.is_empty()).then(|| provider_metadata("citations", citations.into()));
                parts.push(Part::TextEnd { id, metadata, citations: cited });
            }
            Self::Thinking { id } => parts.push(Part::ReasoningEnd { id, metadata: None }),
            Self::Call { id, name, whole, input, caller } => {
                let input = if input.is_empty() { whole } else { input };
                let metadata = caller.map(|caller| provider_metadata("caller", caller));
                parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
            }
            Self::ServerCall { id, name, mut block, input_type, input } => {
                set_input(&mut block, &input);
                let input = block.get("input").map(Value::to_string).unwrap_or_default();
                let input = server_tool::with_input_type(input, input_type.as_deref());
                parts.push(Part::ToolCall { id, name, input, provider_executed: true, metadata: None });
                parts.push(provider_item(block, None));
            }
            Self::Item { mut block, input, is_result } => {
                set_input(&mut block, &input);
                let kind = block.get("type").and_then(Value::as_str).unwrap_or("block").to_owned();
                parts.push(provider_item(block, (!is_result).then_some(kind)));
            }
        }
    }

    /// Returns whether the block is valid without its end. Truncated arguments must not become a
    /// call, even if they happen to parse.
    pub(crate) fn can_end_early(&self) -> bool {
        matches!(self, Self::Text { .. } | Self::Thinking { .. })
    }

    /// Returns whether this start of a block repeats the one that began it.
    pub(crate) fn is_started_by(&self, raw: &str) -> bool {
        match self {
            Self::Call { id, input, .. } | Self::ServerCall { id, input, .. } => {
                let mut spare = String::new();
                let start = json::parse::<Start<'_>>(raw, &mut spare);
                input.is_empty() && start.is_ok_and(|start| start.id.as_ref() == Some(id))
            }
            _ => false,
        }
    }
}

/// Sets the input that the deltas contained; without deltas, the input of the start remains.
fn set_input(block: &mut Map<String, Value>, input: &str) {
    if let Ok(input) = serde_json::from_str::<Value>(input) {
        block.insert("input".to_owned(), input);
    }
}

fn provider_item(block: Map<String, Value>, shown_as: Option<String>) -> Part {
    Part::ProviderItem { provider: PROVIDER.to_owned(), item: Value::Object(block), shown_as }
}

/// Converts content to text; of the known blocks, only a compaction has such content.
fn content_text(content: &RawValue) -> Option<String> {
    json::text_from_json(content.get())
}

/// Appends a delta of text, unless it is empty.
pub(super) fn push_text(id: &str, delta: Option<String>, parts: &mut Vec<Part>) {
    if let Some(delta) = delta.filter(|delta| !delta.is_empty()) {
        parts.push(Part::TextDelta { id: id.to_owned(), delta });
    }
}

fn push_thinking(id: &str, delta: Option<String>, signature: Option<String>, parts: &mut Vec<Part>) {
    if let Some(delta) = delta.filter(|delta| !delta.is_empty()) {
        parts.push(Part::ReasoningDelta { id: id.to_owned(), delta, metadata: None });
    }
    if let Some(signature) = signature.filter(|signature| !signature.is_empty()) {
        let metadata = Some(provider_metadata("signature", signature.into()));
        parts.push(Part::ReasoningDelta { id: id.to_owned(), delta: String::new(), metadata });
    }
}

/// Merges a delta into a block of an unknown type: strings are extended, anything else is replaced.
fn merge_delta(block: &mut Map<String, Value>, raw: &str) {
    let Ok(delta) = serde_json::from_str::<Map<String, Value>>(raw) else { return };
    for (key, news) in delta.into_iter().filter(|(key, _)| key != "type") {
        match (block.get_mut(&key), news) {
            (Some(Value::String(known)), Value::String(news)) => known.push_str(&news),
            (_, Value::Null) => {}
            (_, news) => {
                block.insert(key, news);
            }
        }
    }
}

fn parse_block(raw: &str) -> Result<Map<String, Value>, ModelError> {
    serde_json::from_str(raw).map_err(|error| json::parse_error("a block", &error))
}
