//! The chunks of the UI message stream (AI SDK v6): a closed enum, one JSON object per chunk.

mod read;

use crate::{ApprovalTerms, ProviderMetadata};
use serde::Serialize;
use serde_json::Value;

/// The data of the last event of a stream. A stream that ends without it was cut off.
pub const DONE: &str = "[DONE]";

/// One chunk of the stream.
///
/// Deserialization is written by hand (see `read`): serde's derived code for a tagged enum with
/// this many variants would be a tenth of the browser's download, and would visit each chunk twice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Chunk {
    /// Starts the message, or continues an existing one (same id).
    Start {
        /// The assistant message's id.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        /// Merged into the message's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
    /// Starts a step (one request to the model).
    StartStep,
    /// Starts a text part.
    TextStart {
        /// Unique among open parts.
        id: String,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// Appends to a text part.
    TextDelta {
        /// The id of an open text part.
        id: String,
        /// The text to append.
        delta: String,
        /// Replaces the part's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// Completes a text part.
    TextEnd {
        /// The id of an open text part.
        id: String,
        /// The citations of the text: `{source, startIndex?, endIndex?, citedText?}`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Value>,
        /// Replaces the part's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// Starts a reasoning part.
    ReasoningStart {
        /// Unique among open parts.
        id: String,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// Appends to a reasoning part.
    ReasoningDelta {
        /// The id of an open reasoning part.
        id: String,
        /// The text to append; empty when only the metadata (a signature) arrives.
        delta: String,
        /// Replaces the part's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// Completes a reasoning part.
    ReasoningEnd {
        /// The id of an open reasoning part.
        id: String,
        /// Replaces the part's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
    },
    /// Starts a tool call; its arguments follow as deltas.
    ToolInputStart {
        /// Unique within the conversation.
        tool_call_id: String,
        /// The tool's name.
        tool_name: String,
        /// Whether the provider itself runs the tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// Whether the tool is not a declared one.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
        /// A human-readable name.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Appends to the JSON text of the arguments.
    ToolInputDelta {
        /// The id of a call that has started.
        tool_call_id: String,
        /// The JSON text to append.
        input_text_delta: String,
    },
    /// Delivers the complete arguments.
    ToolInputAvailable {
        /// Unique within the conversation.
        tool_call_id: String,
        /// The tool's name.
        tool_name: String,
        /// The arguments.
        input: Value,
        /// Whether the provider itself runs the tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
        /// Whether the tool is not a declared one.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
        /// A human-readable name.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Reports unusable arguments.
    ToolInputError {
        /// Unique within the conversation.
        tool_call_id: String,
        /// The tool's name.
        tool_name: String,
        /// The arguments as received.
        input: Value,
        /// The error message.
        error_text: String,
        /// Whether the provider itself runs the tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
        /// Whether the tool is not a declared one.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
    },
    /// Requests the user's approval of a call.
    ToolApprovalRequest {
        /// The request's id; a decision names it.
        approval_id: String,
        /// The call.
        tool_call_id: String,
        /// The terms of the approval request.
        #[serde(skip_serializing_if = "Option::is_none")]
        terms: Option<Box<ApprovalTerms>>,
        /// The user's decision, if a client that joins later is told of a request that is decided.
        /// Version 6 of the AI SDK has no chunk for a decision, and fails on unknown chunks; it
        /// ignores unknown fields.
        #[serde(skip_serializing_if = "Option::is_none")]
        approved: Option<bool>,
    },
    /// Delivers the result of a call.
    ToolOutputAvailable {
        /// The call.
        tool_call_id: String,
        /// The result.
        output: Value,
        /// Whether the provider itself ran the tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// See [`ProviderMetadata`].
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<ProviderMetadata>,
        /// Whether the tool is not a declared one.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
        /// Whether a later output replaces this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        preliminary: Option<bool>,
    },
    /// Reports that a call failed.
    ToolOutputError {
        /// The call.
        tool_call_id: String,
        /// The error message.
        error_text: String,
        /// Whether the provider itself ran the tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_executed: Option<bool>,
        /// Whether the tool is not a declared one.
        #[serde(skip_serializing_if = "Option::is_none")]
        dynamic: Option<bool>,
    },
    /// Reports that the user denied a call.
    ToolOutputDenied {
        /// The call.
        tool_call_id: String,
    },
    /// A web page that the model used.
    SourceUrl(crate::message::SourceUrl),
    /// A document that the model used.
    SourceDocument(crate::message::SourceDocument),
    /// A file that the model generated.
    File(crate::message::FilePart),
    /// Ends a step: the request to the model and its tools are finished.
    FinishStep,
    /// Ends the turn.
    Finish {
        /// Why the turn ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
        /// Merged into the message's metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
    /// Updates the message's metadata.
    MessageMetadata {
        /// Merged into the message's metadata.
        message_metadata: Value,
    },
    /// Ends a turn that the user stopped; the last chunk.
    Abort {
        /// The reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Reports that the turn failed.
    Error {
        /// The error message for the user.
        error_text: String,
    },
    /// A data part, `data-{name}`.
    #[serde(untagged)]
    Data(DataChunk),
}

/// A data chunk, `data-{name}`: application data for the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataChunk {
    /// The whole type, including `data-`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A later chunk of the same kind and id replaces this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The content.
    pub data: Value,
    /// Whether it is shown once and not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<bool>,
}

/// Why a turn or a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model finished its reply.
    Stop,
    /// The token limit was reached.
    Length,
    /// The content was refused or filtered.
    ContentFilter,
    /// The model called tools whose results it needs, or a limit ended the loop after its calls.
    ToolCalls,
    /// The turn failed.
    Error,
    /// Any other reason.
    Other,
}
