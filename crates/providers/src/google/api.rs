//! The chunks of a `streamGenerateContent` answer, as far as they are understood. Everything is optional: what a later version
//! leaves out or adds must not break a stream.

use crate::lenient::{Count, or_none};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One chunk.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chunk<'a> {
    #[serde(borrow)]
    pub(crate) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) usage_metadata: Option<Usage>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) prompt_feedback: Option<Feedback>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) error: Option<Failure>,
}

/// The reply that is written; there is only ever one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate<'a> {
    #[serde(borrow)]
    pub(crate) content: Option<Content<'a>>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) finish_reason: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) grounding_metadata: Option<Grounding>,
}

/// What a chunk adds.
#[derive(Debug, Deserialize)]
pub(crate) struct Content<'a> {
    #[serde(borrow)]
    pub(crate) parts: Option<Vec<&'a RawValue>>,
}

/// A part; which fields are there says what it is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    pub(crate) text: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) thought: Option<bool>,
    pub(crate) thought_signature: Option<String>,
    pub(crate) function_call: Option<FunctionCall>,
    pub(crate) inline_data: Option<InlineData>,
    pub(crate) executable_code: Option<Value>,
    pub(crate) code_execution_result: Option<Value>,
    /// A tool of Google's, called.
    pub(crate) tool_call: Option<ServerTool>,
    /// What it answered.
    pub(crate) tool_response: Option<ServerTool>,
}

/// A call, or a piece of one whose arguments stream.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionCall {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) args: Option<Value>,
    pub(crate) partial_args: Option<Vec<PartialArgument>>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) will_continue: Option<bool>,
}

impl FunctionCall {
    /// Whether more of the call will come.
    pub(crate) fn goes_on(&self) -> bool {
        let continues = |argument: &PartialArgument| argument.will_continue == Some(true);
        self.will_continue == Some(true) || self.partial_args.iter().flatten().any(continues)
    }
}

/// A piece of the arguments, with its place among them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartialArgument {
    pub(crate) json_path: Option<String>,
    pub(crate) string_value: Option<String>,
    pub(crate) number_value: Option<Value>,
    pub(crate) bool_value: Option<bool>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) will_continue: Option<bool>,
}

/// A file that the model made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InlineData {
    pub(crate) mime_type: Option<String>,
    #[serde(default)]
    pub(crate) data: String,
}

/// See [`Part::tool_call`] and [`Part::tool_response`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerTool {
    pub(crate) id: Option<String>,
    pub(crate) tool_type: Option<String>,
    pub(crate) args: Option<Value>,
    pub(crate) response: Option<Value>,
}

/// Where the reply comes from.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Grounding {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) grounding_chunks: Option<Vec<GroundingChunk>>,
}

/// One source.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroundingChunk {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) web: Option<Place>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) maps: Option<Place>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) retrieved_context: Option<Place>,
}

/// Where a source is.
#[derive(Debug, Deserialize)]
pub(crate) struct Place {
    pub(crate) uri: Option<String>,
    pub(crate) title: Option<String>,
}

/// About the prompt.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Feedback {
    pub(crate) block_reason: Option<String>,
}

/// Tokens; thoughts are counted beside the output, tools beside the prompt.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    pub(crate) prompt_token_count: Option<Count>,
    pub(crate) tool_use_prompt_token_count: Option<Count>,
    pub(crate) candidates_token_count: Option<Count>,
    pub(crate) thoughts_token_count: Option<Count>,
    pub(crate) cached_content_token_count: Option<Count>,
}

/// What failed.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Failure {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) code: Option<u16>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) status: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) message: Option<String>,
}
