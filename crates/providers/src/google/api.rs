//! The chunks of a `streamGenerateContent` answer, as far as they are understood. Everything is optional and read leniently (see
//! [`crate::json`]): what a later version leaves out, adds or writes in another shape must not break a stream.

use crate::json::{Needed, object, or_none, text};
use crate::lenient::Count;
use serde::Deserialize;
use serde_json::Value;

/// One chunk.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chunk<'a> {
    #[serde(default, borrow)]
    pub(crate) candidates: Needed<'a>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage_metadata: Option<Usage>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) prompt_feedback: Option<Feedback>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) error: Option<Failure>,
}

/// The reply that is written; there is only ever one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate<'a> {
    #[serde(default, borrow)]
    pub(crate) content: Needed<'a>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) finish_reason: Option<String>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) grounding_metadata: Option<Grounding>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) url_context_metadata: Option<UrlContext>,
}

/// What a chunk adds.
#[derive(Debug, Deserialize)]
pub(crate) struct Content<'a> {
    #[serde(default, borrow)]
    pub(crate) parts: Needed<'a>,
}

/// A part; which fields are there says what it is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part<'a> {
    #[serde(default, deserialize_with = "text")]
    pub(crate) text: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) thought: Option<bool>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) thought_signature: Option<String>,
    #[serde(default, borrow)]
    pub(crate) function_call: Needed<'a>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) inline_data: Option<InlineData>,
    /// A file that is kept at Google.
    #[serde(default, deserialize_with = "object")]
    pub(crate) file_data: Option<FileData>,
    pub(crate) executable_code: Option<Value>,
    pub(crate) code_execution_result: Option<Value>,
    /// A tool of Google's, called.
    #[serde(default, deserialize_with = "object")]
    pub(crate) tool_call: Option<ServerTool>,
    /// What it answered.
    #[serde(default, deserialize_with = "object")]
    pub(crate) tool_response: Option<ServerTool>,
}

/// A call, or a piece of one whose arguments stream.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionCall {
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) name: Option<String>,
    pub(crate) args: Option<Value>,
    #[serde(default, deserialize_with = "or_none")]
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
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) json_path: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) string_value: Option<String>,
    pub(crate) number_value: Option<Value>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) bool_value: Option<bool>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) will_continue: Option<bool>,
}

/// A file that the model made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InlineData {
    #[serde(default, deserialize_with = "text")]
    pub(crate) mime_type: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) data: Option<String>,
}

/// A file that is kept at Google.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileData {
    #[serde(default, deserialize_with = "text")]
    pub(crate) mime_type: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) file_uri: Option<String>,
}

/// See [`Part::tool_call`] and [`Part::tool_response`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerTool {
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) tool_type: Option<String>,
    pub(crate) args: Option<Value>,
    pub(crate) response: Option<Value>,
}

/// Where the reply comes from.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Grounding {
    /// Each is read on its own: passages name them by their number.
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) grounding_chunks: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) grounding_supports: Option<Vec<Value>>,
}

/// Pages that were fetched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UrlContext {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) url_metadata: Option<Vec<Value>>,
}

/// About the prompt.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Feedback {
    #[serde(default, deserialize_with = "text")]
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
    #[serde(default, deserialize_with = "text")]
    pub(crate) status: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}
