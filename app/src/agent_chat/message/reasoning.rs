//! The model's reasoning, in sections that can be opened.

use super::part::markdown_extras;
use super::state::{MessageState, PartKind, PartState};
use crate::markdown::{CitationStyle, Document, DocumentView};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};

/// A reasoning part: its number, its text, and whether it is still being written.
type ReasoningPart = (usize, Document, ArcRwSignal<bool>);

/// Returns a reasoning part that has a text. Models also send signatures and encrypted reasoning
/// without one. Tracked.
fn reasoning_part(part: PartState) -> Option<ReasoningPart> {
    match part.kind {
        PartKind::Reasoning { document, open } if !document.is_empty() => Some((part.number, document, open)),
        _ => None,
    }
}

/// The numbers of the reasoning parts that start a group. Parts belong to one group if no visible
/// part separates them. Tracked.
pub(in crate::agent_chat) fn group_starts(parts: &[PartState]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut in_group = false;
    for part in parts.iter().filter(|part| !part.is_blank()) {
        let is_reasoning = matches!(part.kind, PartKind::Reasoning { .. });
        if is_reasoning && !in_group {
            starts.push(part.number);
        }
        in_group = is_reasoning;
    }
    starts
}

/// A section with the group of reasoning parts that starts at this number.
pub(in crate::agent_chat) fn reasoning_from(message: &MessageState, first: usize) -> AnyView {
    let parts = message.parts.clone();
    reasoning(move || {
        let parts = parts.get();
        let end = group_starts(&parts).into_iter().find(|start| *start > first).unwrap_or(usize::MAX);
        parts.into_iter().filter(|part| (first..end).contains(&part.number)).filter_map(reasoning_part).collect()
    })
}

/// A section with all reasoning of an answer; nothing while there is none.
pub(in crate::agent_chat) fn all_reasoning(message: &MessageState) -> AnyView {
    let parts = message.parts.clone();
    reasoning(move || parts.get().into_iter().filter_map(reasoning_part).collect())
}

fn reasoning(thoughts: impl Fn() -> Vec<ReasoningPart> + Clone + Send + Sync + 'static) -> AnyView {
    let all = thoughts.clone();
    let is_there = {
        let thoughts = thoughts.clone();
        Memo::new(move |_| !thoughts().is_empty())
    };
    let is_open = Memo::new(move |_| all().iter().any(|(_, _, open)| open.get()));
    (move || {
        let thoughts = thoughts.clone();
        let thought =
            |(_, document, _)| view! { <DocumentView document extras=markdown_extras(CitationStyle::Hidden) /> };
        is_there.get().then(|| {
            let all = view! { <For each=thoughts key=|(number, _, _)| *number children=thought /> };
            folded(is_open, all.into_any())
        })
    })
    .into_any()
}

fn folded(is_open: Memo<bool>, content: AnyView) -> AnyView {
    let label = move || if is_open.get() { t(Text::Thinking) } else { t(Text::Thought) }.to_owned();
    view! {
        <details class="cw-reasoning" class:cw-reasoning-open=move || is_open.get()>
            <summary>
                <span class="cw-reasoning-label">{label}</span>
                <span class="cw-chevron"><Icon of=Shape::CHEVRON /></span>
            </summary>
            <div class="cw-reasoning-text">{content}</div>
        </details>
    }
    .into_any()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use serde_json::json;

    /// Models send signatures and encrypted reasoning without a text.
    #[test]
    fn reasoning_without_a_text_is_neither_shown_nor_starts_a_group() {
        let check = |parts: serde_json::Value, starts: &[usize], is_blank: bool| {
            let message = json!({ "id": "m", "role": "assistant", "parts": parts });
            let message: wire::UiMessage = serde_json::from_value(message).unwrap();
            Owner::new().with(|| {
                let state = MessageState::new(&message);
                let shown = state.parts.get_untracked();
                assert_eq!((group_starts(&shown).as_slice(), state.is_blank()), (starts, is_blank), "{message:?}");
                if starts.is_empty() {
                    let html = all_reasoning(&state).to_html();
                    assert!(!html.contains("<details"), "{html}");
                }
            });
        };
        let empty = || json!({ "type": "reasoning", "text": "", "providerMetadata": { "openai": { "itemId": "r" } } });
        let thought = || json!({ "type": "reasoning", "text": "So." });
        let call = || json!({ "type": "tool-look", "toolCallId": "c", "state": "output-available", "input": {} });
        check(json!([{ "type": "step-start" }, empty()]), &[], true);
        check(json!([empty(), call(), empty(), call(), empty()]), &[], false);
        check(json!([empty(), thought(), empty(), thought(), call(), thought()]), &[1, 5], false);
    }

    #[test]
    fn reasoning_that_has_no_text_yet_is_silent() {
        let check = |parts: serde_json::Value, expected: bool| {
            let message = json!({ "id": "m", "role": "assistant", "parts": parts });
            let message: wire::UiMessage = serde_json::from_value(message).unwrap();
            Owner::new()
                .with(|| assert_eq!(MessageState::new(&message).is_silently_reasoning(), expected, "{message:?}"));
        };
        let text = json!({ "type": "text", "text": "Well." });
        check(json!([text, { "type": "reasoning", "text": "", "state": "streaming" }]), true);
        check(json!([text, { "type": "reasoning", "text": "So", "state": "streaming" }]), false);
        check(json!([text, { "type": "reasoning", "text": "", "state": "done" }]), false);
        check(json!([{ "type": "reasoning", "text": "", "state": "streaming" }, text]), false);
    }
}
