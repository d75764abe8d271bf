//! The items of a reply, from the event that begins one to the one that ends it.
//!
//! Each event may be missing: an item that begins nowhere is told when it ends, and one that does not end is taken from the response
//! as a whole, which lists all items once more.

use super::PROVIDER;
use super::api::Item;
use super::server_tool::{self, Runner};
use super::stream::Reader;
use crate::driver::broken;
use crate::json::{read_owned, text_in};
use crate::lenient::tool_name;
use contract::{Citation, ModelError, Part, ProviderMetadata};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Items that may be open at once.
const MAX_OPEN: usize = 64;

/// An item that is arriving.
pub(super) struct OpenItem {
    /// Its place in the output.
    pub(super) place: u64,
    /// As the provider gave it when the item began.
    pub(super) given_id: Option<String>,
    pub(super) state: Open,
}

/// What has come of an item.
pub(super) enum Open {
    /// The text's id, and what role it has in the answer.
    Text { id: String, phase: Option<String>, citations: Vec<Citation>, is_empty: bool },
    /// The item's id; a reasoning part for each of its summaries, of which the last is open.
    Reasoning { item_id: String, summary: u64, is_empty: bool },
    /// The call's id and name, and its arguments so far.
    Call { id: String, name: String, input: String },
    /// A call of a tool that the provider has; its id, name and runner.
    Tool { id: String, name: String, runner: Runner, begun: Value },
    /// Of a kind that has no part: kept as it is when it is complete.
    Other,
}

