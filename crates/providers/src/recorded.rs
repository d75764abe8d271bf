//! Decodes replies that were recorded from a provider: the events as the provider sent them, without a
//! connection. They take the same way as those of a live reply, with the same bounds.

use crate::driver::{Codec, StreamReader};
use crate::parallel::ParallelExpander;
use crate::{anthropic, google, lenient, openai_chat, openai_responses};
use contract::{ModelError, Part};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An API whose streamed replies can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Api {
    /// Anthropic's Messages API.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// The Gemini API.
    #[serde(rename = "google")]
    Google,
    /// Chat Completions of OpenAI, and of the many gateways that are compatible with it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI's Responses API.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Google, Self::OpenAiChat, Self::OpenAiResponses];

    /// Returns the name, as in recordings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
        }
    }

    /// Returns the API that sends such an event; `None` if the event does not tell.
    pub fn from_event(event: &Value) -> Option<Self> {
        let has = |key: &str| event.get(key).is_some();
        match event.get("type").and_then(Value::as_str) {
            Some("message_start" | "message_delta" | "message_stop") => Some(Self::Anthropic),
            Some(kind) if kind.starts_with("content_block_") => Some(Self::Anthropic),
            Some(kind) if kind.starts_with("response.") => Some(Self::OpenAiResponses),
            Some(_) => None,
            None if has("candidates") || has("promptFeedback") => Some(Self::Google),
            None if has("choices") => Some(Self::OpenAiChat),
            None => None,
        }
    }
}

/// A decoded reply.
#[derive(Debug)]
pub struct DecodedReply {
    /// The parts, also those before a failure.
    pub parts: Vec<Part>,
    /// Why the reply failed, if it did: the provider reported an error, or the stream is broken.
    pub failure: Option<ModelError>,
    /// The number of decoded events, including the one that failed. Events after a complete reply are not decoded.
    pub events_read: usize,
}

/// Decodes the events of a reply, which are the data of its server-sent events. Calls to which the provider has given no
/// id have the same ids each time.
pub fn decode<'a>(api: Api, events: impl IntoIterator<Item = &'a str>) -> DecodedReply {
    let mut decoded = decode_events(api, events);
    number_made_ids(&mut decoded.parts);
    decoded
}

/// Replaces ids that were made while decoding with numbered ones.
fn number_made_ids(parts: &mut [Part]) {
    let mut made = Vec::new();
    for part in parts {
        let (Part::ToolInputStart { id, .. }
        | Part::ToolInputDelta { id, .. }
        | Part::ToolCall { id, .. }
        | Part::ToolResult { id, .. }) = part
        else {
            continue;
        };
        if !lenient::is_made_id(id) {
            continue;
        }
        let number = made.iter().position(|known| known == id).unwrap_or_else(|| {
            made.push(id.clone());
            made.len() - 1
        });
        *id = format!("call_without_id_{}", number + 1);
    }
}

fn decode_events<'a>(api: Api, events: impl IntoIterator<Item = &'a str>) -> DecodedReply {
    match api {
        Api::Anthropic => decode_with(anthropic::stream::MessagesCodec::default(), events),
        Api::Google => decode_with(google::stream::GeminiCodec::default(), events),
        Api::OpenAiChat => decode_with(ParallelExpander::new(openai_chat::stream::ChatCodec::default(), &[]), events),
        Api::OpenAiResponses => {
            decode_with(ParallelExpander::new(openai_responses::stream::ResponsesCodec::default(), &[]), events)
        }
    }
}

fn decode_with<'a>(codec: impl Codec, events: impl IntoIterator<Item = &'a str>) -> DecodedReply {
    let (mut reader, mut parts, mut events_read) = (StreamReader::new(codec), Vec::new(), 0);
    for event in events {
        if reader.is_complete() {
            break;
        }
        events_read += 1;
        let mut bytes = String::with_capacity(event.len() + 16);
        for line in event.lines() {
            bytes.push_str("data: ");
            bytes.push_str(line);
            bytes.push('\n');
        }
        bytes.push('\n');
        if let Err(error) = reader.push(bytes.as_bytes(), &mut parts) {
            return DecodedReply { parts, failure: Some(error), events_read };
        }
    }
    let failure = reader.end(&mut parts).err();
    DecodedReply { parts, failure, events_read }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::ModelErrorKind;
    use std::path::Path;

    /// Returns the lines of the recordings in a folder of `fixtures`.
    fn fixtures(folder: &str) -> Vec<Vec<String>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
        let read = |path| std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
        std::fs::read_dir(folder).unwrap().map(|entry| read(entry.unwrap().path())).collect()
    }

    #[test]
    fn the_api_is_recognised_by_an_event_of_each_recording() {
        for (folder, api) in [
            ("anthropic", Api::Anthropic),
            ("google", Api::Google),
            ("openai_chat", Api::OpenAiChat),
            ("openai_responses", Api::OpenAiResponses),
        ] {
            for events in fixtures(folder) {
                let found = events.iter().find_map(|event| Api::from_event(&serde_json::from_str(event).unwrap()));
                assert_eq!(found, Some(api), "{events:?}");
                let decoded = decode(api, events.iter().map(String::as_str));
                assert!(decoded.failure.is_none(), "{:?}", decoded.failure);
                assert_eq!(decoded.events_read, events.len(), "{events:?}");
                assert!(matches!(decoded.parts.last(), Some(Part::Finish { .. })), "{events:?}");
            }
        }
        assert_eq!(Api::from_event(&serde_json::json!({ "type": "ping" })), None);
    }

    #[test]
    fn a_broken_reply_names_the_event() {
        let events =
            ["{\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}", "{\"error\":{\"message\":\"no\",\"code\":503}}"];
        let decoded = decode(Api::OpenAiChat, events);
        assert_eq!((decoded.events_read, decoded.failure.is_some()), (2, true));
        let decoded = decode(Api::OpenAiChat, [events[0]]);
        assert_eq!(decoded.failure.map(|error| error.kind), Some(ModelErrorKind::BrokenStream));
        let events = ["{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}", "[DONE]", "{\"choices\":[]}"];
        assert_eq!(decode(Api::OpenAiChat, events).events_read, 2);
    }

    #[test]
    fn calls_without_an_id_have_the_same_ids_each_time() {
        let call = |index| {
            format!(
                "{{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}}}]}}"
            )
        };
        let events = [call(0), call(1), "{\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}".to_owned()];
        let ids = || -> Vec<String> {
            let decoded = decode(Api::OpenAiChat, events.iter().map(String::as_str));
            let calls = decoded.parts.into_iter().filter_map(|part| match part {
                Part::ToolCall { id, .. } => Some(id),
                _ => None,
            });
            calls.collect()
        };
        assert_eq!(ids(), ["call_without_id_1", "call_without_id_2"]);
    }

    #[test]
    fn names_are_those_of_recordings() {
        for api in Api::ALL {
            assert_eq!(serde_json::to_value(api).unwrap(), api.name());
        }
    }
}
