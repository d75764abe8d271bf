//! Tools that a page runs in the user's browser. The page's developer declares them, and the model
//! calls them like any other tool.

use contract::{ApprovalTerms, Execution, Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;

/// A tool of a page. Only the server's declaration counts: nothing that a browser sends can add a
/// tool or change its declaration.
pub struct PageTool {
    spec: ToolSpec,
}

impl PageTool {
    /// Creates the tool. `asks` says whether each call needs the user's approval, and `approval`
    /// has the terms of the requests.
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
