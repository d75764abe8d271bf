//! The previews and the source of a file.

use super::diff_view::changes_view;
use super::frame::page_frame;
use super::json::indented;
use super::kind::{Kind, extension, name};
use super::table::csv_table;
use super::viewer::{View, Viewer, version_kind};
use crate::agent_chat::message::part::markdown_extras;
use crate::markdown::{CitationStyle, Markdown, MarkdownOptions, on_click, source_block};
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::node::{Node, element, reactive_nodes};
use crate::ui::pdf::{PdfPlace, pdf};
use wire::file::FileVersion;

/// The most bytes of a text that are in the document.
const MAX_SOURCE: usize = 1 << 20;

/// Renders the view that is chosen, below the toolbar.
pub(super) fn content(viewer: Viewer) -> AnyView {
    // Only the kind: a new version of a page must not make a new frame.
    let kind = Memo::new(move |_| viewer.shown.with(|shown| shown.as_ref().map(version_kind)));
    let content = move || {
        let kind = kind.get()?;
        Some(match viewer.view.get() {
            View::Changes if kind.is_text() => changes_view(viewer),
            View::Source if kind.is_text() => source_view(viewer),
            _ => preview(viewer, kind),
        })
    };
    content.into_any()
}

fn preview(viewer: Viewer, kind: Kind) -> AnyView {
    match kind {
        Kind::Html => page_frame(viewer),
        Kind::Svg | Kind::Image => image(viewer),
        Kind::Markdown => markdown(viewer, false),
        Kind::Mermaid => markdown(viewer, true),
        Kind::Table(separator) => csv_table(viewer, separator),
        Kind::Json => json_view(viewer),
        Kind::Text => source_view(viewer),
        Kind::Pdf => pdf_view(viewer),
        Kind::TooLarge => note(Text::ArtifactTooLarge),
        Kind::Other => note(Text::ArtifactNotShown),
    }
}

fn note(text: Text) -> AnyView {
    view! { <p class="cw-artifact-note">{t(text)}</p> }.into_any()
}

/// A picture. A browser runs nothing in an SVG that is an image.
fn image(viewer: Viewer) -> AnyView {
    let image = reactive_nodes(move || {
        let Some(shown) = viewer.shown.get() else { return Vec::new() };
        let alt = fill(Text::ArtifactFrame, &[name(&shown.path)]);
        vec![element("img").attr("class", "cw-artifact-image").attr("alt", alt).attr("src", shown.url)]
    });
    view! { <div class="cw-artifact-picture" tabindex="0" role="region" aria-label=t(Text::ArtifactPreview)>{image}</div> }.into_any()
}

fn pdf_view(viewer: Viewer) -> AnyView {
    let pages = reactive_nodes(move || {
        let file = |shown: FileVersion| pdf(shown.url, PdfPlace::default());
        viewer.shown.get().map(file).into_iter().collect()
    });
    view! { <div class="cw-artifact-text" tabindex="0" role="region" aria-label=t(Text::ArtifactPreview)>{pages}</div> }
        .into_any()
}

fn markdown(viewer: Viewer, is_diagram: bool) -> AnyView {
    let text = Signal::derive(move || {
        viewer.text.with(|text| {
            let text = text.as_ref().map(|(_, text)| &**text).unwrap_or_default();
            let text = cut(text).0;
            if is_diagram { ["````mermaid\n", text, "\n````\n"].concat() } else { text.to_owned() }
        })
    });
    let extras = markdown_extras(CitationStyle::Hidden);
    // A file that is a diagram is drawn also where those in answers are not.
    let extras = MarkdownOptions { diagrams: extras.diagrams || is_diagram, ..extras };
    view! {
        <div class="cw-artifact-text" tabindex="0" role="region" aria-label=t(Text::ArtifactPreview)>
            <Markdown text extras />
            {move || rest_note(viewer)}
        </div>
    }
    .into_any()
}

fn json_view(viewer: Viewer) -> AnyView {
    let shown = move |text: &str| {
        // A file that is cut off is no JSON any more.
        let indented = if text.len() > MAX_SOURCE { None } else { indented(text, MAX_SOURCE) };
        match indented {
            Some((indented, is_cut)) => (source_block("json", &indented), is_cut),
            None => source("json", text),
        }
    };
    code(viewer, shown)
}

fn source_view(viewer: Viewer) -> AnyView {
    let language = move || viewer.shown.with_untracked(|shown| shown.as_ref().map(|shown| extension(&shown.path)));
    code(viewer, move |text| source(&language().unwrap_or_default(), text))
}

/// Returns as much of a text as is shown, and whether something is left out.
fn source(language: &str, text: &str) -> (Node, bool) {
    let (text, is_cut) = cut(text);
    (source_block(language, text), is_cut)
}

/// Shows the rendered text: the code, and a note if a part is left out.
fn code(viewer: Viewer, shown: impl Fn(&str) -> (Node, bool) + Send + 'static) -> AnyView {
    let nodes = move |text: &str| {
        let (block, is_cut) = shown(text);
        let rest = || element("p").attr("class", "cw-artifact-note").text(t(Text::ArtifactRest));
        std::iter::once(block).chain(is_cut.then(rest)).collect()
    };
    let nodes =
        reactive_nodes(move || viewer.text.with(|text| text.as_ref().map(|(_, text)| nodes(text)).unwrap_or_default()));
    view! {
        <div class="cw-artifact-code" on:click=on_click>
            {nodes}
        </div>
    }
    .into_any()
}

/// Says that not all of the text is shown. Tracked.
fn rest_note(viewer: Viewer) -> Option<AnyView> {
    let is_cut = viewer.text.with(|text| text.as_ref().is_some_and(|(_, text)| cut(text).1));
    is_cut.then(|| note(Text::ArtifactRest))
}

/// Returns as much of a text as is shown, and whether something is left out.
fn cut(text: &str) -> (&str, bool) {
    (&text[..text.floor_char_boundary(MAX_SOURCE)], text.len() > MAX_SOURCE)
}
