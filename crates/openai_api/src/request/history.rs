//! Makes the messages of a conversation out of what a request says.

use super::content::text_part;
use super::{Entry, EntryKind};
use crate::error::ApiError;
use serde_json::Value;
use std::collections::HashMap;
use wire::{ErrorCode, Role, ToolPart, ToolState, UiMessage, UiPart, UserError};

/// The longest id of a call in bytes.
const MAX_CALL_ID: usize = 256;

/// The messages of a request, after those of the conversation that it continues.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) messages: Vec<UiMessage>,
    instructions: Vec<String>,
    /// The calls by id: the message that has it, and whether it has a result.
    calls: HashMap<String, (usize, bool)>,
    /// How many of the first messages are as they were stored.
    pub(crate) kept: usize,
}

/// A history that an agent can answer.
#[derive(Debug)]
pub(crate) struct ReadHistory {
    pub(crate) messages: Vec<UiMessage>,
    pub(crate) instructions: Option<String>,
    /// How many of the first messages are as they were stored.
    pub(crate) kept: usize,
}

impl History {
    /// Begins without a conversation.
    pub(crate) fn empty() -> Self {
        Self::new(Vec::new(), &[])
    }

    /// Begins with the messages of a conversation. `open` are the calls of its last message whose results
    /// the program has to send.
    pub(crate) fn new(messages: Vec<UiMessage>, open: &[String]) -> Self {
        let mut calls = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            for tool in message.tools() {
                let is_open = at + 1 == messages.len() && open.contains(&tool.tool_call_id);
                calls.insert(tool.tool_call_id.clone(), (at, !is_open));
            }
        }
        let kept = messages.len();
        Self { messages, instructions: Vec::new(), calls, kept }
    }

    /// Adds the entries of a request. Results of tools that are not among `names` are marked as not verified: they may
    /// be those of the agent's own tools.
    ///
    /// # Errors
    /// 400 with the place of what does not fit.
    pub(crate) fn read(
        mut self,
        entries: Vec<Entry>,
        names: &[String],
        param: &'static str,
    ) -> Result<ReadHistory, ApiError> {
        for Entry { param, kind } in entries {
            match kind {
                EntryKind::Instructions(text) => self.instructions.extend(Some(text).filter(|text| !text.is_empty())),
                EntryKind::User(parts) => self.user(parts),
                EntryKind::Assistant(text) => self.assistant(text),
                EntryKind::Call { id, name, arguments } => self.call(&param, id, name, arguments.into(), names)?,
                EntryKind::Output { call_id, output } => self.output(&param, &call_id, output)?,
                EntryKind::Reference(id) => return Err(unknown_item(&id, &param)),
            }
        }
        self.check_end(param)?;
        let Self { messages, instructions, kept, .. } = self;
        let instructions = (!instructions.is_empty()).then(|| instructions.join("\n\n"));
        Ok(ReadHistory { messages, instructions, kept })
    }

    fn user(&mut self, parts: Vec<UiPart>) {
        let is_new = self.messages.len() > self.kept;
        match self.messages.last_mut() {
            Some(last) if is_new && last.role == Role::User => last.parts.extend(parts),
            _ => self.messages.push(UiMessage { parts, ..UiMessage::new(new_id(), Role::User) }),
        }
    }

    /// Returns the message of the assistant to which something is added, in a step that has no results yet.
    fn step(&mut self) -> (usize, &mut UiMessage) {
        let is_new = self.messages.len() > self.kept;
        if !is_new || self.messages.last().is_none_or(|last| last.role != Role::Assistant) {
            self.messages.push(UiMessage::new(new_id(), Role::Assistant));
        }
        let at = self.messages.len() - 1;
        let message = &mut self.messages[at];
        let step = message.parts.iter().rev().take_while(|part| !matches!(part, UiPart::StepStart));
        if step.filter_map(UiPart::as_tool).any(ToolPart::is_final) {
            message.parts.push(UiPart::StepStart);
        }
        (at, message)
    }

    fn assistant(&mut self, text: String) {
        let (_, message) = self.step();
        if !text.is_empty() {
            message.parts.push(text_part(text));
        }
    }

    fn call(
        &mut self,
        param: &str,
        id: String,
        name: String,
        arguments: Value,
        names: &[String],
    ) -> Result<(), ApiError> {
        if id.is_empty() || id.len() > MAX_CALL_ID {
            return Err(ApiError::invalid(param, format!("The id of a call has 1 to {MAX_CALL_ID} bytes.")));
        }
        if !contract::is_name(&name) {
            let message = "The name of a tool has 1 to 64 letters, digits, `_` and `-`.";
            return Err(ApiError::invalid(param, message));
        }
        if self.calls.contains_key(&id) {
            return Err(ApiError::invalid(param, format!("Another call has the id `{id}`.")));
        }
        let (at, message) = self.step();
        let mut tool = ToolPart::new(id.clone(), name);
        (tool.state, tool.input) = (ToolState::InputAvailable, Some(arguments));
        if !names.contains(&tool.tool_name) {
            tool.mark_preset();
        }
        message.parts.push(UiPart::Tool(Box::new(tool)));
        self.calls.insert(id, (at, false));
        Ok(())
    }

    fn output(&mut self, param: &str, call_id: &str, output: Value) -> Result<(), ApiError> {
        let shown: String = call_id.chars().take(100).collect();
        let known = self.calls.get_mut(call_id);
        let Some((at, has_result)) = known else {
            return Err(ApiError::invalid(param, format!("There is no call `{shown}` before this result.")));
        };
        if std::mem::replace(has_result, true) {
            return Err(ApiError::invalid(param, format!("The call `{shown}` has a result already.")));
        }
        if *at + 1 != self.messages.len() {
            return Err(ApiError::invalid(param, format!("The result of `{shown}` does not follow its call.")));
        }
        let at = *at;
        self.change_stored(at);
        if let Some(tool) = self.messages.last_mut().and_then(|message| message.tool_mut(call_id)) {
            tool.state = ToolState::OutputAvailable;
            (tool.output, tool.error_text) = (Some(output), None);
        }
        Ok(())
    }

    /// A stored message does not change: what is added makes another one beside it.
    fn change_stored(&mut self, at: usize) {
        if at < self.kept {
            self.kept = at;
            self.messages[at].id = new_id();
            self.messages[at].metadata = None;
        }
    }

    fn check_end(&self, param: &'static str) -> Result<(), ApiError> {
        if let Some((id, _)) = self.calls.iter().find(|(_, (_, has_result))| !has_result) {
            let id: String = id.chars().take(100).collect();
            return Err(ApiError::invalid(param, format!("There is no result of the call `{id}`.")));
        }
        let is_answerable = self.messages.last().is_some_and(|last| match last.role {
            Role::User => last.parts.iter().any(has_content),
            _ => ends_with_result(last) && self.messages.len() > self.kept,
        });
        if is_answerable {
            Ok(())
        } else {
            Err(ApiError::invalid(param, "The last message is one of the user, or the result of a tool."))
        }
    }
}

/// The error of an item that the caller does not have.
pub(crate) fn unknown_item(id: &str, param: &str) -> ApiError {
    let id: String = id.chars().take(100).collect();
    let message = format!("Item with id `{id}` not found. Items are kept with stored responses.");
    ApiError::from(UserError::new(ErrorCode::NotFound, message)).at(param)
}

/// Returns whether a message ends with a call. Data parts of the server are ignored.
fn ends_with_result(message: &UiMessage) -> bool {
    let last = message.parts.iter().rfind(|part| !matches!(part, UiPart::Data(_)));
    last.is_some_and(|part| matches!(part, UiPart::Tool(_)))
}

fn has_content(part: &UiPart) -> bool {
    match part {
        UiPart::Text(text) => !text.text.trim().is_empty(),
        _ => true,
    }
}

pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
