//! A tool of an MCP server.

use crate::users::UserConnection;
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// A tool of a server for one agent and one turn.
pub(crate) struct McpTool {
    pub(crate) spec: ToolSpec,
    /// The server's name for the tool.
    pub(crate) name: String,
    /// The fingerprint that the user accepts by approving the call.
    pub(crate) fingerprint: [u8; 32],
    pub(crate) seat: Arc<UserConnection>,
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move {
            // A call runs only after the user's approval, or if it needs none.
            self.seat.accept(&self.name, self.fingerprint);
            let Value::Object(arguments) = input else {
                return Err(ToolError::new("The arguments must be a JSON object."));
            };
            self.seat.call(&self.name, self.fingerprint, arguments, context).await
        }
        .boxed()
    }
}
