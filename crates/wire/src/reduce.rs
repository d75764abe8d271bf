//! Folds chunks into a message: the same pure function in the browser and on the server, with the
//! rules of the AI SDK's client, so that all three produce the same message.

use crate::json::partial;
use crate::message::{DataPart, TextPart, TextState};
use crate::{Chunk, DataChunk, ProviderMetadata, UiMessage, UiPart};
use serde_json::{Map, Value};
use std::fmt;

mod replay;
mod tools;

pub use replay::replay;

/// Builds a message from chunks.
#[derive(Clone, Debug)]
pub struct Reducer {
    message: UiMessage,
    open_texts: Vec<(String, usize)>,
    open_reasonings: Vec<(String, usize)>,
    /// The JSON texts of arguments that are still arriving.
    inputs: Vec<Input>,
}

#[derive(Clone, Debug)]
struct Input {
    part: usize,
    text: String,
    changed: bool,
}

/// The change that a chunk made to the message, for rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkEffect {
    /// No change of the message.
    None,
    /// The part at this index.
    Part(usize),
    /// A new part at this index.
    Added(usize),
    /// The message's id or metadata.
    Message,
}

/// An error: a chunk does not fit the message and was ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReduceError {
    /// No text or reasoning part with this id is open.
    NotOpen(String),
    /// No call has this id.
    NoSuchCall(String),
}

impl fmt::Display for ReduceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen(id) => write!(f, "no part `{id}` is open"),
            Self::NoSuchCall(id) => write!(f, "there is no tool call `{id}`"),
        }
    }
}

impl std::error::Error for ReduceError {}

impl Reducer {
    /// Continues a message, or starts with an empty one.
    pub fn new(message: UiMessage) -> Self {
        Self { message, open_texts: Vec::new(), open_reasonings: Vec::new(), inputs: Vec::new() }
    }

    /// Returns the message so far. Call [`Reducer::settle`] first to update arguments that are
    /// still arriving.
    pub fn message(&self) -> &UiMessage {
        &self.message
    }

    /// Returns the message.
    pub fn into_message(mut self) -> UiMessage {
        self.settle();
        self.message
    }

    /// Parses the arguments that have grown since the last call. Parsing takes time linear in their
    /// length, so it is done once per frame and not once per chunk.
    pub fn settle(&mut self) {
        for input in self.inputs.iter_mut().filter(|input| input.changed) {
            input.changed = false;
            if let Some(UiPart::Tool(tool)) = self.message.parts.get_mut(input.part) {
                tool.input = partial::parse(&input.text).0;
            }
        }
    }

    /// Applies one chunk, in time linear in the size of the chunk.
    ///
    /// # Errors
    /// The chunk does not fit; the message is unchanged.
    pub fn apply(&mut self, chunk: &Chunk) -> Result<ChunkEffect, ReduceError> {
        match chunk {
            Chunk::Start { message_id, message_metadata } => {
                if let Some(id) = message_id {
                    self.message.id.clone_from(id);
                }
                Ok(self.metadata(message_metadata.as_ref()))
            }
            Chunk::StartStep => Ok(self.add(UiPart::StepStart)),
            Chunk::TextStart { id, provider_metadata } => Ok(self.open_text(id, provider_metadata.as_ref())),
            Chunk::TextDelta { id, delta, provider_metadata } => {
                let at = at(&self.open_texts, id)?;
                self.grow(at, delta, provider_metadata.as_ref(), false)
            }
            Chunk::TextEnd { id, citations, provider_metadata } => {
                let at = take(&mut self.open_texts, id)?;
                if let Some(UiPart::Text(text)) = self.message.parts.get_mut(at) {
                    text.citations.clone_from(citations);
                }
                self.grow(at, "", provider_metadata.as_ref(), true)
            }
            Chunk::ReasoningStart { id, provider_metadata } => Ok(self.open_reasoning(id, provider_metadata.as_ref())),
            Chunk::ReasoningDelta { id, delta, provider_metadata } => {
                let at = at(&self.open_reasonings, id)?;
                self.grow(at, delta, provider_metadata.as_ref(), false)
            }
            Chunk::ReasoningEnd { id, provider_metadata } => {
                let at = take(&mut self.open_reasonings, id)?;
                self.grow(at, "", provider_metadata.as_ref(), true)
            }
            Chunk::FinishStep => {
                self.open_texts.clear();
                self.open_reasonings.clear();
                Ok(ChunkEffect::None)
            }
            Chunk::Finish { message_metadata, .. } => Ok(self.metadata(message_metadata.as_ref())),
            Chunk::MessageMetadata { message_metadata } => Ok(self.metadata(Some(message_metadata))),
            Chunk::SourceUrl(source) => Ok(self.add(UiPart::SourceUrl(source.clone()))),
            Chunk::SourceDocument(source) => Ok(self.add(UiPart::SourceDocument(source.clone()))),
            Chunk::File(file) => Ok(self.add(UiPart::File(file.clone()))),
            Chunk::Data(data) => Ok(self.data(data)),
            Chunk::Abort { .. } | Chunk::Error { .. } => Ok(ChunkEffect::None),
            _ => self.tool(chunk),
        }
    }

