//! The status line while an answer is being prepared, and the status that the agent reports.

use crate::agent_chat::message::state::{MessageState, PartKind};
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use serde_json::Value;
use std::time::Duration;
use wire::{Role, UiPart};

/// A data part with the agent's status: a text, or an object with a text under one of
/// [`STATUS_KEYS`].
const STATUS: &str = "data-status";
const STATUS_KEYS: [&str; 3] = ["message", "status", "text"];

/// The line at the end of the log.
#[component]
pub(in crate::agent_chat) fn Thinking() -> AnyView {
    let session = expect_context::<Session>();
    let (shows_status, messages, delay, rotation) = session.display(|display| {
        let rotation = display.thinking_message_rotation_interval;
        (display.show_status_updates, display.thinking_messages.clone(), display.thinking_message_delay, rotation)
    });
    let newest = move || session.messages.with(|all| all.last().cloned());
    let waits = Memo::new(move |_| {
        let waits =
            |newest: MessageState| newest.role == Role::User || newest.is_blank() || newest.is_silently_reasoning();
        session.is_answering() && newest().is_none_or(waits)
    });
    let status = Memo::new(move |_| {
        let newest = newest().filter(|_| shows_status && session.is_answering())?;
        if session.is_retrying.get() { Some(t(Text::AskingAgain).to_owned()) } else { status(&newest) }
    });
    let turn = RwSignal::new(0);
    if !messages.is_empty() {
        Effect::new(move |_| {
            turn.set(0);
            if waits.get() {
                rotate(turn, Duration::from_millis(delay), Duration::from_millis(rotation));
            }
        });
    }
    let is_shown = Memo::new(move |_| waits.get() || status.with(Option::is_some));
    let words = move || {
        let thought = || messages.get(turn.get().checked_sub(1)? % messages.len()).cloned();
        status.get().or_else(thought).unwrap_or_else(|| t(Text::Thinking).to_owned())
    };
    (move || is_shown.get().then(|| view! { <p class="cw-thinking" dir="auto">{words.clone()}</p> }.into_any()))
        .into_any()
}

/// Increments a counter after a delay and then at intervals, until the surrounding effect runs
/// again.
fn rotate(turn: RwSignal<usize>, delay: Duration, rotation: Duration) {
    let next = move || {
        turn.try_update(|turn| *turn += 1);
    };
    let interval = StoredValue::new_local(None);
    let begin = move || {
        next();
        // The page may have been closed by then.
        interval.try_set_value(set_interval_with_handle(next, rotation).ok());
    };
    let timeout = set_timeout_with_handle(begin, delay).ok();
    on_cleanup(move || {
        if let Some(timeout) = timeout {
            timeout.clear();
        }
        if let Some(Some(interval)) = interval.try_get_value() {
            interval.clear();
        }
    });
}

/// The last status in the message, unless text follows it. Tracked.
fn status(message: &MessageState) -> Option<String> {
    message.parts.with(|parts| {
        let newer = parts.iter().rev().take_while(|part| !matches!(part.kind, PartKind::Text(_)));
        newer.into_iter().find_map(|part| match &part.kind {
            PartKind::Fixed(part) => part.with(|part| match part {
                UiPart::Data(data) if data.kind == STATUS => status_text(&data.data),
                _ => None,
            }),
            _ => None,
        })
    })
}

fn status_text(status: &Value) -> Option<String> {
    let text = status.as_str().or_else(|| STATUS_KEYS.iter().find_map(|key| status.get(key)?.as_str()));
    text.filter(|text| !text.is_empty()).map(|text| text_with_code_points(text, TextKind::Prose).into_owned())
}

#[cfg(test)]
mod tests {
    use super::status_text;
    use serde_json::json;

    #[test]
    fn the_status_text_is_read_from_status_data() {
        for (status, expected) in [
            (json!("Reading"), Some("Reading")),
            (json!({ "message": "Reading" }), Some("Reading")),
            (json!({ "status": "Reading", "step": 1 }), Some("Reading")),
            (json!({ "text": "" }), None),
            (json!(3), None),
        ] {
            assert_eq!(status_text(&status).as_deref(), expected, "{status}");
        }
    }
}
