//! The messages of a conversation in the form of AG-UI. A message of ours is a whole answer; in AG-UI each step of it
//! is a message, and so is each result. Their ids follow from ours, so that the events of a run and a snapshot name
//! the same messages.

use crate::event::{result_id, result_text};
use serde::Serialize;
use serde_json::{Value, json};
use wire::file::stored_file_id;
use wire::message::FilePart;
use wire::{Role, ToolPart, ToolState, UiMessage, UiPart};

/// The result for the model of a call that the user denied.
pub(crate) const DENIED: &str = "The user denied this call.";

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum AgUiMessage {
    User {
        id: String,
        content: Value,
    },
    Assistant {
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Value>,
    },
    Reasoning {
        id: String,
        content: String,
    },
    Tool {
        id: String,
        tool_call_id: String,
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

impl AgUiMessage {
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::User { id, .. } | Self::Assistant { id, .. } | Self::Reasoning { id, .. } | Self::Tool { id, .. } => {
                id
            }
        }
    }

    /// Returns whether frontends keep it: some forget what an agent thought.
    pub(crate) fn is_kept(&self) -> bool {
        !matches!(self, Self::Reasoning { .. })
    }
}

/// Names the messages of an answer.
#[derive(Clone, Debug)]
pub(crate) struct MessageIds {
    pub(crate) message_id: String,
    step: u32,
    texts: u32,
    reasonings: u32,
}

impl MessageIds {
    /// Begins with an answer that has nothing yet.
    pub(crate) fn new(message_id: impl Into<String>) -> Self {
        Self { message_id: message_id.into(), step: 0, texts: 0, reasonings: 0 }
    }

    /// Begins after the parts of an answer that goes on.
    pub(crate) fn after(message: &UiMessage) -> Self {
        let mut ids = Self::new(&message.id);
        for part in &message.parts {
            match part {
                UiPart::StepStart => ids.start_step(),
                UiPart::Text(_) => drop(ids.text()),
                UiPart::Reasoning(_) => drop(ids.reasoning()),
                _ => {}
            }
        }
        ids
    }

    pub(crate) fn start_step(&mut self) {
        self.step += 1;
        self.texts = 0;
    }

    /// Returns the name of the step.
    pub(crate) fn step_name(&self) -> String {
        format!("step-{}", self.step)
    }

    /// Returns the id of the message with the calls of the step.
    pub(crate) fn calls(&self) -> String {
        match self.step {
            0 | 1 => self.message_id.clone(),
            step => format!("{}-{step}", self.message_id),
        }
    }

    /// Returns the id of the next text. The first one of a step is in the message that has the calls.
    pub(crate) fn text(&mut self) -> String {
        self.texts += 1;
        match self.texts {
            1 => self.calls(),
            text => format!("{}-t{text}", self.calls()),
        }
    }

    /// Returns the id of the next reasoning.
    pub(crate) fn reasoning(&mut self) -> String {
        self.reasonings += 1;
        format!("{}-r{}", self.message_id, self.reasonings)
    }
}

/// Returns the messages of a branch, each with the index of ours.
pub(crate) fn of_branch(branch: &[UiMessage]) -> Vec<(usize, AgUiMessage)> {
    let mut all = Vec::new();
    for (at, message) in branch.iter().enumerate() {
        let messages = match message.role {
            Role::User => vec![user(message)],
            Role::Assistant => answer(message),
            Role::System => Vec::new(),
        };
        all.extend(messages.into_iter().map(|message| (at, message)));
    }
    all
}

fn user(message: &UiMessage) -> AgUiMessage {
    let files = message.parts.iter().any(|part| matches!(part, UiPart::File(_)));
    let content =
        if files { message.parts.iter().filter_map(content_part).collect() } else { Value::from(message.text()) };
    AgUiMessage::User { id: message.id.clone(), content }
}

fn content_part(part: &UiPart) -> Option<Value> {
    match part {
        UiPart::Text(text) => Some(json!({ "type": "text", "text": text.text })),
        UiPart::File(file) => Some(file_part(file)),
        _ => None,
    }
}

fn file_part(file: &FilePart) -> Value {
    let is_media = |kind: &&str| ["image", "audio", "video"].contains(kind);
    let kind = file.media_type.split('/').next().filter(is_media).unwrap_or("document");
    let source = match stored_file_id(&file.url) {
        Some(id) => json!({ "type": "file", "value": id, "mimeType": file.media_type }),
        None => json!({ "type": "url", "value": file.url, "mimeType": file.media_type }),
    };
    json!({ "type": kind, "source": source })
}

fn answer(message: &UiMessage) -> Vec<AgUiMessage> {
    let (mut all, mut results, mut ids) = (Vec::new(), Vec::new(), MessageIds::new(&message.id));
    for part in &message.parts {
        match part {
            UiPart::StepStart => {
                all.append(&mut results);
                ids.start_step();
            }
            UiPart::Text(text) => add_text(&mut all, ids.text(), &text.text),
            UiPart::Reasoning(text) => {
                all.push(AgUiMessage::Reasoning { id: ids.reasoning(), content: text.text.clone() });
            }
            UiPart::Tool(tool) => {
                add_call(&mut all, ids.calls(), tool);
                results.extend(result(tool));
            }
            _ => {}
        }
    }
    all.append(&mut results);
    all
}

fn add_text(all: &mut Vec<AgUiMessage>, new: String, text: &str) {
    let known = all.iter_mut().rev().find_map(|message| match message {
        AgUiMessage::Assistant { id, content, .. } if *id == new => Some(content),
        _ => None,
    });
    match known {
        Some(content) => *content = Some(text.to_owned()),
        None => all.push(AgUiMessage::Assistant { id: new, content: Some(text.to_owned()), tool_calls: Vec::new() }),
    }
}

fn add_call(all: &mut Vec<AgUiMessage>, parent: String, tool: &ToolPart) {
    let arguments = tool.input.as_ref().map_or_else(|| "{}".to_owned(), Value::to_string);
    let function = json!({ "name": tool.tool_name, "arguments": arguments });
    let call = json!({ "id": tool.tool_call_id, "type": "function", "function": function });
    let known = all.iter_mut().rev().find_map(|message| match message {
        AgUiMessage::Assistant { id, tool_calls, .. } if *id == parent => Some(tool_calls),
        _ => None,
    });
    match known {
        Some(calls) => calls.push(call),
        None => all.push(AgUiMessage::Assistant { id: parent, content: None, tool_calls: vec![call] }),
    }
}

/// Returns the result of a call, if it has one.
fn result(tool: &ToolPart) -> Option<AgUiMessage> {
    let error = match tool.state {
        ToolState::OutputAvailable if tool.preliminary == Some(true) => return None,
        ToolState::OutputAvailable => None,
        ToolState::OutputError => Some(tool.error_text.clone().unwrap_or_default()),
        ToolState::OutputDenied => Some(DENIED.to_owned()),
        _ => return None,
    };
    let output = tool.output.as_ref().map(result_text).unwrap_or_default();
    let content = error.clone().unwrap_or(output);
    let tool_call_id = tool.tool_call_id.clone();
    Some(AgUiMessage::Tool { id: result_id(&tool_call_id), tool_call_id, content, error })
}
