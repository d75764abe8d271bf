//! What streams back from a model: a closed enum, noun first.

use crate::{ProviderMetadata, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One event of a model's reply. Ids name open parts and are unique within the reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Part {
    /// A text begins.
    TextStart {
        /// Its id.
        id: String,
    },
    /// A text grows.
    TextDelta {
        /// Of an open text.
        id: String,
        /// What is appended.
        delta: String,
    },
    /// A text is complete.
    TextEnd {
        /// Of an open text.
        id: String,
        /// To keep with the text.
        metadata: Option<ProviderMetadata>,
        /// What it cites, in the order of the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Citation>,
    },
    /// Reasoning begins.
    ReasoningStart {
        /// Its id.
        id: String,
        /// To keep with the reasoning (redacted data arrives here).
        metadata: Option<ProviderMetadata>,
    },
    /// Reasoning grows.
    ReasoningDelta {
        /// Of an open reasoning.
        id: String,
        /// What is appended; empty when only metadata (a signature) arrives.
        delta: String,
        /// To keep with the reasoning.
        metadata: Option<ProviderMetadata>,
    },
    /// Reasoning is complete.
    ReasoningEnd {
        /// Of an open reasoning.
        id: String,
        /// To keep with the reasoning.
        metadata: Option<ProviderMetadata>,
    },
    /// A call begins; its arguments will stream.
    ToolInputStart {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// Run by the provider itself.
        provider_executed: bool,
    },
    /// More of the arguments' JSON text.
    ToolInputDelta {
        /// The call's id.
        id: String,
        /// What is appended.
        delta: String,
    },
    /// A call is complete. Only this makes a call: arguments that merely parse are not one.
    ToolCall {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The arguments' whole JSON text as the model wrote it; empty means `{}`.
        input: String,
        /// Run by the provider itself.
        provider_executed: bool,
        /// To keep with the call.
        metadata: Option<ProviderMetadata>,
    },
    /// The result of a tool that the provider ran itself.
    ToolResult {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The result.
        output: Value,
        /// Whether it failed.
        is_error: bool,
        /// To keep with the result.
        metadata: Option<ProviderMetadata>,
    },
    /// Something that the model cites.
    Source(Source),
    /// A file that the model made.
    File {
        /// For example `image/png`.
        media_type: String,
        /// A `data:` or `https:` URL.
        url: String,
        /// To keep with the file.
        metadata: Option<ProviderMetadata>,
    },
    /// The provider's own item of a kind that has no part here, kept verbatim for the next request to it.
    ProviderItem {
        /// For example `anthropic`.
        provider: String,
        /// As it came.
        item: Value,
    },
    /// The provider is at work and has nothing to tell yet: a sign of life, such as an SSE comment. It resets the time that is waited
    /// for the next part, and is neither told nor kept.
    Alive,
    /// The reply is over; the last part of a good stream.
    Finish {
        /// Why.
        reason: FinishReason,
        /// The provider's own word for it.
        raw_reason: Option<String>,
        /// Tokens of this request.
        usage: Usage,
        /// About the reply as a whole.
        metadata: Option<ProviderMetadata>,
    },
}

/// Something that the model cites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Source {
    /// A web page.
    Url {
        /// Unique within the reply.
        id: String,
        /// Its address.
        url: String,
        /// Its title.
        title: Option<String>,
        /// To keep with the source.
        metadata: Option<ProviderMetadata>,
    },
    /// A document.
    Document {
        /// Unique within the reply.
        id: String,
        /// For example `application/pdf`.
        media_type: String,
        /// Its title.
        title: String,
        /// Its file name.
        filename: Option<String>,
        /// To keep with the source.
        metadata: Option<ProviderMetadata>,
    },
}

/// What a passage of a text rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    /// What is cited. Its id is the page's address or the file's id, not that of a source part.
    pub source: Source,
    /// Where the passage begins in the text, as the provider counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_index: Option<u64>,
    /// Where it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_index: Option<u64>,
    /// The words that are cited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited_text: Option<String>,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model had said all it wanted.
    Stop,
    /// Out of tokens.
    Length,
    /// Refused or filtered.
    ContentFilter,
    /// It waits for tools.
    ToolCalls,
    /// The provider's own tools took long; asked again with the reply so far, it goes on.
    Pause,
    /// The provider failed.
    Error,
    /// Something else.
    Other,
}
