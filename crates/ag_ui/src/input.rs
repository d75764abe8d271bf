//! The body of a request: `RunAgentInput` of AG-UI 1.0. Fields that this version does not know are ignored, as the
//! protocol demands.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::sync::Arc;
use wire::api::RunOptions;
use wire::{ErrorCode, UserError};

/// The most messages of a request.
const MAX_MESSAGES: usize = 2_000;
/// The most calls of a message.
const MAX_CALLS: usize = 1_000;
/// The most entries of `context` and of `resume`.
const MAX_ENTRIES: usize = 100;
/// The longest id of a run in bytes.
const MAX_RUN_ID: usize = 256;
/// The most bytes of the instructions and of the context.
const MAX_TEXT: usize = 256 << 10;

/// A request of a frontend.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgUiRunAgentInput")]
pub(crate) struct RunAgentInput {
    /// The conversation: letters, digits, `-` and `_`; at most 128. An unknown id begins a new one.
    pub(crate) thread_id: String,
    /// The id of this run, which its events repeat.
    pub(crate) run_id: String,
    /// The run that has caused this one. Repeated in `RUN_STARTED`.
    pub(crate) parent_run_id: Option<String>,
    /// The state that the frontend shares with the agent; shared if it is an object.
    #[serde(default)]
    pub(crate) state: Value,
    /// The thread, oldest first.
    pub(crate) messages: Vec<Message>,
    /// The tools that the frontend runs.
    #[serde(default)]
    pub(crate) tools: Vec<Tool>,
    /// Information about the frontend for the agent.
    #[serde(default)]
    pub(crate) context: Vec<ContextEntry>,
    /// `options`: what the user has chosen for the answer. The rest is ignored.
    #[serde(default)]
    pub(crate) forwarded_props: Value,
    /// The answers to interrupts.
    #[serde(default)]
    pub(crate) resume: Vec<ResumeEntry>,
}

/// A message of the thread.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schemars(rename = "AgUiMessage")]
pub(crate) enum Message {
    /// Instructions.
    #[serde(alias = "developer")]
    System { content: String },
    /// A message of the user.
    User { id: String, content: Content },
    /// A message of the agent.
    Assistant {
        id: String,
        content: Option<String>,
        #[serde(default)]
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a call.
    Tool { id: String, content: Content, tool_call_id: String, error: Option<String> },
    /// Reasoning of the agent; ignored.
    Reasoning {},
    /// Something that only the frontend shows; ignored.
    Activity {},
}

/// A call of a tool.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AgUiToolCall")]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) function: FunctionCall,
}

/// The tool, and its arguments as JSON in a string.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AgUiFunctionCall")]
pub(crate) struct FunctionCall {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: String,
}

/// The content of a message.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the content is a text or a list of parts")]
#[schemars(rename = "AgUiContent")]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

/// A part of a content.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schemars(rename = "AgUiContentPart")]
pub(crate) enum ContentPart {
    Text { text: String },
    Image { source: Source },
    Audio { source: Source },
    Video { source: Source },
    Document { source: Source },
}

/// Where the content of a file is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
#[schemars(rename = "AgUiSource")]
pub(crate) enum Source {
    /// Here, as Base64.
    Data {
        // Shared with the thread that decodes it.
        #[serde(deserialize_with = "shared")]
        #[schemars(with = "String")]
        value: Arc<String>,
        mime_type: String,
    },
    /// A file that the user has uploaded to this server, by its id.
    File { value: String },
    /// Not supported.
    Url {},
}

/// A tool that the frontend runs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AgUiTool")]
pub(crate) struct Tool {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    /// A JSON Schema.
    #[serde(default)]
    pub(crate) parameters: Value,
}

/// Something that the agent reads about the frontend.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AgUiContext")]
pub(crate) struct ContextEntry {
    pub(crate) description: String,
    pub(crate) value: String,
}

/// The answer to an interrupt.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgUiResumeEntry")]
pub(crate) struct ResumeEntry {
    pub(crate) interrupt_id: String,
    pub(crate) status: ResumeStatus,
    #[serde(default)]
    pub(crate) payload: Value,
}

/// Whether an interrupt was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "AgUiResumeStatus")]
pub(crate) enum ResumeStatus {
    Resolved,
    Cancelled,
}

