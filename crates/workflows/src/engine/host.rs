//! The interface of the engine to the product: agents, endpoints, and the workflows of the config.

use super::Remaining;
use super::outcome::{CallError, CallOutcome, of_agent, refusal, tool_error, used};
use crate::store::{ResumedStep, Used};
use capability::{Context, EndpointCall, EndpointFailure, Waiting};
use chat::{Caller, CountedToolCall, SuspendableRequest, ToolCallRequest};
use contract::{CallReports, ModelUse};
use futures::FutureExt;
use futures::future::BoxFuture;
use operators::Operators;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wire::invoke::{AgentTier, InvokeInput, InvokeLimits, InvokeRequest, InvokeTools, ResponseSchema};
use workflow_definition::{AgentStep, Step, StepKind, ToolStep, Workflow, WorkflowBytes, Workflows};

/// A call of an agent, a tool or an endpoint.
pub(crate) struct Call {
    /// The caller of the step.
    pub(crate) caller: Caller,
    /// The workflow, for the usage.
    pub(crate) workflow_id: String,
    /// The workflows that led to the step, this one's last.
    pub(crate) causes: Vec<String>,
    /// The tier of the workflow's agent steps.
    pub(crate) tier: Option<AgentTier>,
    /// The step.
    pub(crate) step: Step,
    /// The evaluated input.
    pub(crate) input: Value,
    /// The key that stays the same over all attempts.
    pub(crate) key: String,
    /// The remaining budget.
    pub(crate) remaining: Remaining,
    /// The state from which an agent continues that has waited for decisions.
    pub(crate) resumed: Option<ResumedStep>,
    /// Cancels the call.
    pub(crate) cancel: CancellationToken,
}

/// The interface of the engine to the product.
pub(crate) trait StepHost: Send + Sync + 'static {
    /// Returns a workflow of the config.
    fn workflow(&self, id: &str) -> Option<Workflow>;

    /// Returns the operators of the program.
    fn operators(&self) -> Arc<Operators>;

    /// Returns how many bytes runs keep.
    fn bytes(&self) -> WorkflowBytes;

    /// Returns what tells people of questions.
    fn waiting(&self) -> Waiting;

    /// Calls an agent, a tool or an endpoint, within the time limit of the step.
    fn call(&self, call: Call) -> BoxFuture<'static, CallOutcome>;
}

/// The running server, with what tells people of questions.
#[derive(Clone)]
pub(crate) struct ContextHost(pub(crate) Context, pub(crate) Waiting);

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

    fn waiting(&self) -> Waiting {
        self.1.clone()
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
        let (key, from, used_before) = match call.resumed.clone() {
            // Equal calls before and after a decision are not the same call.
            Some(ResumedStep { state, suspensions, used }) => {
                (format!("{}/{suspensions}", call.key), Some(state), used)
            }
            None => (call.key.clone(), None, Used::default()),
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
            tools: if asked.tools.is_empty() {
                InvokeTools::All(false)
            } else {
                InvokeTools::Named(asked.tools.iter().map(|name| name.0.clone()).collect())
            },
            approved_tools: asked.approved_tools.iter().map(|name| name.0.clone()).collect(),
            // The limits count from the beginning of the agent's turn.
            limits: InvokeLimits { timeout_seconds, ..call.remaining.beside(&used_before).invoke_limits() },
        };
        let request = SuspendableRequest { request, key, from, causes: call.causes.clone() };
        match self.0.chat.invoke_suspendable(&call.caller, request, call.cancel.clone()).await {
            Ok(outcome) => of_agent(outcome),
            Err(error) => CallOutcome::unmade(refusal(error)),
        }
    }

    async fn call_tool(&self, called: &ToolStep, call: &Call) -> CallOutcome {
        let request = ToolCallRequest {
            agent_id: called.agent_id.0.clone(),
            tool: called.tool_name.0.clone(),
            arguments: call.input.clone(),
            is_approved: called.approved,
            app: None,
            idempotency_key: Some(call.key.clone()),
            causes: call.causes.clone(),
            limits: call.remaining.invoke_limits(),
            time: Duration::from_secs(call.step.timeout().into()),
        };
        match self.0.chat.call_tool(&call.caller, request, call.cancel.clone()).await {
            Ok(CountedToolCall { output, usage }) => {
                let result = output.map_err(|failure| tool_error(&failure, self.0.chat.is_draining()));
                CallOutcome { result, used: used(usage) }
            }
            Err(error) => CallOutcome::unmade(refusal(error)),
        }
    }

    async fn run_endpoint(&self, call: &Call) -> CallOutcome {
        let StepKind::Endpoint(called) = &call.step.kind else {
            let message = "this type of step cannot be called".to_owned();
            return CallOutcome::unmade(CallError::Failed("failed", message));
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
            Err(_) => {
                Err(CallError::Failed("timeout", format!("The endpoint did not end within {} s.", time.as_secs())))
            }
            Ok(Ok(output)) => Ok(output),
            Ok(Err(failure)) => Err(match failure {
                EndpointFailure::Refused(message) => CallError::Failed("invalid", message),
                EndpointFailure::TimedOut(message) => CallError::Failed("timeout", message),
                EndpointFailure::Failed(message) => CallError::Failed("failed", message),
            }),
        };
        // A limit is the reason, whatever the routine made of its error.
        let result = match meter.exceeded() {
            Some(limit) if result.is_err() => Err(CallError::Failed("limit", limit)),
            _ => result,
        };
        CallOutcome { result, used: meter.used() }
    }
}
