//! Decodes the items of a reply, from the event that begins one to the one that ends it.
//!
//! Each event may be missing: an item without a start is reported when it ends, and one without an
//! end is taken from the complete response, which repeats all items.

use super::PROVIDER;
use super::api::Item;
use super::server_tool::{self, ToolExecutor};
use super::stream::ResponsesCodec;
use crate::driver::stream_error;
use crate::json::{parse_owned, text_from_value};
use crate::lenient::tool_name_or_default;
use contract::{Citation, ModelError, Part, ProviderMetadata};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The maximum number of open items.
const MAX_OPEN: usize = 64;

/// An item that is not complete yet.
pub(super) struct OpenItem {
    /// The index in the output.
    pub(super) output_index: u64,
    /// The id that the provider gave it when the item began.
    pub(super) provider_id: Option<String>,
    pub(super) state: ItemState,
}

/// The content of an item so far.
pub(super) enum ItemState {
    /// A text with its id and its phase in the answer.
    Text { id: String, phase: Option<String>, citations: Vec<Citation>, is_empty: bool },
    /// Reasoning with the item's id. Each summary is a reasoning part; the last one is open.
    Reasoning { item_id: String, summary: u64, is_empty: bool },
    /// A function call with its id, name and arguments so far.
    Call { id: String, name: String, input: String },
    /// A call of a tool that OpenAI defines, with its id, name and executor.
    Tool { id: String, name: String, runner: ToolExecutor, begun: Value },
    /// An item of a type without a part of its own; kept unchanged when it is complete.
    Other,
}

impl ItemState {
    /// Returns whether this can be the start of an item.
    fn matches_item(&self, item: &Item) -> bool {
        let kind = item.kind.as_deref().unwrap_or_default();
        match self {
            Self::Text { .. } => kind == "message",
            Self::Reasoning { .. } => kind == "reasoning",
            Self::Call { .. } => kind == "function_call",
            Self::Tool { begun, .. } => begun["type"] == kind,
            Self::Other => true,
        }
    }
}

impl ResponsesCodec {
    /// Begins an item.
    pub(super) fn begin_item(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let Ok(item) = parse_owned::<Item>(raw.get()) else { return Ok(()) };
        let is_repeated =
            |open: &OpenItem| index == Some(open.output_index) && item.id.is_some() && open.provider_id == item.id;
        if self.open_items.iter().any(is_repeated) {
            return Ok(());
        }
        if self.open_items.len() >= MAX_OPEN {
            return Err(stream_error("too many open items"));
        }
        self.item_count += 1;
        let place = self.new_output_index(index);
        let (given_id, state) = (item.id.clone(), self.start_item(item, raw, parts)?);
        self.open_items.push(OpenItem { output_index: place, provider_id: given_id, state });
        Ok(())
    }

    /// Ends an item, even if its start is missing.
    pub(super) fn end_item(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let Ok(item) = parse_owned::<Item>(raw.get()) else { return Ok(()) };
        let open = self.find_open_item(index, item.id.as_deref()).map(|at| self.open_items.remove(at));
        let state = match open {
            Some(open) => {
                self.ended_indexes.insert(open.output_index);
                Some(open.state)
            }
            // A repeated item.
            None if index.is_some_and(|index| self.ended_indexes.contains(&index)) => return Ok(()),
            None => {
                self.item_count += 1;
                let place = self.new_output_index(index);
                self.ended_indexes.insert(place);
                None
            }
        };
        self.complete_item(state, item, raw, parts)
    }

    /// Ends all open items with their final versions in the response's list of items. If the
    /// response was cut off, only texts and reasoning are ended.
    ///
    /// # Errors
    /// If a call has no end.
    pub(super) fn end_open_items(
        &mut self,
        all: &[&RawValue],
        is_cut_off: bool,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let listed: Vec<_> = all.iter().map(|raw| (*raw, parse_owned::<Item>(raw.get()).unwrap_or_default())).collect();
        for OpenItem { output_index: place, provider_id: given_id, state } in std::mem::take(&mut self.open_items) {
            self.ended_indexes.insert(place);
            let by_id = listed.iter().find(|(_, item)| given_id.is_some() && item.id == given_id);
            let by_place = || usize::try_from(place).ok().and_then(|place| listed.get(place));
            let by_place = || by_place().filter(|(_, item)| state.matches_item(item));
            match by_id.or_else(by_place).filter(|_| !is_cut_off) {
                Some((raw, item)) => self.complete_item(Some(state), item.clone(), raw, parts)?,
                None => self.end_unlisted(state, is_cut_off, parts)?,
            }
        }
        if is_cut_off || self.item_count >= listed.len() {
            return Ok(());
        }
        for (place, (raw, item)) in (0..).zip(&listed) {
            let is_known = item.id.as_ref().is_some_and(|id| self.seen_ids.contains(id));
            if !self.ended_indexes.contains(&place) && !is_known {
                self.complete_item(None, item.clone(), raw, parts)?;
            }
        }
        Ok(())
    }

