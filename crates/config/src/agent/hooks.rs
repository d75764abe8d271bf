//! The endpoints that are called during an agent's runs.

use schemars::JsonSchema;
use serde::Deserialize;
use settings::pattern;

/// Endpoints that are called during an agent's runs, those of programs included, with the event as
/// payload. Only those of `onFinish` are waited for. An endpoint that fails is logged and has no
/// effect on the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hooks {
    /// When a run begins: `model`, `tools` (without those of MCP servers and remote agents).
    #[serde(rename = "onStart")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub start: Vec<String>,
    /// When a step begins: `stepNumber`.
    #[serde(rename = "onStepStart")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub step_start: Vec<String>,
    /// Before a tool runs: `stepNumber` (0 for a call of an earlier turn that the user has approved), `toolCall` with
    /// `toolCallId`, `toolName` and `input`.
    #[serde(rename = "onToolCallStart")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub tool_call_start: Vec<String>,
    /// After a tool has run: `stepNumber`, `toolCall`, `durationMs`, `success`, `output` or
    /// `error`.
    #[serde(rename = "onToolCallFinish")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub tool_call_finish: Vec<String>,
    /// When a step is done, tool calls included: `stepNumber`, `text`, `toolCalls`, `toolResults`,
    /// `finishReason`, `usage`, `costUsd` (null without known prices).
    #[serde(rename = "onStepFinish")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub step_finish: Vec<String>,
    /// When the run ends: `messages`, `steps`, `toolResults`, `finishReason`, `isAborted`, `usage`, `costUsd`.
    /// They are called one after the other. The `dataParts: [{ type, data, id }]` that they return
    /// become part of the message. `data-chat-title` with `{ title }` names the conversation.
    #[serde(rename = "onFinish")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub finish: Vec<String>,
}

impl Hooks {
    /// Whether there is no hook at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
