//! Derives the page's events from an answer. `event_claims.rs` ensures that only one page handles
//! each event.

use crate::agent_chat::composer::outgoing::OutgoingMessage;
use crate::agent_chat::message::state::MessageState;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use leptos::ev::MouseEvent;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;
use markdown_stream::link::allowed_url;
use serde_json::{Value, json};
use wire::api::{MessageMetadata, Outcome};
use wire::{ToolState, UiMessage, UiPart};

/// The event of a click on an address. With a handler, the chat does not open the address.
pub(in crate::agent_chat) const LINK_CLICK: &str = "onLinkClick";

/// The events derived from an answer, as opposed to those caused by the user in this tab.
pub(in crate::agent_chat::session) const ANSWER_EVENTS: [&str; 6] =
    ["onToolCall", "onToolResult", "onDataPart", "onTitleGenerated", "onMessageComplete", "onError"];

/// An event of an answer.
pub(in crate::agent_chat::session) struct AnswerEvent {
    pub(in crate::agent_chat::session) name: &'static str,
    /// The key by which the event is claimed. It depends on the answer alone, so all pages compute
    /// the same key.
    pub(in crate::agent_chat::session) key: String,
    /// The index of a part whose later event replaces this one.
    pub(in crate::agent_chat::session) part: Option<usize>,
    pub(in crate::agent_chat::session) detail: Value,
}

/// The parts of a message whose events were already emitted; only later changes cause events.
#[derive(Debug, Default, PartialEq)]
pub(in crate::agent_chat::session) struct SeenParts {
    /// Tool calls, each with whether its result was seen.
    calls: Vec<(String, bool)>,
    /// Data parts, each with its index and a digest of its data.
    data: Vec<(usize, String)>,
}

impl SeenParts {
    /// Marks everything in a message as seen.
    pub(in crate::agent_chat::session) fn from_message(message: &UiMessage) -> Self {
        let mut known = Self::default();
        known.new_events(message);
        known
    }

