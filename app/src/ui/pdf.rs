//! Shows PDF files page by page, with pdf.js.

use super::node::{Node, element};
use super::script::load_script;
use crate::texts::{Text, t};

/// The script with the element `cw-pdf`, which is loaded with the first file.
const SCRIPT: &str = "/assets/lazy/pdf.js";

/// The place in a file that is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PdfPlace {
    /// The number of the page that is scrolled to, from 1.
    pub(crate) page: Option<u64>,
    /// The words that are marked on the page.
    pub(crate) quote: Option<String>,
}

/// Returns the view of the PDF file at an address of this server.
pub(crate) fn pdf(src: String, place: PdfPlace) -> Node {
    load_script(SCRIPT);
    let mut view = element("cw-pdf").attr("src", src);
    if let Some(page) = place.page {
        view = view.attr("page", page.to_string());
    }
    if let Some(quote) = place.quote {
        view = view.attr("quote", quote);
    }
    let texts = [
        ("data-page", Text::PdfPage),
        ("data-loading", Text::Loading),
        ("data-failed", Text::PdfFailed),
        ("data-locked", Text::PdfLocked),
        ("data-rest", Text::ArtifactRest),
    ];
    texts.into_iter().fold(view, |view, (name, text)| view.attr(name, t(text)))
}
