//! The events of AG-UI 1.0 that this server sends.

use crate::messages::AgUiMessage;
use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

/// The version of the protocol.
pub(crate) const PROTOCOL_VERSION: &str = "1.0";

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub(crate) enum Event {
    RunStarted {
        thread_id: String,
        run_id: String,
        protocol_version: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<String>,
    },
    RunFinished {
        thread_id: String,
        run_id: String,
        outcome: RunOutcome,
        /// `{outcome, reason}` of the run, as everywhere in this server.
        result: Value,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<Usage>,
    },
    RunError {
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    StepStarted {
        step_name: String,
    },
    StepFinished {
        step_name: String,
    },
    TextMessageStart {
        message_id: String,
        role: &'static str,
    },
    TextMessageContent {
        message_id: String,
        delta: String,
    },
    TextMessageEnd {
        message_id: String,
    },
    ReasoningStart {
        message_id: String,
    },
    ReasoningMessageStart {
        message_id: String,
        role: &'static str,
    },
    ReasoningMessageContent {
        message_id: String,
        delta: String,
    },
    ReasoningMessageEnd {
        message_id: String,
    },
    ReasoningEnd {
        message_id: String,
    },
    ToolCallStart {
        tool_call_id: String,
        tool_call_name: String,
        parent_message_id: String,
    },
    ToolCallArgs {
        tool_call_id: String,
        delta: String,
    },
    ToolCallEnd {
        tool_call_id: String,
    },
    ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: String,
        role: &'static str,
    },
    StateSnapshot {
        snapshot: Value,
    },
    StateDelta {
        delta: Vec<Value>,
    },
    MessagesSnapshot {
        messages: Vec<AgUiMessage>,
    },
    Custom {
        name: String,
        value: Value,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum RunOutcome {
    Success {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pending_tool_call_ids: Vec<String>,
    },
    Interrupt {
        interrupts: Vec<Interrupt>,
    },
    Cancelled,
}

/// Something that a run waits for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Interrupt {
    pub(crate) id: String,
    /// `tool_call` or `input_required`.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) tool_call_id: String,
    pub(crate) response_schema: Value,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) metadata: Value,
}

/// Tokens of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) total_tokens: u64,
    pub(crate) reasoning_tokens: u64,
    pub(crate) cached_input_tokens: u64,
    pub(crate) cache_write_input_tokens: u64,
}

impl Event {
    /// Returns the result of a call.
    pub(crate) fn tool_result(tool_call_id: &str, content: String) -> Self {
        Self::ToolCallResult {
            message_id: result_id(tool_call_id),
            tool_call_id: tool_call_id.to_owned(),
            content,
            role: "tool",
        }
    }

    /// Returns the event as a server-sent one.
    pub(crate) fn frame(&self) -> Bytes {
        let data = serde_json::to_string(self).unwrap_or_default();
        format!("data: {data}\n\n").into()
    }
}

/// Returns the id of the message with the result of a call.
pub(crate) fn result_id(tool_call_id: &str) -> String {
    format!("{tool_call_id}-result")
}

/// Returns a result as text.
pub(crate) fn result_text(output: &Value) -> String {
    output.as_str().map_or_else(|| output.to_string(), str::to_owned)
}
