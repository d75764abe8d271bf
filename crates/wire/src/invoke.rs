//! Asking an agent from a program: `POST /api/runs/invoke`. Names are those of the service that programs know it from.

use crate::EndReason;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct InvokeRequest {
    /// The agent's id.
    #[serde(alias = "agent_id")]
    pub agent_name: String,
    /// The question.
    pub input: InvokeInput,
    /// The form of the answer; text without it.
    #[serde(default)]
    pub response_schema: Option<ResponseSchema>,
    /// How long it may take.
    #[serde(default)]
    pub agent_tier: AgentTier,
}

/// The question.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct InvokeInput {
    /// In words.
    pub prompt: String,
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ResponseSchema {
    /// A name for it.
    pub name: String,
    /// Whether the provider is to enforce it, where it can.
    #[serde(default)]
    pub strict: bool,
    /// A JSON Schema.
    pub schema: Value,
}

/// How long an invocation may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentTier {
    /// 30 seconds.
    #[default]
    Simple,
    /// 5 minutes.
    Complex,
    /// 30 minutes.
    Batch,
}

/// How an invocation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InvocationStatus {
    /// It is being answered.
    Running,
    /// There is an output.
    Succeeded,
    /// There is none, and `error` says why.
    Failed,
    /// There is none, because the time of its tier is over.
    Timeout,
}

/// An invocation and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Invocation {
    /// Its id.
    pub run_id: String,
    /// The agent that was asked.
    pub agent_name: String,
    /// How it stands.
    pub status: InvocationStatus,
    /// The text, or the JSON that was asked for; `null` without one.
    pub output: Value,
    /// Why there is no output.
    pub error: Option<String>,
    /// Why it ended; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

/// Invocations, newest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InvocationList {
    /// At most the asked number.
    pub items: Vec<Invocation>,
}