    fn add(&mut self, part: UiPart) -> ChunkEffect {
        self.message.parts.push(part);
        ChunkEffect::Added(self.message.parts.len() - 1)
    }

    fn open_text(&mut self, id: &str, metadata: Option<&ProviderMetadata>) -> ChunkEffect {
        self.open_texts.push((id.to_owned(), self.message.parts.len()));
        self.add(UiPart::Text(streaming(None, metadata)))
    }

    fn open_reasoning(&mut self, id: &str, metadata: Option<&ProviderMetadata>) -> ChunkEffect {
        self.open_reasonings.push((id.to_owned(), self.message.parts.len()));
        self.add(UiPart::Reasoning(streaming(Some(id), metadata)))
    }

    fn grow(
        &mut self,
        at: usize,
        delta: &str,
        metadata: Option<&ProviderMetadata>,
        done: bool,
    ) -> Result<ChunkEffect, ReduceError> {
        if let Some(UiPart::Text(text) | UiPart::Reasoning(text)) = self.message.parts.get_mut(at) {
            text.text.push_str(delta);
            if let Some(metadata) = metadata {
                text.provider_metadata = Some(metadata.clone());
            }
            if done {
                text.state = Some(TextState::Done);
            }
        }
        Ok(ChunkEffect::Part(at))
    }

    fn data(&mut self, chunk: &DataChunk) -> ChunkEffect {
        if chunk.transient == Some(true) {
            return ChunkEffect::None;
        }
        let part = DataPart { kind: chunk.kind.clone(), id: chunk.id.clone(), data: chunk.data.clone() };
        let is_it = |known: &UiPart| match known {
            UiPart::Data(known) => chunk.id.is_some() && known.id == chunk.id && known.kind == chunk.kind,
            _ => false,
        };
        match self.message.parts.iter().position(is_it) {
            Some(at) => {
                self.message.parts[at] = UiPart::Data(part);
                ChunkEffect::Part(at)
            }
            None => self.add(UiPart::Data(part)),
        }
    }

    fn metadata(&mut self, news: Option<&Value>) -> ChunkEffect {
        if let Some(news) = news.filter(|news| !news.is_null()) {
            merge(self.message.metadata.get_or_insert(Value::Null), news, 0);
        }
        ChunkEffect::Message
    }
}

fn streaming(id: Option<&str>, metadata: Option<&ProviderMetadata>) -> TextPart {
    TextPart {
        id: id.map(str::to_owned),
        text: String::new(),
        state: Some(TextState::Streaming),
        provider_metadata: metadata.cloned(),
        citations: Vec::new(),
    }
}

fn at(open: &[(String, usize)], id: &str) -> Result<usize, ReduceError> {
    open.iter().rev().find(|(name, _)| name == id).map(|(_, at)| *at).ok_or_else(|| ReduceError::NotOpen(id.to_owned()))
}

fn take(open: &mut Vec<(String, usize)>, id: &str) -> Result<usize, ReduceError> {
    let place = open.iter().rposition(|(name, _)| name == id).ok_or_else(|| ReduceError::NotOpen(id.to_owned()))?;
    Ok(open.remove(place).1)
}

/// Merges objects recursively; other values are replaced. Keys that reach a prototype in JavaScript
/// are skipped.
fn merge(known: &mut Value, news: &Value, depth: usize) {
    /// A limit against hostile nesting; real metadata is shallow.
    const MAX_DEPTH: usize = 64;
    match (known, news) {
        (Value::Object(known), Value::Object(news)) if depth < MAX_DEPTH => {
            for (key, value) in news {
                if !matches!(key.as_str(), "__proto__" | "constructor" | "prototype") {
                    merge(known.entry(key.as_str()).or_insert(Value::Null), value, depth + 1);
                }
            }
        }
        (known, Value::Object(news)) if depth < MAX_DEPTH => {
            *known = Value::Object(Map::new());
            merge(known, &Value::Object(news.clone()), depth);
        }
        (known, news) => *known = news.clone(),
    }
}
