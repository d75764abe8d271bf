//! A tool that records its calls.

use super::session::millis_since;
use super::{Session, recorded_outcome};
use crate::format::Entry;
use contract::{RunScope, Tool, ToolContext, ToolError, ToolSpec, mask_secrets};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use tokio::time::Instant;

/// Records the calls of a tool.
pub(super) struct RecordingTool {
    pub(super) session: Arc<Session>,
    pub(super) agent: String,
    pub(super) inner: Arc<dyn Tool>,
}

impl Tool for RecordingTool {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn needs_approval_for<'a>(&'a self, input: &'a Value, scope: &'a RunScope) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let needed = self.inner.needs_approval_for(input, scope).await;
            let (agent, tool) = (self.agent.clone(), self.spec().name.clone());
            self.session.push(Entry::Approval { agent, tool, input: mask_secrets(input), needed });
            needed
        })
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let (call_id, masked, begun) = (context.call_id.clone(), mask_secrets(&input), Instant::now());
            let result = self.inner.call(input, context).await;
            self.session.push(Entry::Tool {
                agent: self.agent.clone(),
                call_id,
                tool: self.spec().name.clone(),
                input: masked,
                outcome: recorded_outcome(&result),
                ms: millis_since(begun),
            });
            result
        })
    }
}
