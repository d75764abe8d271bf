//! An endpoint as a tool.

use crate::{CallContext, Endpoints, Gate};
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// An endpoint that an agent can call. It becomes a tool for each caller.
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

    /// The tool in the hands of an agent that works for this caller.
    pub fn of(&self, gate: Arc<dyn Gate>) -> CallersTool {
        CallersTool { tool: self.clone(), gate }
    }
}

/// An endpoint as one caller's tool: its whole routine runs, with its checks, his rights included (L-48).
pub struct CallersTool {
    tool: EndpointTool,
    gate: Arc<dyn Gate>,
}

impl Tool for CallersTool {
    fn spec(&self) -> &ToolSpec {
        &self.tool.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        let ToolContext { user_id, cancel, models, .. } = context;
        let caller = CallContext { user_id, gate: self.gate.clone(), models, cancel };
        Box::pin(async move {
            let called = self.tool.endpoints.call(&self.tool.endpoint_id, input, &caller).await;
            called.map_err(|error| ToolError::new(error.to_string()))
        })
    }
}
