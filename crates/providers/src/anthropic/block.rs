//! One content block while it arrives.

use super::PROVIDER;
use super::api::{Block as Start, Delta};
use super::server_tool;
use super::stream::{State, metadata};
use crate::json;
use crate::lenient::tool_name;
use contract::{Citation, ModelError, Part};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A block that is arriving.
pub(crate) enum Block {
    Text {
        id: String,
        /// As they came; they go back with the text.
        citations: Vec<Value>,
        /// What they mean.
        cited: Vec<Citation>,
        /// Of a summary that takes the place of what came before it: its other fields. It goes back as such.
        compaction: Option<Map<String, Value>>,
    },
    Thinking {
        id: String,
    },
    Call {
        id: String,
        name: String,
        /// What the start held already; counts unless deltas come.
        whole: String,
        input: String,
        /// A program of the provider's made the call; goes back with it.
        caller: Option<Value>,
    },
    /// A call that the provider runs itself. The block goes back as it came.
    Server {
        id: String,
        name: String,
        block: Map<String, Value>,
        /// See [`server_tool::input_type`].
        input_type: Option<String>,
        input: String,
    },
    /// Of a kind that has no part: kept as it came, with what the deltas add.
    Item {
        block: Map<String, Value>,
        input: String,
    },
}

impl Block {
    /// Appends the part with which a block begins, and what it holds from the start.
    pub(crate) fn start(raw: &str, state: &mut State, parts: &mut Vec<Part>) -> Result<Self, ModelError> {
        let mut spare = String::new();
        let start: Start<'_> = json::read(raw, &mut spare).map_err(|error| json::unreadable("a block", &error))?;
        let new_id = |named: &mut u64| {
            *named += 1;
            format!("{}", *named - 1)
        };
        Ok(match start.kind() {
            "text" => {
                let id = new_id(&mut state.named);
                parts.push(Part::TextStart { id: id.clone() });
                text(&id, start.text, parts);
                Self::Text { id, citations: Vec::new(), cited: Vec::new(), compaction: None }
            }
            "compaction" => {
                let id = new_id(&mut state.named);
                parts.push(Part::TextStart { id: id.clone() });
                text(&id, start.content.and_then(whole_text), parts);
                state.held.grow(raw.len())?;
                let mut fields: Map<String, Value> = read(raw)?;
                fields.remove("content");
                Self::Text { id, citations: Vec::new(), cited: Vec::new(), compaction: Some(fields) }
            }
            "thinking" => {
                let id = new_id(&mut state.named);
                parts.push(Part::ReasoningStart { id: id.clone(), metadata: None });
                thinking(&id, start.thinking, start.signature, parts);
                Self::Thinking { id }
            }
            "redacted_thinking" => {
                let id = new_id(&mut state.named);
                let metadata = start.data.map(|data| metadata("redactedData", data.into()));
                parts.push(Part::ReasoningStart { id: id.clone(), metadata });
                Self::Thinking { id }
            }
            "tool_use" => {
                let (id, name) = (state.calls.name(start.id)?, tool_name(start.name));
                parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
                let whole = start.input.map(|input| input.get()).filter(|input| !matches!(*input, "{}" | "null"));
                let caller = start.caller.and_then(|caller| serde_json::from_str::<Value>(caller.get()).ok());
                let caller = caller.filter(|caller| !caller.is_null());
                Self::Call { id, name, whole: whole.unwrap_or_default().to_owned(), input: String::new(), caller }
            }
            "server_tool_use" | "mcp_tool_use" => {
                state.held.grow(raw.len())?;
                let block = read(raw)?;
                let is_mcp = start.kind() == "mcp_tool_use";
                let (id, given) = (state.calls.name(start.id)?, tool_name(start.name));
                let name = if is_mcp { given.clone() } else { server_tool::shown_name(&given).to_owned() };
                let input_type = server_tool::input_type(&given).filter(|_| !is_mcp).map(str::to_owned);
                state.tools.push((id.clone(), name.clone()));
                parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: true });
                Self::Server { id, name, block, input_type, input: String::new() }
            }
            _ => {
                state.held.grow(raw.len())?;
                let block = read(raw)?;
                server_tool::result(&block, state, parts);
                Self::Item { block, input: String::new() }
            }
        })
    }

    /// Appends what a delta adds; `raw` is the delta as it came.
    pub(crate) fn delta(
        &mut self,
        delta: Delta<'_>,
        raw: &str,
        state: &mut State,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        match self {
            Self::Text { id, citations, cited, .. } => {
                text(id, delta.text.or_else(|| delta.content.and_then(whole_text)), parts);
                if let Some(citation) = delta.citation {
                    state.held.grow(citation.get().len())?;
                    if let Ok(citation) = serde_json::from_str::<Value>(citation.get()) {
                        server_tool::cite(&citation, state, parts);
                        cited.push(server_tool::citation(&citation, state));
                        citations.push(citation);
                    }
                }
            }
            Self::Thinking { id } => thinking(id, delta.thinking, delta.signature, parts),
            Self::Call { id, input, .. } | Self::Server { id, input, .. } => {
                if let Some(json) = delta.partial_json.filter(|json| !json.is_empty()) {
                    state.held.grow(json.len())?;
                    input.push_str(&json);
                    parts.push(Part::ToolInputDelta { id: id.clone(), delta: json });
                }
            }
            Self::Item { block, input } => {
                state.held.grow(raw.len())?;
                match delta.partial_json {
                    Some(json) => input.push_str(&json),
                    None => merge(block, raw),
                }
            }
        }
        Ok(())
    }

    /// Appends the parts with which the block ends.
    pub(crate) fn stop(self, parts: &mut Vec<Part>) {
        match self {
            Self::Text { id, compaction: Some(fields), .. } => {
                let metadata = Map::from_iter([(PROVIDER.to_owned(), Value::Object(fields))]);
                parts.push(Part::TextEnd { id, metadata: Some(metadata), citations: Vec::new() });
            }
            Self::Text { id, citations, cited, .. } => {
                let metadata = (!citations.is_empty()).then(|| metadata("citations", citations.into()));
                parts.push(Part::TextEnd { id, metadata, citations: cited });
            }
            Self::Thinking { id } => parts.push(Part::ReasoningEnd { id, metadata: None }),
            Self::Call { id, name, whole, input, caller } => {
                let input = if input.is_empty() { whole } else { input };
                let metadata = caller.map(|caller| metadata("caller", caller));
                parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
            }
            Self::Server { id, name, mut block, input_type, input } => {
                set_input(&mut block, &input);
                let input = block.get("input").map(Value::to_string).unwrap_or_default();
                let input = server_tool::typed_input(input, input_type.as_deref());
                parts.push(Part::ToolCall { id, name, input, provider_executed: true, metadata: None });
                parts.push(item(block));
            }
            Self::Item { mut block, input } => {
                set_input(&mut block, &input);
                parts.push(item(block));
            }
        }
    }

    /// Whether what has come may stand without the rest. Arguments of which the end is missing must not become a call, even
    /// where they happen to parse.
    pub(crate) fn can_end_early(&self) -> bool {
        matches!(self, Self::Text { .. } | Self::Thinking { .. })
    }

    /// Whether this start of a block is the one that began it, once more.
    pub(crate) fn is_begun_by(&self, raw: &str) -> bool {
        match self {
            Self::Call { id, input, .. } | Self::Server { id, input, .. } => {
                let mut spare = String::new();
                let start = json::read::<Start<'_>>(raw, &mut spare);
                input.is_empty() && start.is_ok_and(|start| start.id.as_ref() == Some(id))
            }
            _ => false,
        }
    }
}

