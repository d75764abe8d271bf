//! Assembles the tool calls of a reply from chunks that not every gateway labels correctly.

use super::api::{Arguments, Function, ToolCall as Piece};
use super::stream::provider_metadata;
use crate::json::{self, parse_error};
use crate::lenient::{BufferedBytes, CallIds, tool_name_or_default};
use contract::{ModelError, Part, ProviderMetadata};
use serde_json::Value;

/// The calls so far, in the order of their first chunks.
#[derive(Default)]
pub(crate) struct ToolCallAssembler {
    calls: Vec<PartialCall>,
    ids: CallIds,
    buffered: BufferedBytes,
}

struct PartialCall {
    index: Option<u64>,
    /// The id that the gateway gave it.
    provider_id: Option<String>,
    /// The id and name; set once the name has arrived and the call's start has been reported.
    announced: Option<AnnouncedCall>,
    input: String,
    metadata: Option<ProviderMetadata>,
}

struct AnnouncedCall {
    id: String,
    name: String,
}

impl ToolCallAssembler {
    /// Adds a chunk of a call and appends its parts.
    pub(crate) fn push_chunk(&mut self, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let mut spare = String::new();
        let piece: Piece<'_> = json::parse(raw, &mut spare).map_err(|error| parse_error("`tool_calls`", &error))?;
        let given = piece.id.filter(|id| !id.trim().is_empty());
        let function = match piece.function.object("function")? {
            Some(raw) => json::parse_owned(raw).map_err(|error| parse_error("`function`", &error))?,
            None => Function::default(),
        };
        let name = function.name.filter(|name| !name.trim().is_empty());
        let Arguments(json) = function.arguments;
        if self.calls.iter().any(|call| call.is_repeated_by(given.as_deref(), name.as_deref(), &json)) {
            return Ok(());
        }
        let known = self.find_call(piece.index, given.as_deref(), name.as_deref(), &json);
        if known.is_none() && name.is_none() && given.is_none() && json.is_empty() {
            return Ok(());
        }
        let at = known.unwrap_or(self.calls.len());
        if at == self.calls.len() {
            self.calls.push(PartialCall {
                index: piece.index,
                provider_id: None,
                announced: None,
                input: String::new(),
                metadata: None,
            });
        }
        self.buffered.add(json.len() + 1)?;
        let call = &mut self.calls[at];
        call.provider_id = call.provider_id.take().or(given);
        if let Some(extra) = piece.extra_content.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()) {
            self.buffered.add(extra.to_string().len())?;
            call.metadata = Some(provider_metadata("extraContent", extra));
        }
        call.input.push_str(&json);
        match &call.announced {
            Some(named) if !json.is_empty() => {
                parts.push(Part::ToolInputDelta { id: named.id.clone(), delta: json });
            }
            None if name.is_some() => call.announce(name, &mut self.ids, parts)?,
            _ => {}
        }
        Ok(())
    }

    /// Returns the call that a chunk continues; `None` if it begins a call. With an index, it is
    /// the newest call with that index; with an id only, the call with that id; with neither, the
    /// newest call unless the chunk names a tool.
    fn find_call(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>, json: &str) -> Option<usize> {
        let with_id =
            || self.calls.iter().rposition(|call| call.provider_id.is_some() && call.provider_id.as_deref() == id);
        let at = match (index, id) {
            (Some(index), _) => self.calls.iter().rposition(|call| call.index == Some(index)),
            (None, Some(_)) => with_id(),
            (None, None) if name.is_none() => self.calls.len().checked_sub(1),
            (None, None) => None,
        }?;
        self.calls[at].accepts_chunk(id, name, json).then_some(at)
    }

    /// Appends the complete calls.
    pub(crate) fn finish(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let mut calls = std::mem::take(&mut self.calls);
        if calls.iter().all(|call| call.index.is_some()) {
            calls.sort_by_key(|call| call.index);
        }
        for mut call in calls {
            if call.announced.is_none() {
                call.announce(None, &mut self.ids, parts)?;
            }
            if let Some(AnnouncedCall { id, name }) = call.announced {
                let metadata = call.metadata;
                parts.push(Part::ToolCall { id, name, input: call.input, provider_executed: false, metadata });
            }
        }
        Ok(())
    }
}

impl PartialCall {
    /// Appends the start of the call, and the arguments that arrived before its name.
    fn announce(&mut self, name: Option<String>, ids: &mut CallIds, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let (id, name) = (ids.assign(self.provider_id.clone())?, tool_name_or_default(name));
        parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
        if !self.input.is_empty() {
            parts.push(Part::ToolInputDelta { id: id.clone(), delta: self.input.clone() });
        }
        self.announced = Some(AnnouncedCall { id, name });
        Ok(())
    }

    /// Returns whether a chunk repeats this complete call.
    fn is_repeated_by(&self, id: Option<&str>, name: Option<&str>, json: &str) -> bool {
        let is_whole = json.trim_start().starts_with('{') && json.trim_end().ends_with('}');
        let is_same = id.is_some() && id == self.provider_id.as_deref() && json == self.input;
        is_whole && is_same && self.announced.as_ref().is_some_and(|named| name.is_none_or(|name| name == named.name))
    }

    /// Returns whether a chunk for this call's index continues it. Some gateways give every call
    /// the same index, some repeat the name in each chunk, and some give each chunk a new id. A
    /// chunk that names a tool begins a new call if it is another tool, or if this call's arguments
    /// are complete and new ones begin.
    fn accepts_chunk(&self, id: Option<&str>, name: Option<&str>, json: &str) -> bool {
        let Some(name) = name else { return true };
        if self.announced.as_ref().is_some_and(|named| named.name != name) {
            return false;
        }
        let begins = json.trim_start().starts_with('{');
        let has_other_id = self.provider_id.is_some() && id.is_some() && self.provider_id.as_deref() != id;
        if has_other_id {
            // A new id is ignored only in the middle of arguments.
            return !json.is_empty() && !begins && !self.input.is_empty();
        }
        !(begins && self.input.trim_end().ends_with('}'))
    }
}
