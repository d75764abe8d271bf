//! The outcomes of calls, and what the model reads of them.

use contract::{ApprovalTerms, ToolCall, ToolError, ToolOutput, ToolResult};
use serde_json::Value;

/// The outcome of a call.
#[derive(Clone, Debug)]
pub(crate) enum CallOutcome {
    /// The call's result.
    Result(Result<Value, ToolError>),
    /// The call waits for the user.
    Suspended {
        /// The result so far.
        output: Value,
        /// The state from which the call resumes.
        state: Value,
        /// The terms of the approval request.
        terms: ApprovalTerms,
    },
}

impl CallOutcome {
    /// Returns the outcome of a call that failed, with what the model reads.
    pub(crate) fn failed(text: &str) -> Self {
        Self::Result(Err(ToolError::new(text)))
    }
}

/// Returns the result of a call as the model reads it.
pub(super) fn tool_result(call: &ToolCall, result: &Result<Value, ToolError>) -> ToolResult {
    ToolResult { call_id: call.id.clone(), name: call.name.clone(), output: output(result), metadata: None }
}

/// Returns the output of a call as the model reads it.
pub(crate) fn output(result: &Result<Value, ToolError>) -> ToolOutput {
    match result {
        Ok(value) => ToolOutput::from_url(value.clone()),
        Err(error) => ToolOutput::ErrorText(error.message.clone()),
    }
}
