//! Renders Markdown as views, also while it is being written: CommonMark with GFM tables,
//! strikethrough, task lists, footnotes and formulas.
//!
//! A text is split into its top-level blocks ([`markdown_stream::split`]). A block that is followed
//! by another one is closed: its source never changes again, and its view is never updated again.
//! Only the last block is parsed again when text arrives, and only its changed nodes are updated
//! ([`crate::ui::node`]). [`markdown_stream::tail`] prevents incomplete markup from flashing up.
//!
//! A model's text never becomes HTML: raw HTML is shown as text, links have an allow-listed scheme,
//! and images of other hosts become links to them, so that a reply cannot make the browser send
//! anything anywhere.

mod citation;
mod click;
mod code;
mod document;
mod footnote;
#[cfg(test)]
mod hostile;
mod math;
mod mathml;
mod options;
mod passage;
mod render;
pub mod view;

pub use citation::CitationStyle;
pub(crate) use citation::{citation_mark, footnoted, strip_citations};
pub(crate) use click::on_click;
pub(crate) use code::source_block;
pub use document::Document;

#[cfg(not(feature = "ssr"))]
pub(crate) use math::MATH;
pub use options::MarkdownOptions;
pub(crate) use passage::plain_passage;
pub(crate) use view::markdown_node;
#[cfg(feature = "ssr")]
pub(crate) use view::markdown_node_with_options;
pub use view::{DocumentView, Markdown};

use crate::chunks::{Chunk, ChunkError, ChunkFuture, ChunkTable};
use crate::prelude::*;
use wasm_split_helpers::wasm_split;

/// The chunk for the `Markdown` blocks of a config.
pub(crate) static MARKDOWN: Chunk<MarkdownFunctions> = Chunk::new("markdown");

/// The functions of the chunk.
pub(crate) struct MarkdownFunctions {
    /// Renders a text that may change.
    pub(crate) view: fn(Signal<String>) -> AnyView,
}

impl ChunkTable for MarkdownFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { MARKDOWN.set_functions(functions().await?) })
    }
}

#[wasm_split(markdown, fallible)]
fn functions() -> Result<MarkdownFunctions, ChunkError> {
    Ok(MarkdownFunctions { view: |text| view! { <Markdown text /> }.into_any() })
}
