//! What happens in an answer, for the events of the page. `hand_over.rs` sees to it that one
//! page acts on each.

use super::Session;
use crate::agent_chat::outgoing::Outgoing;
use crate::prelude::*;
use serde_json::{Value, json};
use wire::api::{MessageMetadata, Outcome};
use wire::{ToolState, UiMessage, UiPart};

/// The events of an answer, as opposed to those of what the user does in this tab.
pub(super) const ANSWER_EVENTS: [&str; 6] =
    ["onToolCall", "onToolResult", "onDataPart", "onTitleGenerated", "onMessageComplete", "onError"];

/// Something that happened in an answer.
pub(super) struct Happened {
    pub(super) name: &'static str,
    /// The same in every page that sees it: it follows from the answer alone.
    pub(super) key: String,
    /// The part that is meant, where a later state of it takes the place of this one.
    pub(super) part: Option<usize>,
    pub(super) about: Value,
}

/// What is known of a message: only what comes after it is news.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Known {
    /// Calls, each with whether its result is known, too.
    calls: Vec<(String, bool)>,
    /// Parts with data, by their place and a digest of what they hold.
    data: Vec<(usize, String)>,
}

impl Known {
    /// Takes what a message holds already as known.
    pub(super) fn of(message: &UiMessage) -> Self {
        let mut known = Self::default();
        known.news(message);
        known
    }

    /// What a message brings beyond what is known.
    pub(super) fn news(&mut self, message: &UiMessage) -> Vec<Happened> {
        let mut news = Vec::new();
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                UiPart::Tool(tool) => self.call(tool, &mut news),
                UiPart::Data(part) => {
                    let digest = digest(&[&wire::json::text(&part.data)]);
                    match self.data.iter_mut().find(|(place, _)| *place == index) {
                        Some((_, known)) if *known == digest => continue,
                        Some((_, known)) => known.clone_from(&digest),
                        None => self.data.push((index, digest.clone())),
                    }
                    let mut add = |name, about| {
                        let key = format!("{name}-{index}-{digest}");
                        news.push(Happened { name, key, part: Some(index), about });
                    };
                    if part.kind == "data-chat-title" {
                        add("onTitleGenerated", json!({ "title": part.data.get("title") }));
                    }
                    add("onDataPart", json!({ "type": part.kind, "id": part.id, "data": part.data }));
                }
                _ => {}
            }
        }
        news
    }

    fn call(&mut self, tool: &wire::ToolPart, news: &mut Vec<Happened>) {
        if tool.state == ToolState::InputStreaming {
            return;
        }
        let about = json!({ "toolCallId": tool.tool_call_id, "toolName": tool.tool_name, "input": tool.input });
        let mut add = |name, about| {
            let key = format!("{name}-{}", digest(&[&tool.tool_call_id]));
            news.push(Happened { name, key, part: None, about });
        };
        let at = self.calls.iter().position(|(id, _)| *id == tool.tool_call_id).unwrap_or_else(|| {
            self.calls.push((tool.tool_call_id.clone(), false));
            add("onToolCall", about.clone());
            self.calls.len() - 1
        });
        if tool.is_final() && !std::mem::replace(&mut self.calls[at].1, true) {
            let mut about = about;
            about["output"] = tool.output.clone().unwrap_or_default();
            about["errorText"] = tool.error_text.clone().into();
            add("onToolResult", about);
        }
    }

    /// For the browser's storage.
    pub(super) fn written(&self) -> Value {
        json!({ "calls": self.calls, "data": self.data })
    }

    /// Out of the browser's storage.
    pub(super) fn read(kept: &Value) -> Self {
        let list = |key: &str| kept.get(key).and_then(Value::as_array).into_iter().flatten();
        let call = |own: &Value| Some((own.get(0)?.as_str()?.to_owned(), own.get(1)?.as_bool()?));
        let data = |own: &Value| Some((usize::try_from(own.get(0)?.as_u64()?).ok()?, own.get(1)?.as_str()?.to_owned()));
        Self { calls: list("calls").filter_map(call).collect(), data: list("data").filter_map(data).collect() }
    }
}

/// The end of an answer, if it has come to one: one that waits goes on. `is_disconnect`: this page
/// did not see it come.
pub(super) fn ended(message: &UiMessage, conversation_id: Option<&str>, is_disconnect: bool) -> Vec<Happened> {
    let metadata = MessageMetadata::of(message);
    let outcome = match metadata.outcome {
        None | Some(Outcome::Waiting) => return Vec::new(),
        Some(outcome) => outcome,
    };
    // An answer that is gone on with ends again, with more parts.
    let event = |name: &'static str, about| {
        let parts = message.parts.len().to_string();
        Happened { name, key: format!("{name}-{}", digest(&[&parts, &format!("{outcome:?}")])), part: None, about }
    };
    let mut events = Vec::new();
    // Metadata is merged over the runs of a message: these may be of an earlier one.
    let error = metadata.error.filter(|_| outcome == Outcome::Failed);
    let reason = metadata.finish_reason.filter(|_| !matches!(outcome, Outcome::Stopped | Outcome::Interrupted));
    if let Some(error) = error {
        events.push(event("onError", json!({ "message": error.message })));
    }
    let about = json!({
        "id": message.id,
        "conversationId": conversation_id,
        "text": message.text(),
        "parts": message.parts,
        "isAbort": outcome == Outcome::Stopped,
        "isDisconnect": is_disconnect,
        "finishReason": reason,
        "outcome": outcome,
    });
    events.push(event("onMessageComplete", about));
    events
}

