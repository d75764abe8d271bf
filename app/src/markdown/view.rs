//! The components that show Markdown.

use super::code::copy_on_click;
use super::document::{Block, Document};
use super::render::render;
use super::tail::presentable;
use crate::erase::{Erase, effect, handler};
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
    let block = move |block: Block| {
        let references = references.clone();
        move || {
            block.source.with(|source| {
                if source.open {
                    render(&presentable(&source.text), &references)
                } else {
                    render(&source.text, &references)
                }
            })
        }
    };
    view! {
        <div class="cw-markdown" dir="auto" on:click=handler(copy_on_click)>
            <For each=move || blocks.get() key=|block| block.number children=block />
        </div>
    }
    .erase()
}
