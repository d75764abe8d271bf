//! The events of an answer in the shape that DeerFlow's embedded client yields, which is that of LangGraph's stream:
//! programs that were written for one of these read the answers of an agent unchanged.

use super::{Agent, Reply};
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;
use wire::api::MessageMetadata;
use wire::file::presented_files;
use wire::{Chunk, ErrorCode, Role, ToolPart, ToolState, UiMessage, UiPart, UserError};

/// The result for programs of a call that the user denied.
const DENIED: &str = "The user denied this call.";

/// An event of an answer, as `{"type": …, "data": …}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", content = "data", rename_all = "kebab-case")]
pub enum StreamEvent {
    /// The conversation so far; after each step and at the end.
    Values(StreamState),
    /// The new part of a message: a piece of the agent's text, a tool call, or the result of one.
    MessagesTuple(StreamMessage),
    /// The answer has ended.
    End(StreamEnd),
}

/// The state of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamState {
    /// The conversation's title.
    pub title: String,
    /// Its messages, oldest first.
    pub messages: Vec<StreamMessage>,
    /// The paths of the files that the agent has shown as results.
    pub artifacts: Vec<String>,
}

/// A message, or a piece of one. A message of this crate with several steps is several of these.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum StreamMessage {
    /// A message of the user.
    Human {
        /// Its id.
        id: String,
        /// Its text.
        content: String,
    },
    /// The output of the agent in one step.
    Ai {
        /// The id of the message; from the second step on with the number of the step.
        id: String,
        /// The text.
        content: String,
        /// The calls of tools.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<StreamToolCall>,
    },
    /// The result of a call.
    Tool {
        /// The id of the call once more: a result has none of its own.
        id: String,
        /// The id of the call.
        tool_call_id: String,
        /// The tool.
        name: String,
        /// The result: a text, or JSON as text.
        content: String,
    },
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamToolCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub args: Value,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StreamEnd {
    /// The usage of the answer.
    pub usage: StreamUsage,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamUsage {
    /// The tokens of the requests.
    pub input_tokens: u64,
    /// The tokens of the replies.
    pub output_tokens: u64,
    /// Both.
    pub total_tokens: u64,
}

/// The events of an answer; see [`Reply::stream_events`].
pub struct StreamEvents {
    reply: Reply,
    /// The number of the step that is being written; `None` before the first.
    step: Option<usize>,
    /// The message as earlier runs have written it.
    earlier: UiMessage,
    /// The number of its steps.
    earlier_steps: usize,
    ready: VecDeque<StreamEvent>,
    is_over: bool,
}

impl StreamEvents {
    pub(super) fn new(reply: Reply, earlier: Option<UiMessage>) -> Self {
        let earlier = earlier.unwrap_or_else(|| UiMessage::new("", Role::Assistant));
        let earlier_steps = earlier.parts.iter().filter(|part| matches!(part, UiPart::StepStart)).count();
        Self { reply, step: None, earlier, earlier_steps, ready: VecDeque::new(), is_over: false }
    }

    /// Returns the answer that is read.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// Returns the next event; `None` after [`StreamEvent::End`].
    ///
    /// # Errors
    /// The errors of [`Reply::next`], and the error of an answer that has failed; nothing follows it.
    pub async fn next(&mut self) -> Result<Option<StreamEvent>, UserError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.is_over {
                return Ok(None);
            }
            match self.reply.next().await? {
                Some(chunk) => self.accept(&chunk).await?,
                None => {
                    self.is_over = true;
                    self.end().await?;
                }
            }
        }
    }

    async fn accept(&mut self, chunk: &Chunk) -> Result<(), UserError> {
        match chunk {
            Chunk::StartStep => self.step = Some(self.step.map_or(self.earlier_steps, |step| step + 1)),
            Chunk::TextDelta { delta, .. } => {
                let id = self.step_id();
                self.push(StreamMessage::Ai { id, content: delta.clone(), tool_calls: Vec::new() });
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, input, .. }
            | Chunk::ToolInputError { tool_call_id, tool_name, input, .. } => {
                let call = StreamToolCall { id: tool_call_id.clone(), name: tool_name.clone(), args: input.clone() };
                let id = self.step_id();
                self.push(StreamMessage::Ai { id, content: String::new(), tool_calls: vec![call] });
            }
            Chunk::ToolOutputAvailable { preliminary: Some(true), .. } => {}
            Chunk::ToolOutputAvailable { tool_call_id, output, .. } => self.push_result(tool_call_id, text(output)),
            Chunk::ToolOutputError { tool_call_id, error_text, .. } => {
                self.push_result(tool_call_id, error_text.clone());
            }
            Chunk::ToolOutputDenied { tool_call_id } => self.push_result(tool_call_id, DENIED.to_owned()),
            Chunk::FinishStep => {
                let state = self.state();
                self.ready.push_back(StreamEvent::Values(state.await?));
            }
            Chunk::Error { error_text } => {
                self.is_over = true;
                let known = MessageMetadata::from_message(self.reply.message()).error;
                return Err(known.unwrap_or_else(|| UserError::new(ErrorCode::Internal, error_text)));
            }
            _ => {}
        }
        Ok(())
    }

    async fn end(&mut self) -> Result<(), UserError> {
        let state = self.state();
        let state = state.await?;
        let used = MessageMetadata::from_message(self.reply.message()).usage.unwrap_or_default();
        let (input_tokens, output_tokens) = (used.input_tokens, used.output_tokens);
        let usage = StreamUsage { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
        self.ready.extend([StreamEvent::Values(state), StreamEvent::End(StreamEnd { usage })]);
        Ok(())
    }

    /// Returns the state. The future owns its data: the stream is `Send` but not `Sync`, so a future that borrows it would not
    /// be `Send`.
    fn state(&self) -> impl Future<Output = Result<StreamState, UserError>> + Send + use<> {
        let Reply { agent, conversation_id, reducer, .. } = &self.reply;
        state(agent.clone(), conversation_id.clone(), reducer.message().clone())
    }

    fn push(&mut self, message: StreamMessage) {
        self.ready.push_back(StreamEvent::MessagesTuple(message));
    }

    fn push_result(&mut self, call_id: &str, content: String) {
        if let Some(name) = self.tool_name(call_id) {
            let id = call_id.to_owned();
            self.push(StreamMessage::Tool { tool_call_id: id.clone(), id, name, content });
        }
    }

    /// Returns the tool of a call. That of a decided call is in the message of earlier runs.
    fn tool_name(&self, call_id: &str) -> Option<String> {
        let mut calls = self.reply.message().tools().chain(self.earlier.tools());
        calls.find(|call| call.tool_call_id == call_id).map(|call| call.tool_name.clone())
    }

    fn step_id(&self) -> String {
        step_id(self.reply.message(), self.step.unwrap_or(self.earlier_steps))
    }
}

