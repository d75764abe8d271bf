//! The request of an invocation: its checks and its conversion.

use crate::Caller;
use agent::{Agent, AnswerForm, InvocationTools, SchemaError, TurnLimits};
use contract::{Execution, ResponseFormat, Tool};
use settings::InvocationTiers;
use std::sync::Arc;
use std::time::Duration;
use wire::invoke::{AgentTier, InvokeLimits, InvokeRequest, InvokeTools, ResponseSchema};
use wire::{ErrorCode, ErrorReason, UserError};

/// The maximum length of a prompt in characters.
const MAX_PROMPT: usize = 1_000_000;
/// The maximum number of tools that a request names.
const MAX_NAMES: usize = 200;

/// Checks what does not depend on the agent.
pub(super) fn check(request: &InvokeRequest) -> Result<(), UserError> {
    if request.input.prompt.trim().is_empty() {
        return Err(UserError::invalid("/input/prompt", "The prompt is empty."));
    }
    if request.input.prompt.chars().count() > MAX_PROMPT {
        let message = format!("The prompt is longer than {MAX_PROMPT} characters.");
        return Err(UserError {
            path: Some("/input/prompt".to_owned()),
            ..UserError::new(ErrorCode::TooLarge, message)
        });
    }
    check_limits(&request.limits)?;
    let name = request.response_schema.as_ref().map_or("answer", |schema| &schema.name);
    if !contract::is_name(name) {
        let message = "Use up to 64 letters, digits, `_` and `-`.";
        return Err(UserError::invalid("/response_schema/name", message));
    }
    Ok(())
}

/// Zero would refuse every invocation, which is surely not what is meant.
fn check_limits(limits: &InvokeLimits) -> Result<(), UserError> {
    let zero = [
        ("request_limit", limits.request_limit == Some(0)),
        ("total_tokens_limit", limits.total_tokens_limit == Some(0)),
        ("max_cost_dollars", limits.max_cost_dollars.is_some_and(|most| !most.is_finite() || most <= 0.0)),
        ("timeout_seconds", limits.timeout_seconds == Some(0)),
    ];
    match zero.into_iter().find(|(_, is_zero)| *is_zero) {
        Some((name, _)) => Err(UserError::invalid(format!("/limits/{name}"), "A limit is greater than 0.")),
        None => Ok(()),
    }
}

/// Checks that a caller may approve tools in advance: for an agent whose config names approvers, only they may. Otherwise
/// whoever is to be controlled would decide.
///
/// # Errors
/// 422 for another caller.
pub(super) fn check_approved_tools(
    configured: &[String],
    caller: &Caller,
    request: &InvokeRequest,
) -> Result<(), UserError> {
    let is_approver = || caller.scope().roles.iter().any(|role| configured.contains(role));
    if request.approved_tools.is_empty() || configured.is_empty() || is_approver() {
        return Ok(());
    }
    let roles = configured.join(", ");
    let message = format!("Only users with one of these roles approve calls of this agent: {roles}.");
    Err(UserError::invalid("/approved_tools", message))
}

/// Checks the names of tools. The tools of an agent's sources are known only when it runs.
pub(super) fn check_tools(request: &InvokeRequest, agent: &Agent) -> Result<(), UserError> {
    let named: &[String] = match &request.tools {
        InvokeTools::Named(names) => names,
        InvokeTools::All(_) => &[],
    };
    let has_none = request.tools == InvokeTools::All(false);
    if has_none && !request.approved_tools.is_empty() {
        return Err(UserError::invalid("/approved_tools", "Without `tools` there is nothing to approve."));
    }
    for (path, names) in [("/tools", named), ("/approved_tools", &*request.approved_tools)] {
        if names.len() > MAX_NAMES {
            return Err(UserError::invalid(path, format!("At most {MAX_NAMES} tools can be named.")));
        }
        for (at, name) in names.iter().enumerate() {
            if is_usable(agent, name) == Some(false) {
                let message = format!("The agent has no tool `{name}` that can be used here.");
                return Err(UserError::invalid(format!("{path}/{at}"), message));
            }
        }
    }
    Ok(())
}

/// Returns whether the agent has such a tool; `None` if that is not known yet.
fn is_usable(agent: &Agent, name: &str) -> Option<bool> {
    let own = agent.tools.iter().map(|tool| tool.spec()).find(|spec| spec.name == name);
    if let Some(spec) = own {
        return Some(spec.execution == Execution::Server);
    }
    let is_agent = agent.agents.iter().any(|below| below.spec.name == name);
    if is_agent || agent.sources.is_empty() { Some(is_agent) } else { None }
}

/// Compiles the schema of the answer.
pub(super) async fn form(ResponseSchema { name, strict, schema }: ResponseSchema) -> Result<AnswerForm, UserError> {
    AnswerForm::new(ResponseFormat { name, strict, schema }).await.map_err(refused)
}

/// Returns the error for an unusable schema.
fn refused(error: SchemaError) -> UserError {
    const PATH: &str = "/response_schema/schema";
    match error {
        SchemaError::Busy => capacity_error(),
        SchemaError::Invalid { path, message, .. } => {
            UserError::invalid(format!("{PATH}{path}"), format!("This is not a JSON Schema: {message}."))
        }
        SchemaError::Refused(reason) => UserError::invalid(PATH, format!("This schema cannot be used: {reason}.")),
    }
}

/// Returns the time limit of a tier.
pub(super) fn time_limit(tier: AgentTier, tiers: &InvocationTiers) -> Duration {
    match tier {
        AgentTier::Simple => tiers.simple,
        AgentTier::Complex => tiers.complex,
        AgentTier::Batch => tiers.batch,
    }
}

/// Returns the most bytes that a run of a tier reads and writes.
pub(super) fn byte_limit(tier: AgentTier, tiers: &InvocationTiers) -> u64 {
    match tier {
        AgentTier::Simple => tiers.simple_bytes,
        AgentTier::Complex => tiers.complex_bytes,
        AgentTier::Batch => tiers.batch_bytes,
    }
}

/// Returns the limits of the request in the terms of an agent's.
pub(super) fn limits(limits: &InvokeLimits) -> TurnLimits {
    TurnLimits {
        requests: limits.request_limit,
        total_tokens: limits.total_tokens_limit,
        tool_calls: limits.tool_calls_limit,
        cost_usd: limits.max_cost_dollars,
        time: limits.timeout_seconds.map(u64::from).map(Duration::from_secs),
    }
}

/// Returns the tools of an invocation, if any are wanted; `approved` are those that need no further
/// approval, `program` those that the program runs itself.
pub(super) fn tools(tools: InvokeTools, approved: Vec<String>, program: Vec<Arc<dyn Tool>>) -> Option<InvocationTools> {
    let only = match tools {
        InvokeTools::All(false) => return None,
        InvokeTools::All(true) => None,
        InvokeTools::Named(names) => Some(names),
    };
    Some(InvocationTools { only, approved, program })
}

/// Returns the error while too many invocations are running.
pub(super) fn capacity_error() -> UserError {
    let message = "Too many invocations are running. Try again in a moment.";
    let error = UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::ServerBusy);
    UserError { retry_after: Some(5), ..error }
}
