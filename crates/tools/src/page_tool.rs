//! Tools that a page runs in the user's browser: its developer declares them, the model calls them like any other.

use contract::{ApprovalTerms, Execution, Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;

/// A tool of a page. It is the server's own declaration: nothing that a browser sends can add one, or change what it says of itself.
pub struct PageTool {
    spec: ToolSpec,
}

impl PageTool {
    /// The tool. `asks` says whether the user must say yes to each call, `approval` how he is asked.
    pub fn new(name: &str, description: &str, input_schema: Value, asks: bool, approval: ApprovalTerms) -> Self {
        let spec = ToolSpec::new(name, description, input_schema);
        Self { spec: ToolSpec { execution: Execution::Page, needs_approval: asks, approval, ..spec } }
    }
}

impl Tool for PageTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, _: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async { Err(ToolError::new("This tool runs in the user's browser.")) })
    }
}
