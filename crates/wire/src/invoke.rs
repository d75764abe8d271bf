//! Runs of agents by programs, without a conversation: `POST /api/runs/invoke` and `POST /api/runs`. The field names are those of an
//! existing service, so that its clients work unchanged.

use crate::EndReason;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to invoke an agent.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InvokeInput {
    /// The prompt.
    pub prompt: String,
}

/// The required format of an answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
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

/// A request to run an agent with its tools, without a conversation: `POST /api/runs`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRequest {
    /// The agent's id.
    #[serde(alias = "agent_id")]
    pub agent_name: String,
    /// The input.
    pub input: InvokeInput,
    /// How the result is returned.
    #[serde(default)]
    pub mode: RunMode,
    /// The schema of the answer; if absent, the answer is text.
    #[serde(default)]
    pub response_schema: Option<ResponseSchema>,
    /// The limits of time and memory.
    #[serde(default)]
    pub agent_tier: AgentTier,
    /// The tools that the agent may use: `true` for all that run on the server (the default), or their
    /// names.
    #[serde(default = "all_tools")]
    pub tools: InvokeTools,
    /// The tools whose calls are approved in advance. Other calls that need an approval wait for an
    /// answer (`POST /api/runs/{id}/answer`). A policy that asks is not satisfied by this.
    #[serde(default)]
    pub approved_tools: Vec<String>,
    /// Limits for this run beside those of the agent; the stricter ones apply. Those of an
    /// administrator replace the agent's.
    #[serde(default)]
    pub limits: InvokeLimits,
    /// The roles whose users decide on calls that need an approval, instead of the caller; at most 20.
    /// If the agent's config names some, those apply, and the request may only narrow them.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = 20)))]
    pub approvers: Vec<String>,
}

fn all_tools() -> InvokeTools {
    InvokeTools::All(true)
}

/// How the result of a run is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunMode {
    /// The response is the run when it has ended, or waits for an answer. If the server dies meanwhile,
    /// the run has failed.
    #[default]
    Sync,
    /// The response is a stream of AI SDK chunks.
    Stream,
    /// The response is 202 with the id, at once. A job executes the run, and another server continues it
    /// if that server dies.
    Queued,
}

impl From<RunRequest> for InvokeRequest {
    fn from(request: RunRequest) -> Self {
        let RunRequest {
            agent_name,
            input,
            mode: _,
            response_schema,
            agent_tier,
            tools,
            approved_tools,
            limits,
            approvers: _,
        } = request;
        Self { agent_name, input, response_schema, agent_tier, tools, approved_tools, limits }
    }
}

/// A tool call that waits for an answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunQuestion {
    /// The id of the call, for the answer.
    pub call_id: String,
    /// The tool.
    pub tool_name: String,
    /// The arguments.
    pub input: Value,
    /// Whether the server died while the call ran, so that it may have had its effect: approving it runs
    /// it again.
    #[serde(default)]
    pub cut_off: bool,
    /// When it is denied unless it is answered; Unix time, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// The answer to a question of a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunAnswer {
    /// The call.
    pub call_id: String,
    /// Whether it runs.
    pub approved: bool,
    /// Why not, for the model; at most 2,000 characters.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A run that waits for the decision of a user with a role that the caller has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndecidedRun {
    /// The id of the run.
    pub run_id: String,
    /// The agent.
    pub agent_name: String,
    /// The user who started it.
    pub started_by: String,
    /// Their name, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_by_name: Option<String>,
    /// The tool calls that wait for an answer.
    pub questions: Vec<RunQuestion>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

/// Runs that wait for a decision, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndecidedRunList {
    /// At most 100.
    pub items: Vec<UndecidedRun>,
    /// The cursor for `after`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The status of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InvocationStatus {
    /// A job is going to execute the run.
    Pending,
    /// The run is in progress.
    Running,
    /// A tool call waits for an answer; `questions` has it.
    Waiting,
    /// The run succeeded; `output` has the answer.
    Succeeded,
    /// The run failed; `error` says why.
    Failed,
    /// The time limit was reached.
    Timeout,
    /// The run was stopped.
    Stopped,
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
    /// The tool calls that wait for an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<RunQuestion>,
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
