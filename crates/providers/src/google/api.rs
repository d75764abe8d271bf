//! The chunks of a `streamGenerateContent` response. Everything is optional and parsed leniently
//! (see [`crate::json`]), so that fields which a later version omits, adds or changes do not break
//! a stream.

use crate::json::{StrictField, object, or_none, text};
use crate::lenient::TokenCount;
use serde::Deserialize;
use serde_json::Value;

/// A chunk of the stream.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chunk<'a> {
    #[serde(default, borrow)]
    pub(crate) candidates: StrictField<'a>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage_metadata: Option<Usage>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) prompt_feedback: Option<Feedback>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) error: Option<Failure>,
}

/// The reply; there is only ever one candidate.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate<'a> {
    #[serde(default, borrow)]
    pub(crate) content: StrictField<'a>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) finish_reason: Option<String>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) grounding_metadata: Option<Grounding>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) url_context_metadata: Option<UrlContext>,
}

/// The content that a chunk adds.
#[derive(Debug, Deserialize)]
pub(crate) struct Content<'a> {
    #[serde(default, borrow)]
    pub(crate) parts: StrictField<'a>,
}

/// A part; the fields that are present determine what it is.
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
    pub(crate) function_call: StrictField<'a>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) inline_data: Option<InlineData>,
    /// A file that is stored at Google.
    #[serde(default, deserialize_with = "object")]
    pub(crate) file_data: Option<FileData>,
    pub(crate) executable_code: Option<Value>,
    pub(crate) code_execution_result: Option<Value>,
    /// A call of one of Google's own tools.
    #[serde(default, deserialize_with = "object")]
    pub(crate) tool_call: Option<ServerTool>,
    /// The result of such a call.
    #[serde(default, deserialize_with = "object")]
    pub(crate) tool_response: Option<ServerTool>,
}

/// A tool call, or a part of one whose arguments are streamed.
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
    /// Returns whether more of the call follows.
    pub(crate) fn is_incomplete(&self) -> bool {
        let continues = |argument: &PartialArgument| argument.will_continue == Some(true);
        self.will_continue == Some(true) || self.partial_args.iter().flatten().any(continues)
    }
}

/// A value in the streamed arguments, with its path.
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

/// A file that the model generated.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InlineData {
    #[serde(default, deserialize_with = "text")]
    pub(crate) mime_type: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) data: Option<String>,
}

/// A file that is stored at Google.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileData {
    #[serde(default, deserialize_with = "text")]
    pub(crate) mime_type: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) file_uri: Option<String>,
}

/// A call or result of one of Google's own tools, see [`Part::tool_call`] and
/// [`Part::tool_response`].
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

/// The sources of the reply.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Grounding {
    /// Parsed one by one, because citations refer to their indexes.
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) grounding_chunks: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) grounding_supports: Option<Vec<Value>>,
}

/// The pages that were fetched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UrlContext {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) url_metadata: Option<Vec<Value>>,
}

/// Feedback on the prompt.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Feedback {
    #[serde(default, deserialize_with = "text")]
    pub(crate) block_reason: Option<String>,
}

/// Token counts. The output does not include thinking tokens, the prompt does not include tool
/// tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    pub(crate) prompt_token_count: Option<TokenCount>,
    pub(crate) tool_use_prompt_token_count: Option<TokenCount>,
    pub(crate) candidates_token_count: Option<TokenCount>,
    pub(crate) thoughts_token_count: Option<TokenCount>,
    pub(crate) cached_content_token_count: Option<TokenCount>,
}

/// An error.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Failure {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) code: Option<u16>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) status: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}
