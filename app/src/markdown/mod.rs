//! Markdown (CommonMark with GFM tables, strikethrough, task lists and footnotes, and formulas) as a view, while it is being written too.
//!
//! A text is cut into its top-level blocks ([`split`]). A block that is followed by another one is closed: its source never
//! changes again, so its view is never touched again. Only the last block is parsed anew when text arrives, and
//! only its nodes that differ are changed ([`crate::node`]). [`tail`] keeps half-written markup from flashing up.
//!
//! Nothing that a model writes reaches the page as HTML: raw HTML is text, links have an allow-listed scheme, and images of
//! other hosts are links to them, so that a reply cannot make the browser send anything anywhere.

mod citation;
mod click;
mod code;
mod code_spans;
mod document;
mod footnote;
#[cfg(test)]
mod hostile;
mod link;
mod mask;
mod math;
mod mathml;
mod passage;
mod render;
mod split;
mod tail;
pub mod view;

pub use citation::Marks;
pub(crate) use citation::{mark, without_marks};
pub(crate) use click::on_click;
pub use document::Document;
pub(crate) use link::{allowed, host, is_embedded_image};
#[cfg(not(feature = "ssr"))]
pub(crate) use math::MATH;
pub(crate) use mathml::ELEMENTS as MATHML_ELEMENTS;
pub(crate) use passage::plain_passage;
pub(crate) use view::markdown_node;
#[cfg(feature = "ssr")]
pub(crate) use view::markdown_with;
pub use view::{DocumentView, Markdown};

use crate::chunks::{Chunk, Loading, Missing};
use crate::prelude::*;
use wasm_split_helpers::wasm_split;

/// What is done for a text beyond Markdown.
#[derive(Clone)]
pub struct Extras {
    /// Code blocks are coloured.
    pub colours: bool,
    /// Code blocks in the language `mermaid` are drawn.
    pub diagrams: bool,
    /// Formulas in TeX are drawn.
    pub math: bool,
    /// What becomes of the [marks](mark) of sources.
    pub sources: Marks,
}

impl Default for Extras {
    fn default() -> Self {
        Self { colours: true, diagrams: true, math: false, sources: Marks::Hidden }
    }
}

/// The block of a config.
pub(crate) static MARKDOWN: Chunk<Functions> = Chunk::new("markdown", load);

/// What the chunk can do.
pub(crate) struct Functions {
    /// Shows a text that may change.
    pub(crate) view: fn(Signal<String>) -> AnyView,
}

fn load() -> Loading {
    Box::pin(async { MARKDOWN.fill(functions().await?) })
}

#[wasm_split(markdown, fallible)]
fn functions() -> Result<Functions, Missing> {
    Ok(Functions { view: |text| view! { <Markdown text /> }.into_any() })
}
