//! The components that show Markdown.

use super::click::on_click;
use super::document::{BlockGroup, Document, MarkdownBlock, References};
use super::options::MarkdownOptions;
use super::render::render;
use crate::prelude::*;
use crate::ui::node::{Node, element, reactive_nodes};

/// A Markdown text.
#[component]
pub fn Markdown(
    /// The text; it may change.
    #[prop(into)]
    text: Signal<String>,
    /// The options beyond plain Markdown.
    #[prop(optional)]
    extras: MarkdownOptions,
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
    view! { <DocumentView document extras /> }.into_any()
}

/// A document, also while it grows.
#[component]
pub fn DocumentView(
    /// The document.
    document: Document,
    /// The options beyond plain Markdown.
    #[prop(optional)]
    extras: MarkdownOptions,
) -> AnyView {
    let Document { groups, references, .. } = document;
    let group = move |group: BlockGroup| group_view(group, references.clone(), extras.clone());
    view! {
        <div class="cw-markdown" dir="auto" on:click=on_click>
            <For each=move || groups.get() key=|group| group.first children=group />
        </div>
    }
    .into_any()
}

/// A growing last group does not affect the others: the style sheet declares that to the browser.
fn group_view(group: BlockGroup, references: References, extras: MarkdownOptions) -> AnyView {
    let block = move |block: MarkdownBlock| block_view(block, references.clone(), extras.clone());
    view! {
        <div class="cw-md-group">
            <For each=move || group.blocks.get() key=|block| block.number children=block />
        </div>
    }
    .into_any()
}

/// Renders a text as a node; `open` means that more text may follow. The cost is proportional to
/// the length of the text. The container has to handle clicks with [`super::on_click`].
pub(crate) fn markdown_node(text: &str, open: bool) -> Node {
    container(render(text, &References::none(), &MarkdownOptions::default(), open))
}

/// Renders a whole text as a node, with options beyond plain Markdown.
#[cfg(feature = "ssr")]
pub(crate) fn markdown_node_with_options(text: &str, extras: MarkdownOptions) -> Node {
    container(render(text, &References::none(), &extras, false))
}

fn container(nodes: Vec<Node>) -> Node {
    element("div").attr("class", "cw-markdown").attr("dir", "auto").children(nodes)
}

fn block_view(block: MarkdownBlock, references: References, extras: MarkdownOptions) -> AnyView {
    reactive_nodes(move || block.source.with(|source| render(&source.text, &references, &extras, source.open)))
}