/// 64 bits of FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>) over texts: enough to tell the
/// few events of one answer apart, in signs that an id may have.
fn digest(texts: &[&str]) -> String {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

impl Session {
    /// Says that something has happened in this tab.
    pub(in crate::agent_chat) fn tell(self, event: &'static str, about: Value) {
        // `try_`: the page may have gone.
        self.place.try_with_value(|place| place.events.emit(event, about));
    }

    /// Whether anything happens at an event.
    pub(super) fn has_event(self, event: &str) -> bool {
        self.place.with_value(|place| place.events.has(event))
    }

    /// Says that the user has written something.
    pub(super) fn tell_written(self, message: &UiMessage, out: &Outgoing) {
        let about = json!({ "id": message.id, "text": out.text, "files": out.about_files(), "parts": message.parts });
        self.tell("onUserMessage", about);
    }

    /// Whether the page lets a message go.
    pub(super) async fn may_send(self, out: &Outgoing) -> bool {
        let Some(events) = self.place.try_with_value(|place| place.events.clone()) else { return false };
        let messages: Vec<_> = self.messages.with_untracked(|all| all.iter().map(|message| message.whole()).collect());
        let about = json!({
            "text": out.text,
            "files": out.about_files(),
            "switches": self.switches(),
            "messages": messages,
        });
        events.ask("onBeforeSend", about).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(parts: Value) -> UiMessage {
        serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": parts })).unwrap()
    }

    fn names(known: &mut Known, parts: Value) -> Vec<&'static str> {
        known.news(&message(parts)).into_iter().map(|event| event.name).collect()
    }

    #[test]
    fn each_thing_is_told_once() {
        let mut told = Known::default();
        let call = |state: &str| json!([{ "type": "tool-search", "toolCallId": "c", "state": state, "input": {}, "output": {} }]);
        assert!(names(&mut told, call("input-streaming")).is_empty());
        assert_eq!(names(&mut told, call("input-available")), ["onToolCall"]);
        assert_eq!(names(&mut told, call("output-available")), ["onToolResult"]);
        assert!(names(&mut told, call("output-available")).is_empty());
        let title = |title: &str| json!([{ "type": "data-chat-title", "data": { "title": title } }]);
        assert_eq!(names(&mut told, title("A")), ["onTitleGenerated", "onDataPart"]);
        assert!(names(&mut told, title("A")).is_empty());
        assert_eq!(names(&mut told, title("B")), ["onTitleGenerated", "onDataPart"]);
    }

    #[test]
    fn what_was_loaded_is_not_told() {
        let parts = json!([{ "type": "tool-search", "toolCallId": "c", "state": "output-available", "input": {}, "output": {} }]);
        let mut told = Known::of(&message(parts.clone()));
        assert!(names(&mut told, parts).is_empty());
    }

    #[test]
    fn what_is_known_survives_the_storage() {
        let parts = json!([
            { "type": "tool-search", "toolCallId": "c", "state": "input-available", "input": {} },
            { "type": "data-mood", "data": "calm" },
        ]);
        let known = Known::of(&message(parts));
        assert_eq!(Known::read(&known.written()), known);
        assert_eq!(Known::read(&json!({ "calls": [[1]], "data": "x" })), Known::default());
    }

    /// Two pages claim the same keys, whenever they came to the answer.
    #[test]
    fn keys_follow_from_the_answer_alone() {
        let keys = |known: &mut Known, parts: Value| -> Vec<String> {
            known.news(&message(parts)).into_iter().map(|event| event.key).collect()
        };
        let call = json!({ "type": "tool-search", "toolCallId": "c/ä", "state": "output-available", "input": {}, "output": 1 });
        let data = json!({ "type": "data-mood", "data": { "is": "calm" } });
        let whole = keys(&mut Known::default(), json!([call, data]));
        let mut late = Known::of(&message(
            json!([{ "type": "tool-search", "toolCallId": "c/ä", "state": "input-available", "input": {} }]),
        ));
        assert_eq!(keys(&mut late, json!([call, data])), whole[1..]);
        let is_id =
            |key: &String| key.len() <= 128 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        assert!(whole.iter().all(is_id), "{whole:?}");
    }

    #[test]
    fn the_end_of_an_answer() {
        let check = |metadata: Value, expected: &[&str]| {
            let message = UiMessage { metadata: Some(metadata), ..message(json!([{ "type": "text", "text": "Hi" }])) };
            let events = ended(&message, Some("c"), false);
            assert_eq!(events.iter().map(|event| event.name).collect::<Vec<_>>(), expected);
            events.last().map(|last| last.about.clone()).unwrap_or_default()
        };
        check(json!({}), &[]);
        check(json!({ "outcome": "waiting" }), &[]);
        let done = check(
            json!({ "outcome": "done", "finishReason": "length", "error": { "code": "internal", "message": "" } }),
            &["onMessageComplete"],
        );
        let parts = json!([{ "type": "text", "text": "Hi" }]);
        assert_eq!(
            done,
            json!({ "id": "m", "conversationId": "c", "text": "Hi", "parts": parts, "isAbort": false,
            "isDisconnect": false, "finishReason": "length", "outcome": "done" })
        );
        let stopped = check(json!({ "outcome": "stopped", "finishReason": "length" }), &["onMessageComplete"]);
        assert_eq!((&stopped["isAbort"], &stopped["finishReason"]), (&json!(true), &Value::Null));
        let failed = json!({ "outcome": "failed", "error": { "code": "internal", "message": "No." } });
        check(failed, &["onError", "onMessageComplete"]);
    }
}
