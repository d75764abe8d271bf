//! The chunks of a Chat Completions stream, as gateways really send them: everything is optional and read leniently, see
//! [`crate::json`].

use crate::json::{Needed, name, number, object, text, text_of};
use crate::lenient::Count;
use serde::de::Deserializer;
use serde::{Deserialize, de};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One chunk.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk<'a> {
    #[serde(default, borrow)]
    pub(crate) choices: Needed<'a>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    /// Groq's place for the usage, and for an error.
    #[serde(default, deserialize_with = "object")]
    pub(crate) x_groq: Option<Groq>,
    pub(crate) error: Option<Value>,
    /// Instead of `error`, with `choices` left out (vLLM, Mistral).
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}

/// The reply that is written; there is only ever one.
#[derive(Debug, Deserialize)]
pub(crate) struct Choice<'a> {
    #[serde(default, borrow)]
    pub(crate) delta: Needed<'a>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) finish_reason: Option<String>,
}

/// What a chunk adds.
#[derive(Debug, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(default)]
    pub(crate) content: Content,
    /// DeepSeek, xAI, LM Studio.
    #[serde(default)]
    pub(crate) reasoning_content: Content,
    /// Groq, OpenRouter.
    #[serde(default)]
    pub(crate) reasoning: Content,
    #[serde(default)]
    pub(crate) refusal: Content,
    #[serde(default, borrow)]
    pub(crate) tool_calls: Needed<'a>,
}

/// A piece of a call.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolCall<'a> {
    #[serde(default, deserialize_with = "number")]
    pub(crate) index: Option<u64>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, borrow)]
    pub(crate) function: Needed<'a>,
    /// What Gemini wants back with a call.
    #[serde(borrow)]
    pub(crate) extra_content: Option<&'a RawValue>,
}

/// A piece of a call's name and arguments.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Function {
    #[serde(default, deserialize_with = "text")]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) arguments: Arguments,
}

/// A text, or a list of pieces (Mistral, when it thinks). What is neither is kept as its JSON.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) thinking: String,
}

/// One piece of a content.
#[derive(Debug, Deserialize)]
struct Piece<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "name")]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Content,
    #[serde(default)]
    thinking: Content,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?.get();
        if !json.starts_with('[') {
            return Ok(Self { text: text_of(json).unwrap_or_default(), thinking: String::new() });
        }
        let mut content = Self::default();
        for raw in serde_json::from_str::<Vec<&RawValue>>(json).map_err(de::Error::custom)? {
            match serde_json::from_str::<Piece<'_>>(raw.get()) {
                Ok(piece) if piece.kind == "thinking" => content.thinking.push_str(&piece.thinking.text),
                // Pieces of other kinds (images, references) have no text.
                Ok(piece) => content.text.push_str(&piece.text.text),
                Err(_) => content.text.push_str(&text_of(raw.get()).unwrap_or_default()),
            }
        }
        Ok(content)
    }
}

/// JSON text, or (Ollama of old) the JSON itself.
#[derive(Debug, Default)]
pub(crate) struct Arguments(pub(crate) String);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer).map(|text| Self(text.unwrap_or_default()))
    }
}

/// See [`Chunk::x_groq`].
#[derive(Debug, Deserialize)]
pub(crate) struct Groq {
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    pub(crate) error: Option<Value>,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) prompt_tokens: Option<Count>,
    pub(crate) completion_tokens: Option<Count>,
    pub(crate) total_tokens: Option<Count>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) prompt_tokens_details: Option<PromptDetails>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's word for cached tokens.
    pub(crate) prompt_cache_hit_tokens: Option<Count>,
}

/// Of the input.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct PromptDetails {
    pub(crate) cached_tokens: Option<Count>,
}

/// Of the output.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct CompletionDetails {
    pub(crate) reasoning_tokens: Option<Count>,
}