/// Returns the conversation with the part of the answer that was read.
async fn state(agent: Agent, conversation_id: String, message: UiMessage) -> Result<StreamState, UserError> {
    let mut view = agent.conversation(&conversation_id).await?;
    if let Some(stored) = view.messages.iter_mut().find(|stored| stored.id == message.id) {
        // The text of the last moment may not be stored yet. A continued message has more than was read.
        if stored.parts.len() <= message.parts.len() {
            *stored = message;
        }
    }
    Ok(StreamState {
        title: view.summary.title,
        messages: view.messages.iter().flat_map(stream_messages).collect(),
        artifacts: artifacts(&view.messages),
    })
}

/// Returns the id of a step of a message.
fn step_id(message: &UiMessage, step: usize) -> String {
    if step == 0 { message.id.clone() } else { format!("{}-{step}", message.id) }
}

/// Returns a message as those of its steps and the results of its calls.
fn stream_messages(message: &UiMessage) -> Vec<StreamMessage> {
    match message.role {
        Role::System => Vec::new(),
        Role::User => vec![StreamMessage::Human { id: message.id.clone(), content: message.text() }],
        Role::Assistant => {
            let steps = message.parts.split(|part| matches!(part, UiPart::StepStart));
            // Only in imported messages something precedes the first step.
            let begins_with_step = matches!(message.parts.first(), Some(UiPart::StepStart));
            let steps = steps.skip(usize::from(begins_with_step)).enumerate();
            steps.flat_map(|(step, parts)| step_messages(step_id(message, step), parts)).collect()
        }
    }
}

fn step_messages(id: String, parts: &[UiPart]) -> Vec<StreamMessage> {
    let texts = parts.iter().filter_map(|part| match part {
        UiPart::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let content = texts.collect::<Vec<_>>().join("\n\n");
    let calls: Vec<_> = parts.iter().filter_map(UiPart::as_tool).collect();
    let call = |tool: &&ToolPart| StreamToolCall {
        id: tool.tool_call_id.clone(),
        name: tool.tool_name.clone(),
        args: tool.input.as_ref().or(tool.raw_input.as_ref()).cloned().unwrap_or_default(),
    };
    let tool_calls = calls.iter().map(call).collect::<Vec<_>>();
    let results = calls.into_iter().filter_map(result);
    if content.is_empty() && tool_calls.is_empty() {
        return results.collect();
    }
    std::iter::once(StreamMessage::Ai { id, content, tool_calls }).chain(results).collect()
}

/// Returns the result of a call; `None` while it has none.
fn result(call: &ToolPart) -> Option<StreamMessage> {
    let content = match call.state {
        ToolState::OutputAvailable => text(call.output.as_ref()?),
        ToolState::OutputError => call.error_text.clone().unwrap_or_default(),
        ToolState::OutputDenied => DENIED.to_owned(),
        _ => return None,
    };
    let (id, name) = (call.tool_call_id.clone(), call.tool_name.clone());
    Some(StreamMessage::Tool { tool_call_id: id.clone(), id, name, content })
}

/// Returns a result as text.
fn text(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        output => output.to_string(),
    }
}

/// Returns the paths of the files that were shown as results, each once.
fn artifacts(messages: &[UiMessage]) -> Vec<String> {
    let mut paths = Vec::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        let UiPart::Data(data) = part else { continue };
        for file in presented_files(data) {
            if !paths.contains(&file.path) {
                paths.push(file.path);
            }
        }
    }
    paths
}