/// What came in pieces is the input; what the start held is it otherwise.
fn set_input(block: &mut Map<String, Value>, input: &str) {
    if let Ok(input) = serde_json::from_str::<Value>(input) {
        block.insert("input".to_owned(), input);
    }
}

fn item(block: Map<String, Value>) -> Part {
    Part::ProviderItem { provider: PROVIDER.to_owned(), item: Value::Object(block) }
}

/// A content that is a text; of the blocks that are understood, only a compaction has one.
fn whole_text(content: &RawValue) -> Option<String> {
    json::text_of(content.get())
}

fn text(id: &str, delta: Option<String>, parts: &mut Vec<Part>) {
    if let Some(delta) = delta.filter(|delta| !delta.is_empty()) {
        parts.push(Part::TextDelta { id: id.to_owned(), delta });
    }
}

fn thinking(id: &str, delta: Option<String>, signature: Option<String>, parts: &mut Vec<Part>) {
    if let Some(delta) = delta.filter(|delta| !delta.is_empty()) {
        parts.push(Part::ReasoningDelta { id: id.to_owned(), delta, metadata: None });
    }
    if let Some(signature) = signature.filter(|signature| !signature.is_empty()) {
        let metadata = Some(metadata("signature", signature.into()));
        parts.push(Part::ReasoningDelta { id: id.to_owned(), delta: String::new(), metadata });
    }
}

/// Adds a delta to a block that is not understood: texts grow, anything else is replaced.
fn merge(block: &mut Map<String, Value>, raw: &str) {
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

fn read(raw: &str) -> Result<Map<String, Value>, ModelError> {
    serde_json::from_str(raw).map_err(|error| json::unreadable("a block", &error))
}
