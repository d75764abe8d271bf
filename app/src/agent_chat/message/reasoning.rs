//! The model's reasoning, in sections that can be opened.

use super::part::markdown_extras;
use super::state::{MessageState, PartKind, PartState};
use crate::markdown::{CitationStyle, Document, DocumentView};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};

/// A reasoning part: its number, its text, and whether it is still being written.
type ReasoningPart = (usize, Document, ArcRwSignal<bool>);

fn reasoning_part(part: PartState) -> Option<ReasoningPart> {
    match part.kind {
        PartKind::Reasoning { document, open } => Some((part.number, document, open)),
        _ => None,
    }
}

/// The numbers of the reasoning parts that start a group. Parts belong to one group if no visible
/// part separates them. Tracked.
pub(in crate::agent_chat) fn group_starts(parts: &[PartState]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut in_group = false;
    for part in parts {
        if matches!(part.kind, PartKind::Reasoning { .. }) {
            if !in_group {
                starts.push(part.number);
            }
            in_group = true;
        } else if !part.is_blank() {
            in_group = false;
        }
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
