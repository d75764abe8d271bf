//! The tool that finds deferred tools.

use crate::deferral::index::ToolIndex;
use crate::deferral::{TOOL_CALL, TOOL_SEARCH};
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

/// How many tools are found without a `limit`.
const DEFAULT: u64 = 5;
/// The most tools that are found.
const MOST: u64 = 20;
/// The most bytes of a result. The first tool is always complete.
const MAX_BYTES: usize = 32_000;

/// Finds deferred tools by keywords.
pub(super) struct ToolSearch {
    spec: ToolSpec,
    index: Arc<ToolIndex>,
}

impl ToolSearch {
    pub(super) fn new(index: Arc<ToolIndex>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "Keywords, or the exact names of tools. They are looked for in names, descriptions and names of arguments.",
                },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "description": "The most tools. Default: 5." },
            },
            "required": ["query"],
        });
        let about = format!(
            "Finds tools that are not listed, and returns what they do and their parameters. Call them with {TOOL_CALL}."
        );
        let mut spec = ToolSpec::new(TOOL_SEARCH, about, schema);
        (spec.annotations.idempotent, spec.annotations.reads_only) = (true, true);
        Self { spec, index }
    }

    fn search(&self, input: &Value) -> Value {
        let query = input["query"].as_str().unwrap_or_default();
        let most = input["limit"].as_u64().unwrap_or(DEFAULT).min(MOST);
        let (mut tools, mut names, mut bytes) = (Vec::new(), Vec::new(), 0);
        for spec in self.index.search(query, usize::try_from(most).unwrap_or_default()) {
            let ToolSpec { name, description, input_schema, .. } = spec;
            let tool = json!({ "name": name, "description": description, "parameters": input_schema });
            bytes += tool.to_string().len();
            if tools.is_empty() || bytes <= MAX_BYTES { tools.push(tool) } else { names.push(name) }
        }
        let mut found = json!({ "tools": tools });
        if !names.is_empty() {
            found["more"] = json!(names);
        }
        if tools.is_empty() {
            found["note"] = "No tool has these words. Try others, or a name from the list in your instructions.".into();
        }
        found
    }
}

impl Tool for ToolSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        let found = self.search(&input);
        Box::pin(async { Ok(found) })
    }
}
