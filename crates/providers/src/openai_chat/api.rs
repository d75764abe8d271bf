//! The chunks of a Chat Completions stream, as gateways really send them: everything is optional.

use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// One chunk.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(crate) choices: Vec<Choice<'a>>,
    pub(crate) usage: Option<Usage>,
    /// Groq's place for the usage.
    pub(crate) x_groq: Option<Groq>,
    pub(crate) error: Option<Value>,
}

/// The reply that is written; there is only ever one.
#[derive(Debug, Deserialize)]
pub(crate) struct Choice<'a> {
    #[serde(borrow)]
    pub(crate) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(crate) finish_reason: Option<Cow<'a, str>>,
}

/// What a chunk adds.
#[derive(Debug, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(borrow)]
    pub(crate) content: Option<Cow<'a, str>>,
    /// DeepSeek, xAI, LM Studio.
    #[serde(borrow)]
    pub(crate) reasoning_content: Option<Cow<'a, str>>,
    /// Groq, OpenRouter.
    #[serde(borrow)]
    pub(crate) reasoning: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) tool_calls: Option<Vec<ToolCall<'a>>>,
}

/// A piece of a call.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolCall<'a> {
    pub(crate) index: Option<u64>,
    #[serde(borrow)]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) function: Option<Function<'a>>,
}

/// A piece of a call's name and arguments.
#[derive(Debug, Deserialize)]
pub(crate) struct Function<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) arguments: Option<Cow<'a, str>>,
}

/// See [`Chunk::x_groq`].
#[derive(Debug, Deserialize)]
pub(crate) struct Groq {
    pub(crate) usage: Option<Usage>,
}

/// Tokens; as floats, because nonsense (negative, huge) must not fail the stream.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Usage {
    pub(crate) prompt_tokens: Option<f64>,
    pub(crate) completion_tokens: Option<f64>,
    pub(crate) prompt_tokens_details: Option<PromptDetails>,
    pub(crate) completion_tokens_details: Option<CompletionDetails>,
}

/// Of the input.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PromptDetails {
    pub(crate) cached_tokens: Option<f64>,
}

/// Of the output.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CompletionDetails {
    pub(crate) reasoning_tokens: Option<f64>,
}
