//! The parts in which a model's reply is streamed.

use crate::{ProviderMetadata, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One event of a model's reply. The ids of texts, reasoning and calls are unique within the reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Part {
    /// A text begins.
    TextStart {
        /// The text's id.
        id: String,
    },
    /// A text continues.
    TextDelta {
        /// The id of an open text.
        id: String,
        /// The text to append.
        delta: String,
    },
    /// A text is complete.
    TextEnd {
        /// The id of an open text.
        id: String,
        /// Data to keep with the text.
        metadata: Option<ProviderMetadata>,
        /// The citations, in the order of the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Citation>,
    },
    /// Reasoning begins.
    ReasoningStart {
        /// The reasoning's id.
        id: String,
        /// Data to keep with the reasoning; redacted reasoning arrives here.
        metadata: Option<ProviderMetadata>,
    },
    /// Reasoning continues.
    ReasoningDelta {
        /// The id of open reasoning.
        id: String,
        /// The text to append; empty when only metadata, such as a signature, arrives.
        delta: String,
        /// Data to keep with the reasoning.
        metadata: Option<ProviderMetadata>,
    },
    /// Reasoning is complete.
    ReasoningEnd {
        /// The id of open reasoning.
        id: String,
        /// Data to keep with the reasoning.
        metadata: Option<ProviderMetadata>,
    },
    /// A tool call begins; its arguments follow.
    ToolInputStart {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Whether the provider runs the tool itself.
        provider_executed: bool,
    },
    /// The arguments' JSON text continues.
    ToolInputDelta {
        /// The call's id.
        id: String,
        /// The text to append.
        delta: String,
    },
    /// A tool call is complete. Only this part makes a call valid, even when the streamed arguments
    /// already parse.
    ToolCall {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The complete JSON text of the arguments as the model wrote it; empty means `{}`.
        input: String,
        /// Whether the provider runs the tool itself.
        provider_executed: bool,
        /// Data to keep with the call.
        metadata: Option<ProviderMetadata>,
    },
    /// The result of a tool that the provider ran itself.
    ToolResult {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The result.
        output: Value,
        /// Whether the call failed.
        is_error: bool,
        /// Data to keep with the result.
        metadata: Option<ProviderMetadata>,
    },
    /// A source that the model cites.
    Source(Source),
    /// A file that the model generated.
    File {
        /// The media type, for example `image/png`.
        media_type: String,
        /// A `data:` or `https:` URL.
        url: String,
        /// Data to keep with the file.
        metadata: Option<ProviderMetadata>,
    },
    /// A provider's item of a kind that has no part here, kept verbatim for the next request to the
    /// same provider.
    ProviderItem {
        /// The provider, for example `anthropic`.
        provider: String,
        /// The item as it was received.
        item: Value,
        /// The name under which users see the item: its type, as the provider calls it. `None` if
        /// other parts show what it contains, such as a call and its result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown_as: Option<String>,
    },
    /// The edits with which the provider removed parts of the context before the model read it. The history stays
    /// complete, so they are not sent back.
    ContextEdits {
        /// The provider, for example `anthropic`.
        provider: String,
        /// The edits in the order in which they were applied.
        edits: Vec<ContextEdit>,
    },
    /// A keep-alive of the provider, such as an SSE comment. It resets the timeout for the next
    /// part and is neither emitted nor stored.
    Alive,
    /// The reply is complete. This is the last part of a complete stream.
    Finish {
        /// Why the reply ended.
        reason: FinishReason,
        /// The provider's own term for the reason.
        raw_reason: Option<String>,
        /// The tokens of this request.
        usage: Usage,
        /// Data about the reply as a whole.
        metadata: Option<ProviderMetadata>,
    },
}

/// A source that the model cites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Source {
    /// A web page.
    Url {
        /// The id, unique within the reply.
        id: String,
        /// The URL.
        url: String,
        /// The title.
        title: Option<String>,
        /// Data to keep with the source.
        metadata: Option<ProviderMetadata>,
    },
    /// A document.
    Document {
        /// The id, unique within the reply.
        id: String,
        /// The media type, for example `application/pdf`.
        media_type: String,
        /// The title.
        title: String,
        /// The file name.
        filename: Option<String>,
        /// Data to keep with the source.
        metadata: Option<ProviderMetadata>,
    },
}

/// One edit of a request's context by the provider, as the AI SDK writes it in
/// `contextManagement.appliedEdits`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextEdit {
    /// The provider's name for the strategy, for example `clear_tool_uses_20250919`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number of tool results that were cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared_tool_uses: Option<u64>,
    /// The number of turns whose thinking was cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared_thinking_turns: Option<u64>,
    /// The number of input tokens that this saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared_input_tokens: Option<u64>,
}

/// The citation of a source for a passage of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    /// The cited source. Its id is the page's URL or the file's id, not that of a source part.
    pub source: Source,
    /// The start of the passage in the text, in the provider's units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_index: Option<u64>,
    /// The end of the passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_index: Option<u64>,
    /// The cited text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited_text: Option<String>,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model finished its reply.
    Stop,
    /// The token limit was reached.
    Length,
    /// The reply was refused or filtered.
    ContentFilter,
    /// The model waits for the results of tool calls.
    ToolCalls,
    /// The provider paused a long run of its own tools. It continues when it is sent the reply so
    /// far.
    Pause,
    /// The provider failed.
    Error,
    /// Any other reason.
    Other,
}
