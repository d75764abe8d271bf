//! Endpoints as tools.

use crate::{CallContext, CallingAgent, EndpointGate, Endpoints};
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// An endpoint that agents can call. [`EndpointTool::for_caller`] returns the tool for a caller.
#[derive(Clone)]
pub struct EndpointTool {
    endpoints: Arc<Endpoints>,
    endpoint_id: Arc<str>,
    spec: Arc<ToolSpec>,
}

impl EndpointTool {
    pub(crate) fn new(endpoints: Arc<Endpoints>, endpoint_id: &str, spec: ToolSpec) -> Self {
        Self { endpoints, endpoint_id: endpoint_id.into(), spec: Arc::new(spec) }
    }

    /// Returns the tool for an agent that works for this caller.
    pub fn for_caller(&self, gate: Arc<dyn EndpointGate>) -> CallerEndpointTool {
        CallerEndpointTool { tool: self.clone(), gate }
    }
}

/// An endpoint as the tool of one caller. A call runs the whole routine with its checks, including
/// the caller's rights, so a model can do no more than its user.
pub struct CallerEndpointTool {
    tool: EndpointTool,
    gate: Arc<dyn EndpointGate>,
}

impl Tool for CallerEndpointTool {
    fn spec(&self) -> &ToolSpec {
        &self.tool.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        let idempotency_key = context.idempotency_key();
        let ToolContext { scope, cancel, models, reports, .. } = context;
        let caller = CallContext {
            user_id: scope.user_id.clone(),
            gate: self.gate.clone(),
            agent: Some(CallingAgent::new(&scope.agent_id, &scope.conversation_id)),
            models,
            idempotency_key,
            cancel,
            reports,
        };
        Box::pin(async move {
            let called = self.tool.endpoints.call(&self.tool.endpoint_id, input, &caller).await;
            called.map_err(|error| {
                let (endpoint, at) = (&*self.tool.endpoint_id, error.position());
                if !at.is_empty() {
                    tracing::warn!(endpoint, at, %error, "a step of an endpoint failed that an agent called");
                }
                ToolError::new(error.to_string())
            })
        })
    }
}
