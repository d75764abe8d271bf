//! One event of the UI message stream (AI SDK v6): a closed enum, one JSON object a chunk.

mod read;

use crate::{ApprovalTerms, ProviderMetadata};
use serde::Serialize;
use serde_json::Value;

/// One event of the stream.
///
/// It is read by hand (see `read`): what serde makes of a tagged enum with this many variants would be a tenth of what the
/// browser downloads, and would look at each event twice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Chunk {
    /// The message begins, or an existing one goes on (same id).
    Start {
        /// The assistant message's id.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        /// Merged into the message's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
    /// One request to the model begins.
    StartStep,
    /// A text part begins.
    TextStart {
        /// Unique among open parts.
        id: String,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A text part grows.
    TextDelta {
        /// Of an open text part.
        id: String,
        /// What is appended.
        delta: String,
        /// Replaces the part's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A text part is complete.
    TextEnd {
        /// Of an open text part.
        id: String,
        /// What the text cites: `{source, startIndex?, endIndex?, citedText?}`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Value>,
        /// Replaces the part's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A reasoning part begins.
    ReasoningStart {
        /// Unique among open parts.
        id: String,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A reasoning part grows.
    ReasoningDelta {
        /// Of an open reasoning part.
        id: String,
        /// What is appended; empty when only the metadata (a signature) arrives.
        delta: String,
        /// Replaces the part's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A reasoning part is complete.
    ReasoningEnd {
        /// Of an open reasoning part.
        id: String,
        /// Replaces the part's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A tool call begins; its arguments will stream.
    ToolInputStart {
        /// Unique within the conversation.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// Run by the provider itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// Not a declared tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
        /// A readable name.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// More of the arguments' JSON text.
    ToolInputDelta {
        /// Of a call that has begun.
        tool_call_id: String,
        /// What is appended to the JSON text.
        input_text_delta: String,
    },
    /// The arguments are complete.
    ToolInputAvailable {
        /// Unique within the conversation.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// The arguments.
        input: Value,
        /// Run by the provider itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
        /// Not a declared tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
        /// A readable name.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// The arguments cannot be used.
    ToolInputError {
        /// Unique within the conversation.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// The arguments as they came.
        input: Value,
        /// Why.
        error_text: String,
        /// Run by the provider itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
        /// Not a declared tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
    },
    /// The call waits for the user's decision.
    ToolApprovalRequest {
        /// A decision names it.
        approval_id: String,
        /// The call.
        tool_call_id: String,
        /// How it is asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        terms: Option<Box<ApprovalTerms>>,
    },
    /// The result.
    ToolOutputAvailable {
        /// The call.
        tool_call_id: String,
        /// The result.
        output: Value,
        /// Run by the provider itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
        /// Not a declared tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
        /// A later output replaces this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        preliminary: Option<bool>,
    },
    /// The call failed.
    ToolOutputError {
        /// The call.
        tool_call_id: String,
        /// Why.
        error_text: String,
        /// Run by the provider itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// Not a declared tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
    },
    /// The user said no.
    ToolOutputDenied {
        /// The call.
        tool_call_id: String,
    },
    /// A web page that the model used.
    SourceUrl(crate::message::SourceUrl),
    /// A document that the model used.
    SourceDocument(crate::message::SourceDocument),
    /// A file that the model made.
    File(crate::message::FilePart),
    /// The request to the model is over, its tools have run.
    FinishStep,
    /// The turn is over.
    Finish {
        /// Why it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
        /// Merged into the message's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
    /// News about the message as a whole.
    MessageMetadata {
        /// Merged into the message's metadata.
        message_metadata: Value,
    },
    /// The user stopped the turn; the last chunk.
    Abort {
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The turn failed.
    Error {
        /// For the user.
        error_text: String,
    },
    /// `data-{name}`
    #[serde(untagged)]
    Data(DataChunk),
}

/// `data-{name}`: something for the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataChunk {
    /// The whole type, `data-` included.
    #[serde(rename = "type")]
    pub kind: String,
    /// A later chunk of the same kind and id replaces this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its content.
    pub data: Value,
    /// Seen once, kept nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<bool>,
}

/// Why a turn or a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model had said all it wanted.
    Stop,
    /// Out of tokens.
    Length,
    /// Refused or filtered.
    ContentFilter,
    /// The model called tools that it waits for, or a limit ended the loop after its calls.
    ToolCalls,
    /// Failed.
    Error,
    /// Something else.
    Other,
}
