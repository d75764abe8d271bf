//! The components that show Markdown.

use super::Extras;
use super::click::on_click;
use super::document::{Block, Document, Group, References};
use super::render::render;
use crate::node::{Node, drawn, element};
use crate::prelude::*;

/// Text in Markdown.
#[component]
pub fn Markdown(
    /// The text; it may change.
    #[prop(into)]
    text: Signal<String>,
) -> AnyView {
    let document = Document::new(&text.read_untracked(), true);
    let shown = document.clone();
    let mut first = true;
    Effect::new(move |_| {
        let text = text.read();
        if !std::mem::take(&mut first) {
            shown.replace(&text, true);
        }
    });
    view! { <DocumentView document /> }.into_any()
}

/// A document, while it grows too.
#[component]
pub fn DocumentView(
    /// The document.
    document: Document,
    /// What is done for it beyond Markdown.
    #[prop(optional)]
    extras: Extras,
) -> AnyView {
    let Document { groups, references, .. } = document;
    let group = move |group: Group| group_view(group, references.clone(), extras.clone());
    view! {
        <div class="cw-markdown" dir="auto" on:click=on_click>
            <For each=move || groups.get() key=|group| group.first children=group />
        </div>
    }
    .into_any()
}

/// What grows in the last group leaves the others alone: the style sheet says that the browser may rely on that.
fn group_view(group: Group, references: References, extras: Extras) -> AnyView {
    let block = move |block: Block| block_view(block, references.clone(), extras.clone());
    view! {
        <div class="cw-md-group">
            <For each=move || group.blocks.get() key=|block| block.number children=block />
        </div>
    }
    .into_any()
}

/// A text as a part of a tree that is drawn as a whole; `open` says that more of it may come. Costs as much as the text is long.
/// What is around it hears the clicks in it, see [`super::on_click`].
pub(crate) fn markdown_node(text: &str, open: bool) -> Node {
    tree(render(text, &References::none(), &Extras::default(), open))
}

/// The same of a whole text, with what is done for it beyond Markdown.
#[cfg(feature = "ssr")]
pub(crate) fn markdown_with(text: &str, extras: Extras) -> Node {
    tree(render(text, &References::none(), &extras, false))
}

fn tree(nodes: Vec<Node>) -> Node {
    element("div").with("class", "cw-markdown").with("dir", "auto").around(nodes)
}

fn block_view(block: Block, references: References, extras: Extras) -> AnyView {
    drawn(move || block.source.with(|source| render(&source.text, &references, &extras, source.open)))
}