    /// Returns the events for what is new in a message, and marks it as seen.
    pub(in crate::agent_chat::session) fn new_events(&mut self, message: &UiMessage) -> Vec<AnswerEvent> {
        let mut news = Vec::new();
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                UiPart::Tool(tool) => self.call_events(tool, &mut news),
                UiPart::Data(part) => {
                    let digest = digest(&[&wire::json::text(&part.data)]);
                    match self.data.iter_mut().find(|(place, _)| *place == index) {
                        Some((_, known)) if *known == digest => continue,
                        Some((_, known)) => known.clone_from(&digest),
                        None => self.data.push((index, digest.clone())),
                    }
                    let mut add = |name, about| {
                        let key = format!("{name}-{index}-{digest}");
                        news.push(AnswerEvent { name, key, part: Some(index), detail: about });
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

    fn call_events(&mut self, tool: &wire::ToolPart, news: &mut Vec<AnswerEvent>) {
        if tool.state == ToolState::InputStreaming {
            return;
        }
        let about = json!({ "toolCallId": tool.tool_call_id, "toolName": tool.tool_name, "input": tool.input });
        let mut add = |name, about| {
            let key = format!("{name}-{}", digest(&[&tool.tool_call_id]));
            news.push(AnswerEvent { name, key, part: None, detail: about });
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

    /// Serializes it for the browser's storage.
    pub(in crate::agent_chat::session) fn to_json(&self) -> Value {
        json!({ "calls": self.calls, "data": self.data })
    }

    /// Reads it from the browser's storage.
    pub(in crate::agent_chat::session) fn from_json(kept: &Value) -> Self {
        let list = |key: &str| kept.get(key).and_then(Value::as_array).into_iter().flatten();
        let call = |own: &Value| Some((own.get(0)?.as_str()?.to_owned(), own.get(1)?.as_bool()?));
        let data = |own: &Value| Some((usize::try_from(own.get(0)?.as_u64()?).ok()?, own.get(1)?.as_str()?.to_owned()));
        Self { calls: list("calls").filter_map(call).collect(), data: list("data").filter_map(data).collect() }
    }
}

/// The events at the end of an answer; none while it is being written or waits for the user.
/// `is_disconnect` states that this page did not follow the answer to its end.
pub(in crate::agent_chat::session) fn end_events(
    message: &UiMessage,
    conversation_id: Option<&str>,
    is_disconnect: bool,
) -> Vec<AnswerEvent> {
    let metadata = MessageMetadata::from_message(message);
    let outcome = match metadata.outcome {
        None | Some(Outcome::Waiting) => return Vec::new(),
        Some(outcome) => outcome,
    };
    // An answer that is continued ends again, with more parts and therefore another key.
    let event = |name: &'static str, about| {
        let parts = message.parts.len().to_string();
        AnswerEvent {
            name,
            key: format!("{name}-{}", digest(&[&parts, &format!("{outcome:?}")])),
            part: None,
            detail: about,
        }
    };
    let mut events = Vec::new();
    // Metadata are merged over all runs of a message, so the error may be from an earlier run.
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

/// Hashes texts with 64-bit FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>) into hexadecimal
/// digits, which are allowed in a key. 64 bits are enough to distinguish the few events of one
/// answer.
fn digest(texts: &[&str]) -> String {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

impl Session {
    /// Emits an event of the block.
    pub(in crate::agent_chat) fn emit(self, event: &'static str, about: Value) {
        // `try_`: the page may have been closed.
        self.block.try_with_value(|place| place.events.emit(event, about));
    }

    /// Emits the event for a click on an address in a message, if the page wants to know of it; the browser then does
    /// not open the address. Clicks that open it in a special way, such as with a modifier key, are left to the browser.
    pub(in crate::agent_chat) fn link_clicked(self, event: &MouseEvent) {
        let modified = event.meta_key() || event.ctrl_key() || event.shift_key() || event.alt_key();
        if event.default_prevented() || event.button() != 0 || modified || !self.has_event(LINK_CLICK) {
            return;
        }
        let element = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let link = element.and_then(|target| target.closest("[data-message] a[href]:not([download])").ok().flatten());
        let Some(link) = link else { return };
        let href = link.get_attribute("href").unwrap_or_default();
        // Other links lead to files and pages of this app.
        if allowed_url(&href).is_some() {
            event.prevent_default();
            self.emit(LINK_CLICK, json!({ "href": href, "text": link.text_content() }));
        }
    }

    /// Emits an event with the messages that are shown.
    pub(in crate::agent_chat::session) fn emit_with_messages(self, event: &'static str, mut about: Value) {
        if self.has_event(event) {
            about["messages"] = self.shown_messages();
            self.emit(event, about);
        }
    }

    /// Emits the event for a conversation that has just been created.
    pub(in crate::agent_chat::session) fn emit_conversation_start(self, id: &str) {
        self.emit("onConversationStart", json!({ "conversationId": id }));
    }

    fn shown_messages(self) -> Value {
        let messages = self.messages.with_untracked(|all| all.iter().map(MessageState::to_message).collect::<Vec<_>>());
        json!(messages)
    }

    /// Whether an event has a handler.
    pub(in crate::agent_chat::session) fn has_event(self, event: &str) -> bool {
        self.block.with_value(|place| place.events.has(event))
    }

    /// Emits the event for a new message of the user.
    pub(in crate::agent_chat::session) fn emit_user_message(self, message: &UiMessage, out: &OutgoingMessage) {
        let about = json!({ "id": message.id, "text": out.text, "files": out.files_json(), "parts": message.parts });
        self.emit_with_messages("onUserMessage", about);
    }

    /// Whether the page allows a message to be sent.
    pub(in crate::agent_chat::session) async fn may_send(self, out: &OutgoingMessage) -> bool {
        let Some(events) = self.block.try_with_value(|place| place.events.clone()) else { return false };
        let about = json!({
            "text": out.text,
            "files": out.files_json(),
            "switches": self.switches(),
            "messages": self.shown_messages(),
        });
        events.emit_and_wait("onBeforeSend", about).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(parts: Value) -> UiMessage {
        serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": parts })).unwrap()
    }

    fn names(known: &mut SeenParts, parts: Value) -> Vec<&'static str> {
        known.new_events(&message(parts)).into_iter().map(|event| event.name).collect()
    }

    #[test]
    fn each_change_causes_one_event() {
        let mut told = SeenParts::default();
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
    fn loaded_messages_cause_no_events() {
        let parts = json!([{ "type": "tool-search", "toolCallId": "c", "state": "output-available", "input": {}, "output": {} }]);
        let mut told = SeenParts::from_message(&message(parts.clone()));
        assert!(names(&mut told, parts).is_empty());
    }

    #[test]
    fn seen_parts_survive_serialization() {
        let parts = json!([
            { "type": "tool-search", "toolCallId": "c", "state": "input-available", "input": {} },
            { "type": "data-mood", "data": "calm" },
        ]);
        let known = SeenParts::from_message(&message(parts));
        assert_eq!(SeenParts::from_json(&known.to_json()), known);
        assert_eq!(SeenParts::from_json(&json!({ "calls": [[1]], "data": "x" })), SeenParts::default());
    }

    /// Two pages compute the same keys, whenever they started to follow the answer.
    #[test]
    fn event_keys_depend_on_the_answer_alone() {
        let keys = |known: &mut SeenParts, parts: Value| -> Vec<String> {
            known.new_events(&message(parts)).into_iter().map(|event| event.key).collect()
        };
        let call = json!({ "type": "tool-search", "toolCallId": "c/ä", "state": "output-available", "input": {}, "output": 1 });
        let data = json!({ "type": "data-mood", "data": { "is": "calm" } });
        let whole = keys(&mut SeenParts::default(), json!([call, data]));
        let mut late = SeenParts::from_message(&message(
            json!([{ "type": "tool-search", "toolCallId": "c/ä", "state": "input-available", "input": {} }]),
        ));
        assert_eq!(keys(&mut late, json!([call, data])), whole[1..]);
        let is_id =
            |key: &String| key.len() <= 128 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        assert!(whole.iter().all(is_id), "{whole:?}");
    }

    #[test]
    fn end_events_depend_on_the_outcome() {
        let check = |metadata: Value, expected: &[&str]| {
            let message = UiMessage { metadata: Some(metadata), ..message(json!([{ "type": "text", "text": "Hi" }])) };
            let events = end_events(&message, Some("c"), false);
            assert_eq!(events.iter().map(|event| event.name).collect::<Vec<_>>(), expected);
            events.last().map(|last| last.detail.clone()).unwrap_or_default()
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
