//! The chunks of a Chat Completions stream as gateways send them. Everything is optional and parsed
//! leniently, see [`crate::json`].

use crate::json::{StrictField, name, number, object, text, text_from_json};
use crate::lenient::TokenCount;
use serde::de::Deserializer;
use serde::{Deserialize, de};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A chunk of the stream.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk<'a> {
    #[serde(default, borrow)]
    pub(crate) choices: StrictField<'a>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    /// Groq's field for the usage and for an error.
    #[serde(default, deserialize_with = "object")]
    pub(crate) x_groq: Option<Groq>,
    pub(crate) error: Option<Value>,
    /// Replaces `error` if `choices` is absent (vLLM, Mistral).
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}

/// The reply; there is only ever one choice.
#[derive(Debug, Deserialize)]
pub(crate) struct Choice<'a> {
    #[serde(default, borrow)]
    pub(crate) delta: StrictField<'a>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) finish_reason: Option<String>,
}

/// The content that a chunk adds.
#[derive(Debug, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(default)]
    pub(crate) content: Content,
    /// Used by DeepSeek, xAI and LM Studio.
    #[serde(default)]
    pub(crate) reasoning_content: Content,
    /// Used by Groq and OpenRouter.
    #[serde(default)]
    pub(crate) reasoning: Content,
    #[serde(default)]
    pub(crate) refusal: Content,
    #[serde(default, borrow)]
    pub(crate) tool_calls: StrictField<'a>,
}

/// A part of a tool call.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolCall<'a> {
    #[serde(default, deserialize_with = "number")]
    pub(crate) index: Option<u64>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, borrow)]
    pub(crate) function: StrictField<'a>,
    /// Data that Gemini expects back with a call.
    #[serde(borrow)]
    pub(crate) extra_content: Option<&'a RawValue>,
}

/// A part of a call's name and arguments.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Function {
    #[serde(default, deserialize_with = "text")]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) arguments: Arguments,
}

/// Text, or an array of parts (Mistral, for reasoning). Anything else is kept as its JSON.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) thinking: String,
}

/// A part of an array.
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
            return Ok(Self { text: text_from_json(json).unwrap_or_default(), thinking: String::new() });
        }
        let mut content = Self::default();
        for raw in serde_json::from_str::<Vec<&RawValue>>(json).map_err(de::Error::custom)? {
            match serde_json::from_str::<Piece<'_>>(raw.get()) {
                Ok(piece) if piece.kind == "thinking" => content.thinking.push_str(&piece.thinking.text),
                // Parts of other types (images, references) have no text.
                Ok(piece) => content.text.push_str(&piece.text.text),
                Err(_) => content.text.push_str(&text_from_json(raw.get()).unwrap_or_default()),
            }
        }
        Ok(content)
    }
}

/// JSON as text, or (old versions of Ollama) as a value.
#[derive(Debug, Default)]
pub(crate) struct Arguments(pub(crate) String);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer).map(|text| Self(text.unwrap_or_default()))
    }
}

/// The content of [`Chunk::x_groq`].
#[derive(Debug, Deserialize)]
pub(crate) struct Groq {
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    pub(crate) error: Option<Value>,
}

/// Token counts.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) prompt_tokens: Option<TokenCount>,
    pub(crate) completion_tokens: Option<TokenCount>,
    pub(crate) total_tokens: Option<TokenCount>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) prompt_tokens_details: Option<PromptDetails>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's field for cached tokens.
    pub(crate) prompt_cache_hit_tokens: Option<TokenCount>,
}

/// Details of the input tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct PromptDetails {
    pub(crate) cached_tokens: Option<TokenCount>,
}

/// Details of the output tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct CompletionDetails {
    pub(crate) reasoning_tokens: Option<TokenCount>,
}
