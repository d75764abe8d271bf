//! The tool with which a model reads results that were cleared.

use crate::context::earlier::EarlierMessages;
use contract::{Message, Tool, ToolContext, ToolError, ToolResult, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

/// The name of the tool.
pub const READ_RESULT_TOOL: &str = "read-tool-result";

/// How much of a result one call returns at most, in bytes.
const PAGE: usize = 16_000;

/// Reads results of the history.
pub(crate) struct ReadResult {
    spec: ToolSpec,
    /// The messages with results, as they were before they were cleared.
    messages: Vec<Arc<Message>>,
    /// The messages before them.
    earlier: Option<EarlierMessages>,
    /// How much of a result one call returns, in bytes.
    page: usize,
}

impl ReadResult {
    /// Creates the tool for the results of a history and the messages before it, of which the model reads this many
    /// bytes at once at most.
    pub(crate) fn new(history: &[Arc<Message>], earlier: Option<EarlierMessages>, result_limit: usize) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "callId": { "type": "string", "description": "The id of the call, from the note in place of its result." },
                "offset": { "type": "integer", "minimum": 0, "description": "Where to begin, in bytes. Default: 0." },
            },
            "required": ["callId"],
            "additionalProperties": false,
        });
        let about = "Reads the result of an earlier tool call that was cleared or shortened to save space.";
        let mut spec = ToolSpec::new(READ_RESULT_TOOL, about, schema);
        (spec.annotations.idempotent, spec.annotations.reads_only) = (true, true);
        let has_results = |message: &&Arc<Message>| matches!(***message, Message::Tool(_));
        let messages = history.iter().filter(has_results).cloned().collect();
        Self { spec, messages, earlier, page: result_limit.min(PAGE) }
    }

    async fn find(&self, call_id: &str) -> Option<&ToolResult> {
        match (result_of(&self.messages, call_id), &self.earlier) {
            (None, Some(earlier)) => result_of(earlier.load().await, call_id),
            (found, _) => found,
        }
    }

    async fn read(&self, input: &Value) -> Result<Value, ToolError> {
        let call_id = input["callId"].as_str().unwrap_or_default();
        let found = self.find(call_id).await;
        let result = found.ok_or_else(|| ToolError::new("There is no result of a call with this id."))?;
        let text = result.output.to_text();
        let offset = input["offset"].as_u64().and_then(|offset| usize::try_from(offset).ok()).unwrap_or_default();
        let from = text.floor_char_boundary(offset.min(text.len()));
        let to = text.floor_char_boundary(from.saturating_add(self.page).min(text.len()));
        let mut page = json!({ "toolName": result.name, "text": text[from..to] });
        if to < text.len() {
            page["nextOffset"] = to.into();
        }
        Ok(page)
    }
}

fn result_of<'m>(messages: &'m [Arc<Message>], call_id: &str) -> Option<&'m ToolResult> {
    messages.iter().rev().find_map(|message| match &**message {
        Message::Tool(results) => results.iter().find(|result| result.call_id == call_id),
        _ => None,
    })
}

impl Tool for ReadResult {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.read(&input).await })
    }
}
