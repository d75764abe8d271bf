//! The tool calls of one reply, put together from pieces that not every gateway labels well.

use super::api::{Arguments, Function, ToolCall as Piece};
use super::stream::metadata;
use crate::json::{self, unreadable};
use crate::lenient::{CallIds, Held, tool_name};
use contract::{ModelError, Part, ProviderMetadata};
use serde_json::Value;

/// The calls so far, in the order of their first pieces.
#[derive(Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    ids: CallIds,
    held: Held,
}

struct Call {
    index: Option<u64>,
    /// As the gateway gave it.
    given: Option<String>,
    /// With the name, once that has come; nothing was told before.
    named: Option<Named>,
    input: String,
    metadata: Option<ProviderMetadata>,
}

struct Named {
    id: String,
    name: String,
}

impl Calls {
    /// Appends what a piece adds.
    pub(crate) fn piece(&mut self, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let mut spare = String::new();
        let piece: Piece<'_> = json::read(raw, &mut spare).map_err(|error| unreadable("`tool_calls`", &error))?;
        let given = piece.id.filter(|id| !id.trim().is_empty());
        let function = match piece.function.object("function")? {
            Some(raw) => json::read_owned(raw).map_err(|error| unreadable("`function`", &error))?,
            None => Function::default(),
        };
        let name = function.name.filter(|name| !name.trim().is_empty());
        let Arguments(json) = function.arguments;
        if self.calls.iter().any(|call| call.is_repeated_by(given.as_deref(), name.as_deref(), &json)) {
            return Ok(());
        }
        let known = self.of(piece.index, given.as_deref(), name.as_deref(), &json);
        if known.is_none() && name.is_none() && given.is_none() && json.is_empty() {
            return Ok(());
        }
        let at = known.unwrap_or(self.calls.len());
        if at == self.calls.len() {
            self.calls.push(Call {
                index: piece.index,
                given: None,
                named: None,
                input: String::new(),
                metadata: None,
            });
        }
        self.held.grow(json.len() + 1)?;
        let call = &mut self.calls[at];
        call.given = call.given.take().or(given);
        if let Some(extra) = piece.extra_content.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()) {
            self.held.grow(extra.to_string().len())?;
            call.metadata = Some(metadata("extraContent", extra));
        }
        call.input.push_str(&json);
        match &call.named {
            Some(named) if !json.is_empty() => {
                parts.push(Part::ToolInputDelta { id: named.id.clone(), delta: json });
            }
            None if name.is_some() => call.begin(name, &mut self.ids, parts)?,
            _ => {}
        }
        Ok(())
    }

    /// The call that a piece goes on with; none when it begins one. With an index that is the newest call at it, with an id the
    /// call with that id, with neither the newest call unless a tool is named.
    fn of(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>, json: &str) -> Option<usize> {
        let with_id = || self.calls.iter().rposition(|call| call.given.is_some() && call.given.as_deref() == id);
        let at = match (index, id) {
            (Some(index), _) => self.calls.iter().rposition(|call| call.index == Some(index)),
            (None, Some(_)) => with_id(),
            (None, None) if name.is_none() => self.calls.len().checked_sub(1),
            (None, None) => None,
        }?;
        self.calls[at].goes_on(id, name, json).then_some(at)
    }

    /// Appends the calls themselves.
    pub(crate) fn finish(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let mut calls = std::mem::take(&mut self.calls);
        if calls.iter().all(|call| call.index.is_some()) {
            calls.sort_by_key(|call| call.index);
        }
        for mut call in calls {
            if call.named.is_none() {
                call.begin(None, &mut self.ids, parts)?;
            }
            if let Some(Named { id, name }) = call.named {
                let metadata = call.metadata;
                parts.push(Part::ToolCall { id, name, input: call.input, provider_executed: false, metadata });
            }
        }
        Ok(())
    }
}

impl Call {
    /// Tells of the call, and of the arguments that came before its name.
    fn begin(&mut self, name: Option<String>, ids: &mut CallIds, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let (id, name) = (ids.name(self.given.clone())?, tool_name(name));
        parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
        if !self.input.is_empty() {
            parts.push(Part::ToolInputDelta { id: id.clone(), delta: self.input.clone() });
        }
        self.named = Some(Named { id, name });
        Ok(())
    }

    /// Whether a piece is this whole call once more.
    fn is_repeated_by(&self, id: Option<&str>, name: Option<&str>, json: &str) -> bool {
        let is_whole = json.trim_start().starts_with('{') && json.trim_end().ends_with('}');
        let is_same = id.is_some() && id == self.given.as_deref() && json == self.input;
        is_whole && is_same && self.named.as_ref().is_some_and(|named| name.is_none_or(|name| name == named.name))
    }

    /// Whether a piece at this call's place goes on with it. Some gateways give every call the same index, some repeat the name
    /// with each piece, and some give each piece a new id: a piece that names a tool begins a call when it is another tool,
    /// or when whole arguments stand here and new ones begin.
    fn goes_on(&self, id: Option<&str>, name: Option<&str>, json: &str) -> bool {
        let Some(name) = name else { return true };
        if self.named.as_ref().is_some_and(|named| named.name != name) {
            return false;
        }
        let begins = json.trim_start().starts_with('{');
        let has_other_id = self.given.is_some() && id.is_some() && self.given.as_deref() != id;
        if has_other_id {
            // Only in the middle of arguments is a new id a whim.
            return !json.is_empty() && !begins && !self.input.is_empty();
        }
        !(begins && self.input.trim_end().ends_with('}'))
    }
}
