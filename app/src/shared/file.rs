//! The page of a shared version of a file.

use super::{SharedDocument, not_found, rendered};
use crate::agent_chat::artifacts::kind::{Kind, extension};
use crate::markdown::{CitationStyle, MarkdownOptions, markdown_node_with_options, source_block};
use crate::texts::{Text, Texts, fill, t};
use crate::ui::dates::utc_date;
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use crate::ui::node::{Node, element};

/// The most bytes of a text that are in the document.
const MAX_TEXT: usize = 1 << 20;

/// The script that shows a page of an agent in its frame.
const FRAME_SCRIPT: &str = "/assets/lazy/shared-file.js";

/// A shared version of a file.
#[derive(Clone, Debug)]
pub struct SharedFileContent {
    /// The address of the page, below which the content is.
    pub url: String,
    /// The name of the file.
    pub name: String,
    /// The media type that was detected from the content and the name.
    pub media_type: String,
    /// The size in bytes.
    pub size: u64,
    /// The beginning of the text, if [`file_has_text`] says that the page shows it.
    pub text: Option<String>,
    /// The name of the user who has shared it, if it is known.
    pub shared_by: Option<String>,
    /// When it was shared; Unix time in milliseconds.
    pub shared_at: i64,
}

/// Returns of how many bytes the page shows the text; `None` if it does not show it as text.
pub fn file_has_text(name: &str, media_type: &str, size: u64) -> Option<usize> {
    let kind = Kind::of(name, media_type, size);
    (kind.is_text() && !matches!(kind, Kind::Html | Kind::Svg)).then_some(MAX_TEXT)
}

/// Renders the document of a shared version of a file, or a "not found" page if there is none. The texts are those of
/// `texts`, or else English.
pub fn shared_file_page(file: Option<&SharedFileContent>, texts: Option<Texts>) -> String {
    rendered(texts, || file.map_or_else(not_found, file_document))
}

fn file_document(file: &SharedFileContent) -> SharedDocument {
    let kind = Kind::of(&file.name, &file.media_type, file.size);
    let body =
        element("main").attr("class", "cw-shared cw-shared-file").children(vec![head(file), content(file, kind)]);
    SharedDocument {
        title: text_with_code_points(&file.name, TextKind::Value).into_owned(),
        body,
        script: (kind == Kind::Html).then_some(FRAME_SCRIPT),
    }
}

/// The name, who has shared it and when, and the download.
fn head(file: &SharedFileContent) -> Node {
    let mut head = vec![
        element("h1").attr("dir", "auto").children(visible_nodes(&file.name, TextKind::Value)),
        note(&fill(Text::SharedFileNote, &[&utc_date(file.shared_at)])),
    ];
    if let Some(name) = &file.shared_by {
        head.push(note(&fill(Text::SharedFileBy, &[&text_with_code_points(name, TextKind::Value)])));
    }
    let href = content_url(file) + "?download=true";
    let download = element("a").attr("class", "cw-button").attr("href", href).attr("download", file.name.clone());
    let label = fill(Text::ArtifactDownload, &[&text_with_code_points(&file.name, TextKind::Value)]);
    head.push(element("p").children(vec![download.text(label)]));
    element("header").children(head)
}

fn content_url(file: &SharedFileContent) -> String {
    [&file.url, "/content"].concat()
}

fn content(file: &SharedFileContent, kind: Kind) -> Node {
    let text = file.text.as_deref().unwrap_or_default();
    let shown = &text[..text.floor_char_boundary(MAX_TEXT)];
    let content = match kind {
        // The script makes the frame, so that it hears when the frame is ready.
        Kind::Html => {
            return element("div")
                .attr("class", "cw-shared-frame")
                .attr("data-content", content_url(file))
                .attr("data-title", fill(Text::ArtifactFrame, &[&file.name]))
                .attr("data-unsafe", t(Text::ArtifactUnsafe))
                .attr("data-failed", t(Text::ArtifactGone));
        }
        Kind::Svg | Kind::Image => {
            let alt = fill(Text::ArtifactFrame, &[&file.name]);
            element("img").attr("class", "cw-shared-picture").attr("alt", alt).attr("src", content_url(file))
        }
        Kind::Markdown => markdown_node_with_options(shown, markdown_options()),
        Kind::Mermaid | Kind::Table(_) | Kind::Json | Kind::Text => source_block(&extension(&file.name), shown),
        Kind::TooLarge => note(t(Text::ArtifactTooLarge)),
        Kind::Pdf | Kind::Other => note(t(Text::ArtifactNotShown)),
    };
    let rest = (shown.len() < text.len()).then(|| note(t(Text::ArtifactRest)));
    element("div").children(std::iter::once(content).chain(rest).collect())
}

fn note(text: &str) -> Node {
    element("p").attr("class", "cw-shared-note").text(text)
}

/// Highlighted code and formulas as in a conversation, but no diagrams: those are drawn in frames of another kind.
fn markdown_options() -> MarkdownOptions {
    MarkdownOptions { highlighting: true, diagrams: false, math: true, citations: CitationStyle::Hidden }
}
