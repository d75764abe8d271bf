//! An endpoint as a tool.

use crate::{CallContext, Endpoints};
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// An endpoint that an agent can call: its whole routine runs, with its checks (L-48).
pub struct EndpointTool {
    endpoints: Arc<Endpoints>,
    endpoint_id: String,
    spec: ToolSpec,
}

impl EndpointTool {
    pub(crate) fn new(endpoints: Arc<Endpoints>, endpoint_id: &str, spec: ToolSpec) -> Self {
        Self { endpoints, endpoint_id: endpoint_id.to_owned(), spec }
    }
}

impl Tool for EndpointTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        let caller = CallContext { user_id: context.user_id, cancel: context.cancel };
        Box::pin(async move {
            let called = self.endpoints.call(&self.endpoint_id, input, &caller).await;
            called.map_err(|error| ToolError::new(error.to_string()))
        })
    }
}
