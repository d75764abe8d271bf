//! The options of rendering.

use super::citation::CitationStyle;

/// The options of rendering beyond plain Markdown.
#[derive(Clone)]
pub struct MarkdownOptions {
    /// Highlight code blocks.
    pub highlighting: bool,
    /// Draw code blocks in the language `mermaid`.
    pub diagrams: bool,
    /// Draw TeX formulas.
    pub math: bool,
    /// How the [marks](super::citation_mark) of sources are rendered.
    pub citations: CitationStyle,
}

impl Default for MarkdownOptions {
    fn default() -> Self {
        Self { highlighting: true, diagrams: true, math: false, citations: CitationStyle::Hidden }
    }
}
