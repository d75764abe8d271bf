//! The chunks of a Chat Completions stream, as gateways really send them: everything is optional.

use crate::lenient::{Count, or_none};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// One chunk.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk<'a> {
    #[serde(borrow)]
    pub(crate) choices: Option<Vec<Choice<'a>>>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) usage: Option<Usage>,
    /// Groq's place for the usage, and for an error.
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) x_groq: Option<Groq>,
    pub(crate) error: Option<Value>,
    /// Instead of `error`, with `choices` left out (vLLM, Mistral).
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) message: Option<String>,
}

/// The reply that is written; there is only ever one.
#[derive(Debug, Deserialize)]
pub(crate) struct Choice<'a> {
    #[serde(borrow)]
    pub(crate) delta: Option<Delta<'a>>,
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
    #[serde(borrow)]
    pub(crate) tool_calls: Option<Vec<ToolCall<'a>>>,
}

/// A piece of a call.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolCall<'a> {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) function: Option<Function>,
    /// What Gemini wants back with a call.
    #[serde(borrow)]
    pub(crate) extra_content: Option<&'a RawValue>,
}

/// A piece of a call's name and arguments.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Function {
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) arguments: Arguments,
}

/// A text, or a list of pieces (Mistral, when it thinks). What is neither counts as nothing.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) thinking: String,
}

/// One piece of a content.
#[derive(Debug, Deserialize)]
struct Piece {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    text: Content,
    #[serde(default)]
    thinking: Content,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of pieces")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content { text: text.to_owned(), thinking: String::new() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pieces: A) -> Result<Content, A::Error> {
        let mut content = Content::default();
        while let Some(raw) = pieces.next_element::<&RawValue>()? {
            let Ok(piece) = serde_json::from_str::<Piece>(raw.get()) else { continue };
            match &*piece.kind {
                "text" => content.text.push_str(&piece.text.text),
                "thinking" => content.thinking.push_str(&piece.thinking.text),
                _ => {}
            }
        }
        Ok(content)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::default())
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Content, E> {
        Ok(Content::default())
    }
}

/// JSON text, or (Ollama of old) the JSON itself.
#[derive(Debug, Default)]
pub(crate) struct Arguments(pub(crate) String);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        Ok(match raw.as_bytes().first() {
            Some(b'"') => Self(serde_json::from_str(raw).map_err(de::Error::custom)?),
            Some(b'{') => Self(raw.to_owned()),
            _ => Self::default(),
        })
    }
}

/// See [`Chunk::x_groq`].
#[derive(Debug, Deserialize)]
pub(crate) struct Groq {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) usage: Option<Usage>,
    pub(crate) error: Option<Value>,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) prompt_tokens: Option<Count>,
    pub(crate) completion_tokens: Option<Count>,
    pub(crate) total_tokens: Option<Count>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) prompt_tokens_details: Option<PromptDetails>,
    #[serde(default, deserialize_with = "or_none")]
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
