//! Tells the page what happens in the chat (L-90). What was loaded is no news: only what happens while the page looks on (L-91).

use super::Session;
use crate::agent_chat::outgoing::Outgoing;
use serde_json::{Value, json};
use wire::{ToolState, UiMessage, UiPart};

/// How far the page has been told of a message.
#[derive(Default)]
pub(super) struct Told {
    /// Calls, each with whether its result was told too.
    calls: Vec<(String, bool)>,
    /// Parts with data, by their place.
    data: Vec<(usize, Value)>,
}

impl Told {
    /// Takes what a message holds already as told.
    pub(super) fn skip(&mut self, message: &UiMessage) {
        self.news(message);
    }

    /// The events that a message brings beyond those that were told.
    pub(super) fn news(&mut self, message: &UiMessage) -> Vec<(&'static str, Value)> {
        let mut news = Vec::new();
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                UiPart::Tool(tool) => self.call(tool, &mut news),
                UiPart::Data(part) => {
                    let known = self.data.iter_mut().find(|(place, _)| *place == index);
                    match known {
                        Some((_, data)) if *data == part.data => continue,
                        Some((_, data)) => data.clone_from(&part.data),
                        None => self.data.push((index, part.data.clone())),
                    }
                    if part.kind == "data-chat-title" {
                        news.push(("onTitleGenerated", json!({ "title": part.data.get("title") })));
                    }
                    news.push(("onDataPart", json!({ "type": part.kind, "id": part.id, "data": part.data })));
                }
                _ => {}
            }
        }
        news
    }

    fn call(&mut self, tool: &wire::ToolPart, news: &mut Vec<(&'static str, Value)>) {
        if tool.state == ToolState::InputStreaming {
            return;
        }
        let about = json!({ "toolCallId": tool.tool_call_id, "toolName": tool.tool_name, "input": tool.input });
        let at = self.calls.iter().position(|(id, _)| *id == tool.tool_call_id).unwrap_or_else(|| {
            self.calls.push((tool.tool_call_id.clone(), false));
            news.push(("onToolCall", about.clone()));
            self.calls.len() - 1
        });
        let is_over = tool.is_final();
        if is_over && !std::mem::replace(&mut self.calls[at].1, true) {
            let mut about = about;
            about["output"] = tool.output.clone().unwrap_or_default();
            about["errorText"] = tool.error_text.clone().into();
            news.push(("onToolResult", about));
        }
    }
}

impl Session {
    /// Says that something has happened.
    pub(in crate::agent_chat) fn tell(self, event: &'static str, about: Value) {
        // `try_`: the page may have gone.
        self.place.try_with_value(|place| place.events.emit(event, about));
    }

    /// Whether anything happens at an event.
    pub(super) fn has_event(self, event: &str) -> bool {
        self.place.with_value(|place| place.events.has(event))
    }

    /// Says what is new in the message that is being followed.
    pub(super) fn tell_news(self, told: &mut Told, message: &UiMessage) {
        if ["onToolCall", "onToolResult", "onDataPart", "onTitleGenerated"].iter().any(|event| self.has_event(event)) {
            told.news(message).into_iter().for_each(|(event, about)| self.tell(event, about));
        }
    }

    /// Whether the page lets a message go (L-93).
    pub(super) async fn may_send(self, out: &Outgoing) -> bool {
        let Some(events) = self.place.try_with_value(|place| place.events.clone()) else { return false };
        let about = json!({ "text": out.text, "files": out.about_files(), "switches": self.switches() });
        events.ask("onBeforeSend", about).await
    }

    /// Says that an answer is complete.
    pub(super) fn tell_complete(self, message: &UiMessage) {
        let metadata = message.metadata.clone().unwrap_or_default();
        let outcome = metadata.get("outcome").cloned().unwrap_or_default();
        if outcome == "waiting" {
            // For a decision or for the page: the message goes on.
            return;
        }
        if let Some(error) = metadata.pointer("/error/message") {
            self.tell("onError", json!({ "message": error }));
        }
        let text: Vec<&str> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                UiPart::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        let about = json!({
            "id": message.id,
            "conversationId": self.conversation_id(),
            "text": text.join("\n\n"),
            "isAbort": outcome == "stopped",
            "finishReason": outcome,
        });
        self.tell("onMessageComplete", about);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(parts: Value) -> UiMessage {
        serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": parts })).unwrap()
    }

    fn names(told: &mut Told, parts: Value) -> Vec<&'static str> {
        told.news(&message(parts)).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn each_thing_is_told_once() {
        let mut told = Told::default();
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
        let mut told = Told::default();
        told.skip(&message(parts.clone()));
        assert!(names(&mut told, parts).is_empty());
    }
}
