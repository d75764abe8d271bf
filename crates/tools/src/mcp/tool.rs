//! A server's tool.

use super::server::Seat;
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// A tool of a server, as one agent is given it for one turn.
pub(super) struct McpTool {
    pub(super) spec: ToolSpec,
    /// The server's name for it.
    pub(super) name: String,
    /// What the user knows of it when the call is approved.
    pub(super) fingerprint: [u8; 32],
    pub(super) seat: Arc<Seat>,
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move {
            // It is only called when the user agreed, or did not need to.
            self.seat.accept(&self.name, self.fingerprint);
            let Value::Object(arguments) = input else {
                return Err(ToolError::new("The arguments must be a JSON object."));
            };
            self.seat.call(&self.name, self.fingerprint, arguments, context).await
        }
        .boxed()
    }
}
