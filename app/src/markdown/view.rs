//! The components that show Markdown.

use super::code::copy_on_click;
use super::document::{Block, Document, References};
use super::render::render;
use super::tail::presentable;
use crate::erase::{Erase, Erased, Item, Key, each, effect, handler};
use crate::node::drawn;
use leptos::prelude::*;

/// Text in Markdown.
#[component]
pub fn Markdown(
    /// The text; it may change.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    let document = Document::new(&text.read_untracked(), true);
    let shown = document.clone();
    let mut first = true;
    effect(move || {
        let text = text.read();
        if !std::mem::take(&mut first) {
            shown.replace(&text, true);
        }
    });
    view! { <DocumentView document /> }
}

/// A document, while it grows too.
#[component]
pub fn DocumentView(
    /// The document.
    document: Document,
) -> impl IntoView {
    let Document { blocks, references, .. } = document;
    let item = move |block: Block| {
        let references = references.clone();
        Item { key: Key::Number(block.number), view: Box::new(move || block_view(block, references)) }
    };
    let blocks = each(move || blocks.get().into_iter().map(&item).collect());
    view! {
        <div class="cw-markdown" dir="auto" on:click=handler(copy_on_click)>
            {blocks}
        </div>
    }
    .erase()
}

fn block_view(block: Block, references: References) -> Erased {
    drawn(move || {
        block.source.with(|source| {
            if source.open {
                render(&presentable(&source.text), &references)
            } else {
                render(&source.text, &references)
            }
        })
    })
}
