//! What the engine needs of the product: agents, endpoints, and the workflows of the config.

use super::Remaining;
use crate::definition::{AgentStep, Step, StepKind, ToolStep, Workflow, WorkflowBytes, Workflows};
use crate::store::Used;
use capability::{Context, EndpointCall, EndpointFailure};
use chat::{Caller, CountedInvocation, CountedToolCall, InvocationUsage, ToolCallRequest, ToolFailure};
use contract::{CallReports, ModelUse};
use futures::FutureExt;
use futures::future::BoxFuture;
use operators::Operators;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wire::invoke::{
    AgentTier, InvocationStatus, InvokeInput, InvokeLimits, InvokeRequest, InvokeTools, ResponseSchema,
};
use wire::{EndReason, ErrorCode, UserError};

/// A call of an agent, a tool or an endpoint.
pub(crate) struct Call {
    /// As whom.
    pub(crate) caller: Caller,
    /// The workflow, for the usage.
    pub(crate) workflow_id: String,
    /// The tier of the workflow's agent steps.
    pub(crate) tier: Option<AgentTier>,
    /// The step.
    pub(crate) step: Step,
    /// The evaluated input.
    pub(crate) input: Value,
    /// The key that stays the same over all attempts.
    pub(crate) key: String,
    /// What may be used.
    pub(crate) remaining: Remaining,
    /// Cancels the call.
    pub(crate) cancel: CancellationToken,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallOutcome {
    /// The output, or the kind and the message of the error.
    pub(crate) result: Result<Value, (&'static str, String)>,
    /// What was used.
    pub(crate) used: Used,
}

/// What the engine needs of the product.
pub(crate) trait StepHost: Send + Sync + 'static {
    /// Returns a workflow of the config.
    fn workflow(&self, id: &str) -> Option<Workflow>;

    /// Returns the operators of the program.
    fn operators(&self) -> Arc<Operators>;

    /// Returns how many bytes runs keep.
    fn bytes(&self) -> WorkflowBytes;

    /// Calls an agent, a tool or an endpoint, within the time limit of the step.
    fn call(&self, call: Call) -> BoxFuture<'static, CallOutcome>;
}

/// The running server.
#[derive(Clone)]
pub(crate) struct ContextHost(pub(crate) Context);

impl StepHost for ContextHost {
    fn workflow(&self, id: &str) -> Option<Workflow> {
        self.0.current.config().section::<Workflows>()?.get(id).cloned()
    }

    fn operators(&self) -> Arc<Operators> {
        self.0.current.operators()
    }

    fn bytes(&self) -> WorkflowBytes {
        self.0.current.config().section::<WorkflowBytes>().copied().unwrap_or_default()
    }

    fn call(&self, call: Call) -> BoxFuture<'static, CallOutcome> {
        let host = self.clone();
        async move {
            match &call.step.kind {
                StepKind::Agent(asked) => host.ask(asked, &call).await,
                StepKind::Tool(called) => host.call_tool(called, &call).await,
                _ => host.run_endpoint(&call).await,
            }
        }
        .boxed()
    }
}

impl ContextHost {
    async fn ask(&self, asked: &AgentStep, call: &Call) -> CallOutcome {
        let tier = asked.tier.or(call.tier);
        let timeout_seconds = match tier {
            Some(_) => call.step.timeout_seconds,
            None => Some(call.step.timeout()),
        };
        let request = InvokeRequest {
            agent_name: asked.agent_id.0.clone(),
            input: InvokeInput { prompt: call.input.as_str().unwrap_or_default().to_owned() },
            response_schema: asked.response_schema.clone().map(|schema| ResponseSchema {
                name: "answer".to_owned(),
                strict: false,
                schema: Value::Object(schema),
            }),
            // Without a tier, the step's own time limit is the shorter one.
            agent_tier: tier.unwrap_or(AgentTier::Batch),
            tools: match asked.tools.is_empty() {
                true => InvokeTools::All(false),
                false => InvokeTools::Named(asked.tools.iter().map(|name| name.0.clone()).collect()),
            },
            approved_tools: asked.approved_tools.iter().map(|name| name.0.clone()).collect(),
            limits: InvokeLimits { timeout_seconds, ..call.remaining.invoke_limits() },
        };
        match self.0.chat.invoke_counted(&call.caller, request, call.cancel.clone()).await {
            Ok(counted) => agent_outcome(counted),
            Err(error) => CallOutcome { result: Err(kind_of(error)), used: Used::default() },
        }
    }

