#![doc = include_str!("../README.md")]

pub mod api;
pub mod change;
pub mod chunk;
pub mod citations;
pub mod error;
pub mod file;
pub mod form;
pub mod hidden_characters;
pub mod invoke;
pub mod json;
pub mod library;
pub mod locale;
pub mod message;
pub mod organize;
pub mod page;
pub mod plan;
pub mod question;
mod read;
pub mod reduce;
pub mod text;
pub mod workflow;

pub use api::EndReason;
pub use chunk::{Chunk, DataChunk, FinishReason};
pub use error::{ErrorCode, ErrorReason, UserError};
pub use json::arguments::arguments_hash;
pub use message::context_edit::{CONTEXT_EDITS, ContextEdit, SummaryData};
pub use message::provider_output::{PROVIDER_OUTPUT, ProviderOutput};
pub use message::{
    Approval, ApprovalTerms, CutOff, DataPart, Exposure, FilePart, Role, TextPart, ToolPart, ToolState, UiMessage,
    UiPart,
};
pub use reduce::{ChunkEffect, ReduceError, Reducer};

/// Data that a provider needs back with a part, as `{provider: {…}}`; opaque to everything but that
/// provider's codec.
pub type ProviderMetadata = serde_json::Map<String, serde_json::Value>;

/// The name of the data part that stores a provider's own item verbatim for the next request to the
/// same provider. It is stored with the message and never leaves the server.
pub const PROVIDER_ITEM: &str = "data-provider-item";

/// The name of the data part with the state from which a suspended call resumes, by the call's id.
/// It never leaves the server.
pub const SUSPENDED_CALL: &str = "data-suspended-call";

/// The name of the data part about a call that a standing approval allows, by the call's id:
/// `{grantId, toolName, scope}`, where the scope is `conversation` or `always`.
pub const STANDING_APPROVAL: &str = "data-standing-approval";

/// The name of the data part with what the agent has read in the conversation that makes sending
/// data dangerous, as [`Exposure`]. It never leaves the server.
pub const EXPOSURE: &str = "data-exposure";

/// The name of the data part with the usage of a turn up to the point where it waits for the user.
/// It never leaves the server.
pub const SPENT: &str = "data-spent";

/// The name of the data part with what the server told the model within an answer, `{text}`, so that
/// the model reads it again in each later request. It never leaves the server.
pub const PROMPT_NOTE: &str = "data-prompt-note";

/// The name of the data part with what the user's page contained, `{text}`, which the model reads with
/// the user's message, or after what the answer has so far. It never leaves the server.
pub const PAGE_CONTEXT: &str = "data-page-context";

/// The name of the data part with a summary that replaces earlier messages for the model, as
/// [`SummaryData`]. It is in the message whose run made it, so it holds for that branch.
pub const CONTEXT_SUMMARY: &str = "data-context-summary";

/// The name of the data part of a summary that failed: `{at}`, in milliseconds since 1970.
pub const SUMMARY_FAILED: &str = "data-context-summary-failed";

/// The name of the data part with the newest call whose result is cleared for the model, as
/// `{throughCallId, tokensBefore, tokensAfter, at}`. With `shortenedThroughCallId` instead, it names the
/// newest call whose result is shortened; `{readingOffered, at}` marks the first result that is not sent
/// whole.
pub const CONTEXT_CLEARED: &str = "data-context-cleared";

/// The name of the data part about a run of a workflow that belongs to the conversation, by the run's
/// id, as [`workflow::ConversationRun`].
pub const WORKFLOW_RUN: &str = "data-workflow-run";

/// The name of the data part with the end of such a run, as [`workflow::RunResult`]. The model reads it
/// as data. Only the server adds it.
pub const WORKFLOW_RESULT: &str = "data-workflow-result";

/// The name of the data part with a question of a running tool, as [`question::ToolQuestion`]. Only the
/// server adds it.
pub const TOOL_QUESTION: &str = "data-tool-question";

/// The name of the data part of a call whose result has a user interface of its MCP server (an MCP App), by the call's id:
/// `{server, tool, title, …}`. Only the server adds it.
pub const MCP_APP: &str = "data-mcp-app";

/// The name of the data part of a message whose run summarises the conversation, because the user has
/// demanded it with the message before it. The model reads neither of the two.
pub const COMPACTION: &str = "data-compaction";

/// The name of the data part that shows that the user has handed the conversation over to another agent:
/// `{from, to, text}`, where `text` is the line that is shown. Only the server adds it.
pub const HANDED_OVER: &str = "data-handed-over";

/// The name of the data part of an answer after which little of a quota of the user is left: `{text}`, in words. Only
/// the server adds it.
pub const QUOTA_WARNING: &str = "data-quota-warning";

/// Returns the line that a part of the type [`HANDED_OVER`] shows.
pub fn handed_over_line(part: &DataPart) -> Option<&str> {
    part.data.get("text").and_then(serde_json::Value::as_str).filter(|_| part.kind == HANDED_OVER)
}

/// Returns whether parts of this type determine what a model reads of a conversation. Only the server
/// adds them.
pub fn is_context(kind: &str) -> bool {
    matches!(kind, CONTEXT_SUMMARY | SUMMARY_FAILED | CONTEXT_CLEARED | COMPACTION)
}

/// Returns whether a client may choose this id for a conversation or a message: 1 to 128 letters,
/// digits, `-` or `_`.
pub fn is_id(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Returns whether parts of this type stay on the server.
pub fn is_private(kind: &str) -> bool {
    matches!(kind, PROVIDER_ITEM | SUSPENDED_CALL | SPENT | EXPOSURE | PROMPT_NOTE | PAGE_CONTEXT)
}