impl RunAgentInput {
    /// Reads a body.
    ///
    /// # Errors
    /// 400 for what is not JSON, 422 with the place of what cannot be used.
    pub(crate) fn read(body: &[u8]) -> Result<Self, UserError> {
        let mut reader = serde_json::Deserializer::from_slice(body);
        let input: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let inner = error.inner();
            if inner.is_syntax() || inner.is_eof() {
                return UserError::new(ErrorCode::Malformed, "The request is not valid JSON.");
            }
            // Without the position in the text, which nobody sees.
            let text = inner.to_string();
            let reason: String = text.split(" at line ").next().unwrap_or_default().chars().take(200).collect();
            UserError::invalid(pointer(&error.path().to_string()), format!("This cannot be read: {reason}."))
        })?;
        reader.end().map_err(|_| UserError::new(ErrorCode::Malformed, "The request is not valid JSON."))?;
        input.check()?;
        Ok(input)
    }

    fn check(&self) -> Result<(), UserError> {
        let invalid = |path: &str, message: String| Err(UserError::invalid(path, message));
        if !wire::is_id(&self.thread_id) {
            return invalid("/threadId", "The id of a thread has 1 to 128 letters, digits, `-` or `_`.".to_owned());
        }
        let run_ids = self.parent_run_id.iter().chain([&self.run_id]);
        if run_ids.into_iter().any(|id| id.is_empty() || id.len() > MAX_RUN_ID) {
            return invalid("/runId", format!("The id of a run has 1 to {MAX_RUN_ID} bytes."));
        }
        if self.messages.len() > MAX_MESSAGES {
            return invalid("/messages", format!("A request has at most {MAX_MESSAGES} messages."));
        }
        let has_many = |message: &Message| matches!(message, Message::Assistant { tool_calls, .. } if tool_calls.len() > MAX_CALLS);
        if let Some(at) = self.messages.iter().position(has_many) {
            let path = format!("/messages/{at}/toolCalls");
            return invalid(&path, format!("A message has at most {MAX_CALLS} calls."));
        }
        for (path, length) in [("/context", self.context.len()), ("/resume", self.resume.len())] {
            if length > MAX_ENTRIES {
                return invalid(path, format!("There are at most {MAX_ENTRIES} entries."));
            }
        }
        let texts = [("/context", self.context_text()), ("/messages", self.instructions())];
        for (path, text) in texts {
            if text.is_some_and(|text| text.len() > MAX_TEXT) {
                return invalid(path, format!("The text is too long: {} KB at most.", MAX_TEXT >> 10));
            }
        }
        Ok(())
    }

    /// Returns the instructions in the messages.
    pub(crate) fn instructions(&self) -> Option<String> {
        let texts = self.messages.iter().filter_map(|message| match message {
            Message::System { content } if !content.trim().is_empty() => Some(content.as_str()),
            _ => None,
        });
        joined(texts)
    }

    /// Returns the context as the agent reads it.
    pub(crate) fn context_text(&self) -> Option<String> {
        let entries: Vec<_> =
            self.context.iter().map(|ContextEntry { description, value }| format!("{description}: {value}")).collect();
        joined(entries.iter().map(String::as_str))
    }

    /// Returns the user's choices for the answer.
    ///
    /// # Errors
    /// 422 for options that cannot be read.
    pub(crate) fn options(&self) -> Result<RunOptions, UserError> {
        let options = self.forwarded_props.get("options").filter(|options| !options.is_null()).cloned();
        let options = options.map(serde_json::from_value).transpose();
        let options = options
            .map_err(|error| UserError::invalid("/forwardedProps/options", format!("This cannot be read: {error}.")))?;
        Ok(options.unwrap_or_default())
    }
}

fn shared<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<String>, D::Error> {
    String::deserialize(deserializer).map(Arc::new)
}

fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> Option<String> {
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Returns the JSON pointer of a path: `tools[0].name` is `/tools/0/name`.
fn pointer(path: &str) -> String {
    let steps = path.split(['.', '[', ']']).filter(|step| !step.is_empty());
    steps.map(|step| format!("/{step}")).collect()
}

impl Content {
    /// Returns the text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    ContentPart::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}
