//! What a tool promises.

use crate::ToolError;
use futures::future::BoxFuture;
use serde_json::Value;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What the model is told about a tool, and how the loop treats it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// For the model.
    pub description: String,
    /// JSON Schema of an object. Input is checked against it before anything runs.
    pub input_schema: Value,
    /// Who runs it.
    pub execution: Execution,
    /// Whether the user must say yes to each call.
    pub needs_approval: bool,
    /// How long one call may take.
    pub timeout: Duration,
}

impl ToolSpec {
    /// How long a call may take unless a tool says otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

    /// A tool that the server runs without asking.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            execution: Execution::Server,
            needs_approval: false,
            timeout: Self::DEFAULT_TIMEOUT,
        }
    }
}

/// Who runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// [`Tool::call`].
    Server,
    /// The user's browser: a call ends the run, its output starts the next one.
    Client,
}

/// A tool that an agent can call.
pub trait Tool: Send + Sync + 'static {
    /// What it is.
    fn spec(&self) -> &ToolSpec;

    /// Runs one call. `input` has passed the schema. Never called for [`Execution::Client`].
    ///
    /// # Errors
    /// The text is for the model, which reads it and goes on; it must not hold secrets or paths.
    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>>;
}

/// What a call may know and must obey.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The call's id, unique within the conversation.
    pub call_id: String,
    /// On whose behalf; a tool that reads someone's data asks for this id.
    pub user_id: String,
    /// In which conversation.
    pub conversation_id: String,
    /// Ends the call: the run was stopped or the call took too long.
    pub cancel: CancellationToken,
}