    /// Ends an item that is missing in the response's list.
    fn end_unlisted(&mut self, state: ItemState, is_cut_off: bool, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let is_call = matches!(&state, ItemState::Call { .. } | ItemState::Tool { runner: ToolExecutor::Caller, .. });
        match state {
            _ if is_call && !is_cut_off => {
                Err(stream_error("the response was completed without the `response.output_item.done` of a tool call"))
            }
            ItemState::Text { .. } | ItemState::Reasoning { .. } => {
                let raw = RawValue::NULL;
                self.complete_item(Some(state), Item::default(), raw, parts)
            }
            ItemState::Tool { begun, id, name, runner: ToolExecutor::Provider } => {
                self.end_tool_call(id, name, ToolExecutor::Provider, begun, parts);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Appends the parts for the start of an item.
    fn start_item(&mut self, item: Item, raw: &RawValue, parts: &mut Vec<Part>) -> Result<ItemState, ModelError> {
        if let Some(id) = &item.id {
            self.buffered.add(id.len())?;
            self.seen_ids.insert(id.clone());
        }
        Ok(match item.kind.as_deref().unwrap_or_default() {
            "message" => self.begin_text(item.id, item.phase, parts),
            "reasoning" => self.begin_reasoning(item.id, item.encrypted_content, parts),
            "function_call" => {
                let (id, name) = (self.calls.assign(item.call_id)?, tool_name_or_default(item.name));
                parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
                ItemState::Call { id, name, input: String::new() }
            }
            _ => self.begin_tool_item(raw, parts)?,
        })
    }

    pub(super) fn begin_text(&mut self, id: Option<String>, phase: Option<String>, parts: &mut Vec<Part>) -> ItemState {
        let id = self.unique_part_id(id);
        parts.push(Part::TextStart { id: id.clone() });
        ItemState::Text { id, phase, citations: Vec::new(), is_empty: true }
    }

    pub(super) fn begin_reasoning(
        &mut self,
        id: Option<String>,
        encrypted: Option<String>,
        parts: &mut Vec<Part>,
    ) -> ItemState {
        let item_id = self.unique_part_id(id);
        let metadata = Some(item_metadata(&item_id, encrypted));
        parts.push(Part::ReasoningStart { id: summary_part_id(&item_id, 0), metadata });
        ItemState::Reasoning { item_id, summary: 0, is_empty: true }
    }

    /// Returns the item's own id; a new one if it has none or an open item uses it.
    fn unique_part_id(&mut self, given: Option<String>) -> String {
        let is_free = |id: &String| {
            !id.is_empty()
                && !self.open_items.iter().any(|open| match &open.state {
                    ItemState::Text { id: known, .. } | ItemState::Reasoning { item_id: known, .. } => known == id,
                    _ => false,
                })
        };
        let free = given.filter(is_free);
        free.unwrap_or_else(|| {
            self.generated_ids += 1;
            format!("item-{}", self.generated_ids)
        })
    }

    /// Begins an item of a type without a part of its own; a tool call if it is one.
    fn begin_tool_item(&mut self, raw: &RawValue, parts: &mut Vec<Part>) -> Result<ItemState, ModelError> {
        let begun = self.parse_item(raw)?;
        let Some((name, runner)) = server_tool::identify_call(&begun) else { return Ok(ItemState::Other) };
        let (id, name) = (self.calls.assign(server_tool::call_id(&begun))?, server_tool::display_name(&begun, &name));
        let provider_executed = runner == ToolExecutor::Provider;
        parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed });
        Ok(ItemState::Tool { id, name, runner, begun })
    }

    /// Appends the parts for the end of an item, and those for its start if they are missing.
    fn complete_item(
        &mut self,
        state: Option<ItemState>,
        item: Item,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let state = match state {
            None | Some(ItemState::Other) => self.start_item(item.clone(), raw, parts)?,
            Some(state) => state,
        };
        match state {
            ItemState::Text { id, phase, mut citations, is_empty } => {
                if is_empty {
                    self.push_whole_text(&id, &mut citations, raw, parts)?;
                }
                let mut metadata = item_metadata(&id, None);
                if let Some(phase) = item.phase.or(phase) {
                    metadata[PROVIDER]["phase"] = phase.into();
                }
                parts.push(Part::TextEnd { id, metadata: Some(metadata), citations });
            }
            ItemState::Reasoning { item_id, mut summary, is_empty } => {
                if is_empty {
                    summary = self.push_whole_reasoning(&item_id, raw, parts)?;
                }
                let metadata = Some(item_metadata(&item_id, item.encrypted_content));
                parts.push(Part::ReasoningEnd { id: summary_part_id(&item_id, summary), metadata });
            }
            ItemState::Call { id, name, input } => {
                self.has_tool_calls = true;
                let caller = item.caller.filter(|caller| !caller.is_null());
                let mut metadata = item.id.map(|item_id| item_metadata(&item_id, None));
                if let (Some(metadata), Some(caller)) = (&mut metadata, caller) {
                    metadata[PROVIDER]["caller"] = caller;
                }
                if let Some(namespace) = item.namespace.filter(|namespace| !namespace.is_empty()) {
                    let own = metadata.get_or_insert_default().entry(PROVIDER).or_insert_with(|| json!({}));
                    own["namespace"] = namespace.into();
                }
                let input = item.arguments.filter(|whole| !whole.is_empty()).unwrap_or(input);
                parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
            }
            ItemState::Tool { id, name, runner, .. } => {
                let item = self.parse_item(raw)?;
                self.end_tool_call(id, name, runner, item, parts);
            }
            ItemState::Other => {
                let item = self.parse_item(raw)?;
                let is_call = item["type"] == server_tool::MCP_CALL;
                let id = is_call.then(|| self.calls.assign(server_tool::call_id(&item))).transpose()?;
                self.push_item(item, id, parts);
            }
        }
        Ok(())
    }

    fn end_tool_call(&mut self, id: String, name: String, runner: ToolExecutor, item: Value, parts: &mut Vec<Part>) {
        let provider_executed = runner == ToolExecutor::Provider;
        // A call that waits for an approval and is then run by the provider does not count as a
        // call for the caller.
        self.has_tool_calls |= !provider_executed && item["type"] != server_tool::APPROVAL_REQUEST;
        let (input, metadata) =
            (server_tool::call_input(&item).to_string(), Some(server_tool::call_metadata(&item, runner)));
        parts.push(Part::ToolCall { id: id.clone(), name, input, provider_executed, metadata });
        if provider_executed || server_tool::is_own_kind(&item) {
            self.push_item(item, Some(id), parts);
        }
    }

    /// Appends the results in an item, and the item as received. `call_id` is the id of the item's
    /// own call.
    fn push_item(&mut self, item: Value, call_id: Option<String>, parts: &mut Vec<Part>) {
        let before = parts.len();
        self.tools.push_results(&item, call_id, parts);
        let is_shown = parts.len() > before || server_tool::identify_call(&item).is_some();
        let kind = (!is_shown).then(|| text_from_value(&item["type"]).unwrap_or_else(|| "item".to_owned()));
        parts.push(Part::ProviderItem { provider: PROVIDER.to_owned(), item, shown_as: kind });
    }

    fn parse_item(&mut self, raw: &RawValue) -> Result<Value, ModelError> {
        self.buffered.add(raw.get().len())?;
        Ok(serde_json::from_str(raw.get()).unwrap_or(Value::Null))
    }

    /// Appends a text for which no delta has arrived.
    fn push_whole_text(
        &mut self,
        id: &str,
        citations: &mut Vec<Citation>,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let item = self.parse_item(raw)?;
        for content in item["content"].as_array().into_iter().flatten() {
            let is_refusal = !content["refusal"].is_null();
            self.has_refusal |= is_refusal;
            let delta = text_from_value(&content[if is_refusal { "refusal" } else { "text" }]).unwrap_or_default();
            if !delta.is_empty() {
                parts.push(Part::TextDelta { id: id.to_owned(), delta });
            }
            for annotation in content["annotations"].as_array().into_iter().flatten() {
                if let Ok(annotation) = parse_owned(&annotation.to_string()) {
                    citations.extend(self.add_citation(annotation, parts)?);
                }
            }
        }
        Ok(())
    }

    /// Appends reasoning for which no delta has arrived; its last summary stays open.
    fn push_whole_reasoning(
        &mut self,
        item_id: &str,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<u64, ModelError> {
        let item = self.parse_item(raw)?;
        let list = |key: &str| item[key].as_array().filter(|list| !list.is_empty());
        let summaries = list("summary").or_else(|| list("content")).into_iter().flatten();
        let mut last = 0;
        for (number, delta) in (0..).zip(summaries.filter_map(|summary| text_from_value(&summary["text"]))) {
            if number > 0 {
                parts.push(Part::ReasoningEnd { id: summary_part_id(item_id, last), metadata: None });
                let metadata = Some(item_metadata(item_id, None));
                parts.push(Part::ReasoningStart { id: summary_part_id(item_id, number), metadata });
            }
            parts.push(Part::ReasoningDelta { id: summary_part_id(item_id, number), delta, metadata: None });
            last = number;
        }
        Ok(last)
    }
}

/// Returns the id of a summary's reasoning part.
pub(super) fn summary_part_id(item_id: &str, summary: u64) -> String {
    format!("{item_id}:{summary}")
}

/// Creates metadata that is sent back to OpenAI with a part.
pub(super) fn item_metadata(item_id: &str, encrypted: Option<String>) -> ProviderMetadata {
    let mut own = json!({ "itemId": item_id });
    if let Some(encrypted) = encrypted {
        own["reasoningEncryptedContent"] = encrypted.into();
    }
    Map::from_iter([(PROVIDER.to_owned(), own)])
}