    async fn call_tool(&self, called: &ToolStep, call: &Call) -> CallOutcome {
        let request = ToolCallRequest {
            agent_id: called.agent_id.0.clone(),
            tool: called.tool_name.0.clone(),
            arguments: call.input.clone(),
            is_approved: called.approved,
            idempotency_key: Some(call.key.clone()),
            limits: call.remaining.invoke_limits(),
            time: Duration::from_secs(call.step.timeout().into()),
        };
        match self.0.chat.call_tool(&call.caller, request, call.cancel.clone()).await {
            Ok(CountedToolCall { output, usage }) => {
                CallOutcome { result: output.map_err(tool_error), used: used(usage) }
            }
            Err(error) => CallOutcome { result: Err(kind_of(error)), used: Used::default() },
        }
    }

    async fn run_endpoint(&self, call: &Call) -> CallOutcome {
        let StepKind::Endpoint(called) = &call.step.kind else {
            let error = ("failed", "this type of step cannot be called".to_owned());
            return CallOutcome { result: Err(error), used: Used::default() };
        };
        let meter = call.remaining.meter();
        let time = Duration::from_secs(call.step.timeout().into());
        let request = EndpointCall {
            caller: &call.caller,
            id: &called.endpoint_id.0,
            payload: call.input.clone(),
            usage: format!("workflow:{}", call.workflow_id),
            idempotency_key: call.key.clone(),
            meter: {
                let meter = meter.clone();
                Arc::new(move |inner: ModelUse| meter.around(inner))
            },
            cancel: call.cancel.clone(),
            reports: CallReports::default(),
        };
        let result = match tokio::time::timeout(time, self.0.current.call_endpoint(request)).await {
            Err(_) => Err(("timeout", format!("The endpoint did not end within {} s.", time.as_secs()))),
            Ok(Ok(output)) => Ok(output),
            Ok(Err(failure)) => Err(match failure {
                EndpointFailure::Refused(message) => ("invalid", message),
                EndpointFailure::TimedOut(message) => ("timeout", message),
                EndpointFailure::Failed(message) => ("failed", message),
            }),
        };
        // A limit is the reason, whatever the routine made of its error.
        let result = match meter.exceeded() {
            Some(limit) if result.is_err() => Err(("limit", limit)),
            _ => result,
        };
        CallOutcome { result, used: meter.used() }
    }
}

fn agent_outcome(CountedInvocation { invocation, usage }: CountedInvocation) -> CallOutcome {
    let used = used(usage);
    let message = invocation.error.unwrap_or_else(|| "There was no answer.".to_owned());
    let result = match (invocation.status, invocation.reason) {
        (InvocationStatus::Succeeded, _) => Ok(invocation.output),
        (InvocationStatus::Timeout, _) | (_, Some(EndReason::Time)) => Err(("timeout", message)),
        (_, Some(EndReason::Unfit)) => Err(("invalid", message)),
        (_, Some(reason)) if reason.outcome() == wire::api::Outcome::Limit => Err(("limit", message)),
        _ => Err(("failed", message)),
    };
    CallOutcome { result, used }
}

fn used(usage: InvocationUsage) -> Used {
    Used {
        requests: usage.requests.into(),
        total_tokens: usage.total_tokens,
        tool_calls: usage.tool_calls.into(),
        cost_usd: usage.cost_usd,
    }
}

fn tool_error(failure: ToolFailure) -> (&'static str, String) {
    let kind = match &failure {
        ToolFailure::Refused(_) => "invalid",
        ToolFailure::Limit(..) => "limit",
        ToolFailure::TimedOut(_) => "timeout",
        ToolFailure::Failed(_) | ToolFailure::Stopped | ToolFailure::NotRecorded => "failed",
    };
    (kind, failure.to_string())
}

/// Returns the kind and the message of an error before anything was done.
fn kind_of(error: UserError) -> (&'static str, String) {
    let kind = match error.code {
        ErrorCode::Unavailable | ErrorCode::RateLimited => "unavailable",
        _ => "invalid",
    };
    (kind, error.message)
}
