//! Helpers for the tests of all codecs.

use crate::driver::{Codec, StreamReader};
use contract::{
    AssistantPart, FileData, Message, ModelError, Part, ProviderMetadata, Request, ToolCall, ToolOutput, ToolResult,
    ToolSpec, UserPart,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Converts a fixture (one event per line) to server-sent events.
pub(crate) fn sse_events(fixture: &str, end: &str) -> String {
    let events: String = fixture.lines().map(|line| format!("data: {line}\n\n")).collect();
    events + end
}

/// Decodes a whole stream that arrives in these chunks.
pub(crate) fn decode(codec: impl Codec, pieces: &[&[u8]]) -> (Vec<Part>, Result<(), ModelError>) {
    let (mut reader, mut parts) = (StreamReader::new(codec), Vec::new());
    let read = pieces.iter().try_for_each(|piece| reader.push(piece, &mut parts));
    let read = read.and_then(|()| reader.end(&mut parts));
    (parts, read)
}

/// Decodes a stream to one line per part, without absent fields, and a line for an error. Generated
/// ids are written as `call_*`.
pub(crate) fn decoded_lines(codec: impl Codec, stream: &str) -> String {
    let (parts, read) = decode(codec, &[stream.as_bytes()]);
    let mut lines: Vec<_> = parts.iter().map(part_line).collect();
    lines.extend(read.err().map(|error| format!("error: {error}")));
    lines.join("\n")
}

fn part_line(part: &Part) -> String {
    let Ok(Value::Object(mut part)) = serde_json::to_value(part) else { return "?".to_owned() };
    part.retain(|_, value| !value.is_null() && *value != Value::Bool(false));
    if part.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with("call_") && id.len() == 37) {
        part.insert("id".to_owned(), "call_*".into());
    }
    let kind = part.shift_remove("type").unwrap_or_default();
    format!("{} {}", kind.as_str().unwrap_or_default(), Value::Object(part))
}

/// Splits a stream at these indexes.
pub(crate) fn split<'a>(stream: &'a [u8], cuts: &[proptest::sample::Index]) -> Vec<&'a [u8]> {
    let places = cuts.iter().map(|cut| cut.index(stream.len() + 1));
    let mut places: Vec<_> = places.chain([0, stream.len()]).collect();
    places.sort_unstable();
    places.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect()
}

/// Returns the conversation after a complete reply: the reply as it is stored in the history, and
/// the result `ok` for each call that the caller runs.
pub(crate) fn history_after(codec: impl Codec, stream: &str) -> Vec<Message> {
    let (parts, read) = decode(codec, &[stream.as_bytes()]);
    read.unwrap();
    let (mut reply, mut results) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::TextStart { .. } => reply.push(text("")),
            Part::ReasoningStart { metadata, .. } => {
                reply.push(AssistantPart::Reasoning { text: String::new(), metadata });
            }
            Part::TextDelta { delta, .. } => append_to_last(&mut reply, &delta, None),
            Part::ReasoningDelta { delta, metadata, .. } => append_to_last(&mut reply, &delta, metadata),
            Part::TextEnd { metadata, .. } | Part::ReasoningEnd { metadata, .. } => {
                append_to_last(&mut reply, "", metadata)
            }
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
                reply.push(AssistantPart::ToolCall(ToolCall { id, name, input, provider_executed, metadata }));
            }
            Part::ProviderItem { provider, item, .. } => reply.push(AssistantPart::ProviderItem { provider, item }),
            _ => {}
        }
    }
    vec![user("hi"), Message::Assistant(reply), Message::Tool(results)]
}

fn append_to_last(parts: &mut [AssistantPart], delta: &str, news: Option<ProviderMetadata>) {
    let last = parts.iter_mut().rev().find_map(|part| match part {
        AssistantPart::Text { text, metadata } | AssistantPart::Reasoning { text, metadata } => Some((text, metadata)),
        _ => None,
    });
    if let Some((text, metadata)) = last {
        text.push_str(delta);
        *metadata = news.or(metadata.take());
    }
}

/// Creates a request with these messages.
pub(crate) fn request(messages: Vec<Message>) -> Request {
    Request { messages: messages.into_iter().map(Arc::new).collect(), ..Request::default() }
}

/// Creates a tool.
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

/// Creates reasoning with metadata for a provider.
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
