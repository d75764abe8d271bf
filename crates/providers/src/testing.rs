//! What the tests of all codecs share.

use crate::driver::{Codec, Reader};
use contract::{
    AssistantPart, FileData, Message, ModelError, Part, ProviderMetadata, Request, ToolCall, ToolOutput, ToolResult,
    ToolSpec, UserPart,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// A fixture (one event a line) as the bytes that a provider sends.
pub(crate) fn events(fixture: &str, end: &str) -> String {
    let events: String = fixture.lines().map(|line| format!("data: {line}\n\n")).collect();
    events + end
}

/// What a codec makes of a whole stream that arrives in these pieces.
pub(crate) fn read(codec: impl Codec, pieces: &[&[u8]]) -> (Vec<Part>, Result<(), ModelError>) {
    let (mut reader, mut parts) = (Reader::new(codec), Vec::new());
    let read = pieces.iter().try_for_each(|piece| reader.bytes(piece, &mut parts));
    let read = read.and_then(|()| reader.end(&mut parts));
    (parts, read)
}

/// The parts of a good stream, a line each, without what is absent. Ids that were minted are written `call_*`.
pub(crate) fn shown(codec: impl Codec, stream: &str) -> String {
    let (parts, read) = read(codec, &[stream.as_bytes()]);
    let mut lines: Vec<_> = parts.iter().map(show).collect();
    lines.extend(read.err().map(|error| format!("error: {error}")));
    lines.join("\n")
}

fn show(part: &Part) -> String {
    let Ok(Value::Object(mut part)) = serde_json::to_value(part) else { return "?".to_owned() };
    part.retain(|_, value| !value.is_null() && *value != Value::Bool(false));
    if part.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with("call_") && id.len() == 37) {
        part.insert("id".to_owned(), "call_*".into());
    }
    let kind = part.shift_remove("type").unwrap_or_default();
    format!("{} {}", kind.as_str().unwrap_or_default(), Value::Object(part))
}

/// The same stream cut at these places.
pub(crate) fn cut<'a>(stream: &'a [u8], cuts: &[proptest::sample::Index]) -> Vec<&'a [u8]> {
    let places = cuts.iter().map(|cut| cut.index(stream.len() + 1));
    let mut places: Vec<_> = places.chain([0, stream.len()]).collect();
    places.sort_unstable();
    places.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect()
}

/// The conversation after a whole reply: what the history keeps of it, and `ok` as the result of each call that the caller runs.
pub(crate) fn answered(codec: impl Codec, stream: &str) -> Vec<Message> {
    let (parts, read) = read(codec, &[stream.as_bytes()]);
    read.unwrap();
    let (mut said, mut results) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::TextStart { .. } => said.push(text("")),
            Part::ReasoningStart { metadata, .. } => {
                said.push(AssistantPart::Reasoning { text: String::new(), metadata });
            }
            Part::TextDelta { delta, .. } => grow(&mut said, &delta, None),
            Part::ReasoningDelta { delta, metadata, .. } => grow(&mut said, &delta, metadata),
            Part::TextEnd { metadata, .. } | Part::ReasoningEnd { metadata, .. } => grow(&mut said, "", metadata),
            Part::ToolCall { id, name, input, provider_executed, metadata } => {
                if !provider_executed {
                    results.push(ToolResult {
                        call_id: id.clone(),
                        name: name.clone(),
                        output: ToolOutput::Text("ok".to_owned()),
                        metadata: None,
                    });
                }
                let input = serde_json::from_str(&input).unwrap_or_default();
                said.push(AssistantPart::ToolCall(ToolCall { id, name, input, provider_executed, metadata }));
            }
            Part::ProviderItem { provider, item } => said.push(AssistantPart::ProviderItem { provider, item }),
            _ => {}
        }
    }
    vec![user("hi"), Message::Assistant(said), Message::Tool(results)]
}

fn grow(said: &mut [AssistantPart], delta: &str, news: Option<ProviderMetadata>) {
    let last = said.iter_mut().rev().find_map(|part| match part {
        AssistantPart::Text { text, metadata } | AssistantPart::Reasoning { text, metadata } => Some((text, metadata)),
        _ => None,
    });
    if let Some((text, metadata)) = last {
        text.push_str(delta);
        *metadata = news.or(metadata.take());
    }
}

/// A request for these messages.
pub(crate) fn request(messages: Vec<Message>) -> Request {
    Request { messages: messages.into_iter().map(Arc::new).collect(), ..Request::default() }
}

/// One tool.
pub(crate) fn tool() -> ToolSpec {
    ToolSpec::new("weather", "The weather.", json!({ "type": "object" }))
}

pub(crate) fn user(text: &str) -> Message {
    Message::User(vec![UserPart::Text { text: text.to_owned() }])
}

pub(crate) fn file(media_type: &str, data: FileData, filename: Option<&str>) -> UserPart {
    UserPart::File { media_type: media_type.to_owned(), data, filename: filename.map(str::to_owned) }
}

pub(crate) fn text(text: &str) -> AssistantPart {
    AssistantPart::Text { text: text.to_owned(), metadata: None }
}

/// With metadata for a provider.
pub(crate) fn reasoning(text: &str, provider: &str, metadata: Value) -> AssistantPart {
    let metadata = ProviderMetadata::from_iter([(provider.to_owned(), metadata)]);
    AssistantPart::Reasoning { text: text.to_owned(), metadata: Some(metadata) }
}

pub(crate) fn call(id: &str, input: Value) -> AssistantPart {
    let (id, name) = (id.to_owned(), "weather".to_owned());
    AssistantPart::ToolCall(ToolCall { id, name, input, provider_executed: false, metadata: None })
}

pub(crate) fn result(id: &str, output: ToolOutput) -> ToolResult {
    ToolResult { call_id: id.to_owned(), name: "weather".to_owned(), output, metadata: None }
}
