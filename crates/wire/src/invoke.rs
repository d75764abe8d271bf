//! Invocations of an agent by a program: `POST /api/runs/invoke`. The field names are those of an
//! existing service, so that its clients work unchanged.

use crate::EndReason;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to invoke an agent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InvokeRequest {
    /// The agent's id.
    #[serde(alias = "agent_id")]
    pub agent_name: String,
    /// The input.
    pub input: InvokeInput,
    /// The schema of the answer; if absent, the answer is text.
    #[serde(default)]
    pub response_schema: Option<ResponseSchema>,
    /// The time limit.
    #[serde(default)]
    pub agent_tier: AgentTier,
    /// The tools that the agent may use: `true` for all that run on the server, or their names.
    /// Default: none.
    #[serde(default)]
    pub tools: InvokeTools,
    /// The tools whose calls are approved in advance. Other calls that need an approval are denied,
    /// because nobody can be asked. A policy that asks is not satisfied by this.
    #[serde(default)]
    pub approved_tools: Vec<String>,
    /// Limits for this run beside those of the agent; the stricter ones apply.
    #[serde(default)]
    pub limits: InvokeLimits,
}

/// The tools of an invocation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum InvokeTools {
    /// All of the agent's tools that run on the server, or none.
    All(bool),
    /// These tools.
    Named(Vec<String>),
}

impl Default for InvokeTools {
    fn default() -> Self {
        Self::All(false)
    }
}

/// The limits of an invocation. Sub-agents and all attempts count.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InvokeLimits {
    /// The most requests to models, at least 1.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub request_limit: Option<u32>,
    /// The most tokens, at least 1.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub total_tokens_limit: Option<u64>,
    /// The most tool calls.
    #[serde(default)]
    pub tool_calls_limit: Option<u32>,
    /// The highest cost in US dollars.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub max_cost_dollars: Option<f64>,
    /// The longest duration in seconds, at least 1.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub timeout_seconds: Option<u32>,
}

/// The input of an invocation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InvokeInput {
    /// The prompt.
    pub prompt: String,
}

/// The required format of an answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponseSchema {
    /// The name of the schema.
    pub name: String,
    /// Whether the provider should enforce it, if it can.
    #[serde(default)]
    pub strict: bool,
    /// A JSON Schema.
    pub schema: Value,
}

/// The time limit of an invocation, as the config sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentTier {
    /// 30 seconds, unless the config says otherwise.
    #[default]
    Simple,
    /// 5 minutes, unless the config says otherwise.
    Complex,
    /// 30 minutes, unless the config says otherwise.
    Batch,
}

/// The status of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InvocationStatus {
    /// The run is in progress.
    Running,
    /// The run succeeded; `output` has the answer.
    Succeeded,
    /// The run failed; `error` says why.
    Failed,
    /// The time limit of the tier was reached.
    Timeout,
}

/// An invocation with its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Invocation {
    /// The id of the run.
    pub run_id: String,
    /// The agent.
    pub agent_name: String,
    /// The status.
    pub status: InvocationStatus,
    /// The answer: a text, or the requested JSON; `null` if there is none.
    pub output: Value,
    /// The error message, if it failed.
    pub error: Option<String>,
    /// Why the run ended; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

/// Invocations, newest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InvocationList {
    /// At most the requested number.
    pub items: Vec<Invocation>,
}
