//! What the model thought, folded away.

use super::message_state::{MessageState, PartKind, PartState};
use super::part::extras;
use crate::erase::{Erase, Erased, Item, Key, each, flag, optional, text};
use crate::icons::{Icon, Shape};
use crate::markdown::{Document, DocumentView, Marks};
use crate::prelude::*;
use crate::reactive::{ArcRwSignal, Memo};
use crate::texts::{Text, t};

/// A reasoning part.
#[component]
pub(super) fn Reasoning(
    /// Its text.
    document: Document,
    /// Whether it is still being written.
    open: ArcRwSignal<bool>,
) -> Erased {
    let is_open = Memo::new(move |_| open.get());
    folded(is_open, view! { <DocumentView document extras=extras(Marks::Hidden) /> }.erase())
}

/// All that was thought for an answer, in one place. Nothing while there is none.
pub(super) fn all_reasoning(message: &MessageState) -> Erased {
    let parts = message.parts.clone();
    let thoughts = move || {
        let thought = |part: PartState| match part.kind {
            PartKind::Reasoning { document, open } => Some((part.number, document, open)),
            _ => None,
        };
        parts.get().into_iter().filter_map(thought).collect::<Vec<_>>()
    };
    let all = thoughts.clone();
    let is_there = {
        let thoughts = thoughts.clone();
        Memo::new(move |_| !thoughts().is_empty())
    };
    let is_open = Memo::new(move |_| all().iter().any(|(_, _, open)| open.get()));
    optional(move || {
        let thoughts = thoughts.clone();
        let item = |(number, document, _): (usize, Document, ArcRwSignal<bool>)| Item {
            key: Key::Number(number),
            view: Box::new(|| view! { <DocumentView document extras=extras(Marks::Hidden) /> }.erase()),
        };
        is_there.get().then(|| folded(is_open, each(move || thoughts().into_iter().map(item).collect())))
    })
}

fn folded(is_open: Memo<bool>, content: Erased) -> Erased {
    let label = text(move || if is_open.get() { t(Text::Thinking) } else { t(Text::Thought) }.to_owned());
    view! {
        <details class="cw-reasoning" class:cw-reasoning-open=flag(move || is_open.get())>
            <summary>
                <span class="cw-reasoning-label">{label}</span>
                <span class="cw-chevron"><Icon of=Shape::Chevron /></span>
            </summary>
            <div class="cw-reasoning-text">{content}</div>
        </details>
    }
    .erase()
}
