//! The metadata that the server stores with a message: how its run ended, and its usage.

use crate::error::UserError;
use crate::read::{read_names, read_struct};
use crate::{EndReason, FinishReason, UiMessage};
use serde::Serialize;
use serde_json::Value;

/// The server's metadata on a message (its `metadata` field).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessageMetadata {
    /// Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// How the newest run of this message ended; absent while it runs and on user messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The error that the user reads, with [`Outcome::Failed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<UserError>,
    /// Why the newest run of this message ended; more specific than `outcome`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// The limit that was reached, with [`Outcome::Limit`]; equal to `reason`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<EndReason>,
    /// Why the model ended its newest reply; absent if the run was stopped or interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// The token usage of all runs of this message so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The cost in US dollars, as far as prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The id of the model that the user chose for the answer, where the agent allows a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// Whether that model thought before it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// Whether the agent could hand tasks to a copy of itself, where the user chooses that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegate: Option<bool>,
    /// Tokens of the context window that the newest request and its reply used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used: Option<u64>,
    /// The size of the model's context window in tokens, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_size: Option<u64>,
    /// The parts of these tokens, as [`ContextParts`]. Few pages need them, so they are decoded where they are shown.
    #[cfg_attr(feature = "schema", schemars(with = "Option<ContextParts>"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_parts: Option<Value>,
}

/// The parts of a model's context, in estimated tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextParts {
    /// The instructions.
    pub instructions: u64,
    /// The descriptions of the tools.
    pub tools: u64,
    /// The summary of earlier messages.
    pub summary: u64,
    /// The texts of the user and the agent, with the agent's calls.
    pub messages: u64,
    /// The results of tools.
    pub results: u64,
    /// Files.
    pub files: u64,
    /// The tokens of the newest reply, which are a part of `contextUsed`.
    pub reply: u64,
    /// Whether the provider reported the tokens in all, `contextUsed`; otherwise they are estimated, too.
    pub measured: bool,
}

read_struct!(MessageMetadata {
    created_at: "createdAt",
    outcome: "outcome",
    error: "error",
    reason: "reason",
    limit: "limit",
    finish_reason: "finishReason",
    usage: "usage",
    cost_usd: "costUsd",
    model: "model",
    model_id: "modelId",
    thinking: "thinking",
    delegate: "delegate",
    context_used: "contextUsed",
    context_size: "contextSize",
    context_parts: "contextParts",
});

read_struct!(ContextParts {
    instructions: "instructions",
    tools: "tools",
    summary: "summary",
    messages: "messages",
    results: "results",
    files: "files",
    reply: "reply" or default,
    measured: "measured",
});

impl MessageMetadata {
    /// Returns the outcome if the answer is incomplete. An answer that ended with a tool of
    /// `stopOnToolCall` is complete.
    pub fn incomplete_outcome(&self) -> Option<Outcome> {
        let is_wanted = self.outcome == Some(Outcome::Limit) && self.limit == Some(EndReason::StopOnToolCall);
        self.outcome.filter(|outcome| outcome.is_incomplete() && !is_wanted)
    }

    /// Reads a message's metadata; empty if it is absent or cannot be read.
    pub fn from_message(message: &UiMessage) -> Self {
        let read = |metadata: Value| serde_json::from_value(metadata).ok();
        message.metadata.clone().and_then(read).unwrap_or_default()
    }
}

/// How a run ended; [`EndReason`] says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The model finished.
    Done,
    /// A call waits for a decision or for a browser tool.
    Waiting,
    /// The user, an administrator or a deletion stopped it.
    Stopped,
    /// A limit was reached (steps, tokens, time).
    Limit,
    /// It failed. The UI offers Retry.
    Failed,
    /// The server died during the run. The UI offers Continue.
    Interrupted,
}

impl Outcome {
    /// Returns whether the answer is incomplete.
    pub fn is_incomplete(self) -> bool {
        matches!(self, Self::Stopped | Self::Limit | Self::Failed | Self::Interrupted)
    }

    /// The name in storage and in the UI.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
            Self::Limit => "limit",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

read_names!(Outcome {
    "done" => Done,
    "waiting" => Waiting,
    "stopped" => Stopped,
    "limit" => Limit,
    "failed" => Failed,
    "interrupted" => Interrupted,
});

/// Token usage, summed over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// All input tokens, including cached ones.
    pub input_tokens: u64,
    /// All output tokens, including reasoning.
    pub output_tokens: u64,
    /// The part of the input that was read from a cache.
    pub cache_read_tokens: u64,
    /// The part of the input that was written to a cache.
    pub cache_write_tokens: u64,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: u64,
}

read_struct!(TokenUsage {
    input_tokens: "inputTokens",
    output_tokens: "outputTokens",
    cache_read_tokens: "cacheReadTokens" or default,
    cache_write_tokens: "cacheWriteTokens" or default,
    reasoning_tokens: "reasoningTokens" or default,
});