impl Open {
    /// Whether it can be what has come of this item.
    fn fits(&self, item: &Item) -> bool {
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

impl Reader {
    /// Begins an item.
    pub(super) fn begin(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let Ok(item) = read_owned::<Item>(raw.get()) else { return Ok(()) };
        let is_repeated = |open: &OpenItem| index == Some(open.place) && item.id.is_some() && open.given_id == item.id;
        if self.open.iter().any(is_repeated) {
            return Ok(());
        }
        if self.open.len() >= MAX_OPEN {
            return Err(broken("too many open items"));
        }
        self.begun += 1;
        let place = self.new_place(index);
        let (given_id, state) = (item.id.clone(), self.state_of(item, raw, parts)?);
        self.open.push(OpenItem { place, given_id, state });
        Ok(())
    }

    /// Ends an item, which may not have begun.
    pub(super) fn end_item(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let Ok(item) = read_owned::<Item>(raw.get()) else { return Ok(()) };
        let open = self.find(index, item.id.as_deref()).map(|at| self.open.remove(at));
        let state = match open {
            Some(open) => {
                self.ended.insert(open.place);
                Some(open.state)
            }
            // The same item once more.
            None if index.is_some_and(|index| self.ended.contains(&index)) => return Ok(()),
            None => {
                self.begun += 1;
                let place = self.new_place(index);
                self.ended.insert(place);
                None
            }
        };
        self.complete(state, item, raw, parts)
    }

    /// Ends the items that have not ended, from the list of all items where they stand in it. Of a response that was cut off, only
    /// texts and thoughts count.
    ///
    /// # Errors
    /// When there is a call that ends nowhere.
    pub(super) fn end_rest(
        &mut self,
        all: &[&RawValue],
        is_cut_off: bool,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let listed: Vec<_> = all.iter().map(|raw| (*raw, read_owned::<Item>(raw.get()).unwrap_or_default())).collect();
        for OpenItem { place, given_id, state } in std::mem::take(&mut self.open) {
            self.ended.insert(place);
            let by_id = listed.iter().find(|(_, item)| given_id.is_some() && item.id == given_id);
            let by_place = || usize::try_from(place).ok().and_then(|place| listed.get(place));
            let by_place = || by_place().filter(|(_, item)| state.fits(item));
            match by_id.or_else(by_place).filter(|_| !is_cut_off) {
                Some((raw, item)) => self.complete(Some(state), item.clone(), raw, parts)?,
                None => self.end_unlisted(state, is_cut_off, parts)?,
            }
        }
        if is_cut_off || self.begun >= listed.len() {
            return Ok(());
        }
        for (place, (raw, item)) in (0..).zip(&listed) {
            let is_known = item.id.as_ref().is_some_and(|id| self.seen.contains(id));
            if !self.ended.contains(&place) && !is_known {
                self.complete(None, item.clone(), raw, parts)?;
            }
        }
        Ok(())
    }

    /// Ends an item of which no more is known than what has come.
    fn end_unlisted(&mut self, state: Open, is_cut_off: bool, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let is_call = matches!(&state, Open::Call { .. } | Open::Tool { runner: Runner::Caller, .. });
        match state {
            _ if is_call && !is_cut_off => {
                Err(broken("the response was completed without the `response.output_item.done` of a tool call"))
            }
            Open::Text { .. } | Open::Reasoning { .. } => {
                let raw = RawValue::NULL;
                self.complete(Some(state), Item::default(), raw, parts)
            }
            Open::Tool { begun, id, name, runner: Runner::Provider } => {
                self.end_tool(id, name, Runner::Provider, begun, parts);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Appends the parts with which an item begins.
    fn state_of(&mut self, item: Item, raw: &RawValue, parts: &mut Vec<Part>) -> Result<Open, ModelError> {
        if let Some(id) = &item.id {
            self.held.grow(id.len())?;
            self.seen.insert(id.clone());
        }
        Ok(match item.kind.as_deref().unwrap_or_default() {
            "message" => self.begin_text(item.id, item.phase, parts),
            "reasoning" => self.begin_reasoning(item.id, item.encrypted_content, parts),
            "function_call" => {
                let (id, name) = (self.calls.name(item.call_id)?, tool_name(item.name));
                parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
                Open::Call { id, name, input: String::new() }
            }
            _ => self.begin_tool(raw, parts)?,
        })
    }

    pub(super) fn begin_text(&mut self, id: Option<String>, phase: Option<String>, parts: &mut Vec<Part>) -> Open {
        let id = self.part_name(id);
        parts.push(Part::TextStart { id: id.clone() });
        Open::Text { id, phase, citations: Vec::new(), is_empty: true }
    }

    pub(super) fn begin_reasoning(
        &mut self,
        id: Option<String>,
        encrypted: Option<String>,
        parts: &mut Vec<Part>,
    ) -> Open {
        let item_id = self.part_name(id);
        let metadata = Some(metadata(&item_id, encrypted));
        parts.push(Part::ReasoningStart { id: part_id(&item_id, 0), metadata });
        Open::Reasoning { item_id, summary: 0, is_empty: true }
    }

    /// The item's own id, unless there is none or an open item has it.
    fn part_name(&mut self, given: Option<String>) -> String {
        let is_free = |id: &String| {
            !id.is_empty()
                && !self.open.iter().any(|open| match &open.state {
                    Open::Text { id: known, .. } | Open::Reasoning { item_id: known, .. } => known == id,
                    _ => false,
                })
        };
        let free = given.filter(is_free);
        free.unwrap_or_else(|| {
            self.named += 1;
            format!("item-{}", self.named)
        })
    }

    /// Begins an item of a kind that has no part of its own; a call if it is one.
    fn begin_tool(&mut self, raw: &RawValue, parts: &mut Vec<Part>) -> Result<Open, ModelError> {
        let begun = self.whole(raw)?;
        let Some((name, runner)) = server_tool::call_of(&begun) else { return Ok(Open::Other) };
        let (id, name) = (self.calls.name(server_tool::call_id(&begun))?, server_tool::shown_name(&begun, &name));
        let provider_executed = runner == Runner::Provider;
        parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed });
        Ok(Open::Tool { id, name, runner, begun })
    }

    /// Appends the parts with which an item ends, and those with which it should have begun.
    fn complete(
        &mut self,
        state: Option<Open>,
        item: Item,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let state = match state {
            None | Some(Open::Other) => self.state_of(item.clone(), raw, parts)?,
            Some(state) => state,
        };
        match state {
            Open::Text { id, phase, mut citations, is_empty } => {
                if is_empty {
                    self.tell_text(&id, &mut citations, raw, parts)?;
                }
                let mut metadata = metadata(&id, None);
                if let Some(phase) = item.phase.or(phase) {
                    metadata[PROVIDER]["phase"] = phase.into();
                }
                parts.push(Part::TextEnd { id, metadata: Some(metadata), citations });
            }
            Open::Reasoning { item_id, mut summary, is_empty } => {
                if is_empty {
                    summary = self.tell_reasoning(&item_id, raw, parts)?;
                }
                let metadata = Some(metadata(&item_id, item.encrypted_content));
                parts.push(Part::ReasoningEnd { id: part_id(&item_id, summary), metadata });
            }
            Open::Call { id, name, input } => {
                self.has_called = true;
                let caller = item.caller.filter(|caller| !caller.is_null());
                let mut metadata = item.id.map(|item_id| metadata(&item_id, None));
                if let (Some(metadata), Some(caller)) = (&mut metadata, caller) {
                    metadata[PROVIDER]["caller"] = caller;
                }
                let input = item.arguments.filter(|whole| !whole.is_empty()).unwrap_or(input);
                parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
            }
            Open::Tool { id, name, runner, .. } => {
                let item = self.whole(raw)?;
                self.end_tool(id, name, runner, item, parts);
            }
            Open::Other => {
                let item = self.whole(raw)?;
                let is_call = item["type"] == server_tool::REMOTE_CALL;
                let id = is_call.then(|| self.calls.name(server_tool::call_id(&item))).transpose()?;
                self.keep(item, id, parts);
            }
        }
        Ok(())
    }

    fn end_tool(&mut self, id: String, name: String, runner: Runner, item: Value, parts: &mut Vec<Part>) {
        let provider_executed = runner == Runner::Provider;
        // A call that the provider makes once the user says yes is none that it waits for.
        self.has_called |= !provider_executed && item["type"] != server_tool::APPROVAL_REQUEST;
        let (input, metadata) = (server_tool::input(&item).to_string(), Some(server_tool::metadata(&item, runner)));
        parts.push(Part::ToolCall { id: id.clone(), name, input, provider_executed, metadata });
        if provider_executed || server_tool::is_own_kind(&item) {
            self.keep(item, Some(id), parts);
        }
    }

    /// Tells what an item brings, and keeps it as it came. `call_id` is that of the call that the item is.
    fn keep(&mut self, item: Value, call_id: Option<String>, parts: &mut Vec<Part>) {
        self.tools.complete(&item, call_id, parts);
        parts.push(Part::ProviderItem { provider: PROVIDER.to_owned(), item });
    }

    fn whole(&mut self, raw: &RawValue) -> Result<Value, ModelError> {
        self.held.grow(raw.get().len())?;
        Ok(serde_json::from_str(raw.get()).unwrap_or(Value::Null))
    }

    /// Tells a text of which no delta has come.
    fn tell_text(
        &mut self,
        id: &str,
        citations: &mut Vec<Citation>,
        raw: &RawValue,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let item = self.whole(raw)?;
        for content in item["content"].as_array().into_iter().flatten() {
            let is_refusal = !content["refusal"].is_null();
            self.refused |= is_refusal;
            let delta = text_in(&content[if is_refusal { "refusal" } else { "text" }]).unwrap_or_default();
            if !delta.is_empty() {
                parts.push(Part::TextDelta { id: id.to_owned(), delta });
            }
            for annotation in content["annotations"].as_array().into_iter().flatten() {
                if let Ok(annotation) = read_owned(&annotation.to_string()) {
                    citations.extend(self.cite(annotation, parts)?);
                }
            }
        }
        Ok(())
    }

    /// Tells a reasoning of which no delta has come; the last of its summaries stays open.
    fn tell_reasoning(&mut self, item_id: &str, raw: &RawValue, parts: &mut Vec<Part>) -> Result<u64, ModelError> {
        let item = self.whole(raw)?;
        let list = |key: &str| item[key].as_array().filter(|list| !list.is_empty());
        let told = list("summary").or_else(|| list("content")).into_iter().flatten();
        let mut last = 0;
        for (number, delta) in (0..).zip(told.filter_map(|summary| text_in(&summary["text"]))) {
            if number > 0 {
                parts.push(Part::ReasoningEnd { id: part_id(item_id, last), metadata: None });
                let metadata = Some(metadata(item_id, None));
                parts.push(Part::ReasoningStart { id: part_id(item_id, number), metadata });
            }
            parts.push(Part::ReasoningDelta { id: part_id(item_id, number), delta, metadata: None });
            last = number;
        }
        Ok(last)
    }
}

/// The id of a reasoning's summary.
pub(super) fn part_id(item_id: &str, summary: u64) -> String {
    format!("{item_id}:{summary}")
}

/// What goes back to OpenAI with a part.
pub(super) fn metadata(item_id: &str, encrypted: Option<String>) -> ProviderMetadata {
    let mut own = json!({ "itemId": item_id });
    if let Some(encrypted) = encrypted {
        own["reasoningEncryptedContent"] = encrypted.into();
    }
    Map::from_iter([(PROVIDER.to_owned(), own)])
}
