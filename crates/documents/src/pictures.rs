//! Pages that are pictures, as scanners make them, and their text once a model has read it.

use crate::collector::Collector;
use crate::document::{Document, Part, Place, Warning, WarningCode};
use crate::encoding::normalize;
use crate::sections::{HeadingPath, Numbering, push_sections_below};
use crate::{Format, Limits};

/// The maximum number of pages that a warning lists.
const LISTED_PAGES: usize = 20;

impl Document {
    /// Builds the document of a file with pages that are pictures. `found` is what the file has besides
    /// them, `pictures` are the numbers of these pages, and `read` is the text that a model has read from
    /// some of them, in Markdown, blank where it has found none; both are in ascending order. Warnings name
    /// the pages whose text a model has read, and those without text.
    pub fn with_read_pages(
        found: Option<Self>,
        file_name: &str,
        pictures: &[u32],
        read: &[(u32, String)],
        limits: &Limits,
    ) -> Self {
        let found = found.unwrap_or_else(|| Self {
            format: Format::Markdown,
            title: String::new(),
            parts: Vec::new(),
            warnings: Vec::new(),
            picture_pages: Vec::new(),
        });
        let mut collector = Collector::new(found.format, limits);
        collector.set_title(&found.title);
        push_in_order(&mut collector, found.parts, read);
        let with_text = read.iter().filter(|(_, text)| !text.trim().is_empty());
        let read: Vec<_> = with_text.map(|(page, _)| *page).collect();
        if !read.is_empty() {
            let pages = listed(&read);
            collector.warn(
                WarningCode::ReadByModel,
                format!("The text of these pages was read by a model from pictures and may have mistakes: {pages}."),
            );
        }
        let without_text: Vec<_> = pictures.iter().copied().filter(|page| !read.contains(page)).collect();
        warn_of_pages_without_text(&mut collector, &without_text);
        for Warning { code, message } in found.warnings {
            let is_known = collector.is_full() && code == WarningCode::Truncated;
            if !is_known && code != WarningCode::PagesWithoutText {
                collector.warn(code, message);
            }
        }
        collector.finish(file_name)
    }
}

/// Adds the parts of a file and the pages that were read, in the order of the pages.
fn push_in_order(collector: &mut Collector<'_>, parts: Vec<Part>, read: &[(u32, String)]) {
    let mut parts = parts.into_iter().peekable();
    let mut headings = HeadingPath::default();
    for (page, text) in read {
        while let Some(part) = parts.next_if(|part| page_of(part) < *page) {
            collector.push(part);
            // The headings of other pages are not known here.
            headings = HeadingPath::default();
        }
        let text = normalize(&text[..text.floor_char_boundary(Part::MAX_BYTES)]);
        let place = Place::Page { page: *page };
        push_sections_below(collector, &text, &Numbering::Within(&place), &mut headings);
    }
    parts.for_each(|part| collector.push(part));
}

fn page_of(part: &Part) -> u32 {
    match part.place {
        Place::Page { page } => page,
        _ => 0,
    }
}

/// Warns of pages that show something else than text, if there are any.
pub(crate) fn warn_of_pages_without_text(collector: &mut Collector<'_>, pages: &[u32]) {
    if !pages.is_empty() {
        let pages = listed(pages);
        collector.warn(
            WarningCode::PagesWithoutText,
            format!("Pages without text, which are pictures or cannot be decoded: {pages}."),
        );
    }
}

/// Returns the numbers of pages as a list, at most [`LISTED_PAGES`] of them.
pub(crate) fn listed(pages: &[u32]) -> String {
    let mut list: Vec<_> = pages.iter().take(LISTED_PAGES).map(u32::to_string).collect();
    if pages.len() > LISTED_PAGES {
        list.push(format!("and {} others", pages.len() - LISTED_PAGES));
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Syntax;

    fn part(page: u32, text: &str) -> Part {
        let (place, text) = (Place::Page { page }, text.to_owned());
        Part { place, headings: Vec::new(), table_header: None, syntax: Syntax::Markdown, text }
    }

    fn document(parts: Vec<Part>, warnings: &[WarningCode]) -> Document {
        let warning = |code: &WarningCode| Warning { code: *code, message: "Said before.".to_owned() };
        let (title, warnings) = ("Report".to_owned(), warnings.iter().map(warning).collect());
        Document { format: Format::Pdf, title, parts, warnings, picture_pages: vec![2, 4] }
    }

    #[test]
    fn read_pages_stand_at_their_place() {
        let read = |pages: &[(u32, &str)]| -> Vec<(u32, String)> {
            pages.iter().map(|(page, text)| (*page, (*text).to_owned())).collect()
        };
        let check = |found: Option<Document>, pages: &[(u32, &str)], expected: &str| {
            let limits = Limits { output_bytes: 60, ..Limits::default() };
            let document = Document::with_read_pages(found, "a/scan.pdf", &[2, 4], &read(pages), &limits);
            let parts =
                document.parts.iter().map(|part| format!("{} {}: {}", part.place, part.headings.join(">"), part.text));
            let warnings = document.warnings.iter().map(|warning| format!("{:?}: {}", warning.code, warning.message));
            let lines: Vec<_> = std::iter::once(document.title.clone()).chain(parts).chain(warnings).collect();
            assert_eq!(lines.join("\n"), expected);
        };
        let found = || document(vec![part(1, "One"), part(3, "Three")], &[WarningCode::PagesWithoutText]);
        check(
            Some(found()),
            &[(2, "# Two\u{7}\r\nText"), (4, "Four")],
            "Report\npage 1 : One\npage 2 Two: # Two\nText\npage 3 : Three\npage 4 : Four\n\
             ReadByModel: The text of these pages was read by a model from pictures and may have mistakes: 2, 4.",
        );
        // Pages without text, and those that were not read, are named.
        check(
            Some(document(vec![part(5, "Five")], &[WarningCode::Skipped])),
            &[(2, "")],
            "Report\npage 5 : Five\n\
             PagesWithoutText: Pages without text, which are pictures or cannot be decoded: 2, 4.\n\
             Skipped: Said before.",
        );
        check(
            None,
            &[(2, "Two"), (4, "Four")],
            "scan\npage 2 : Two\npage 4 : Four\n\
             ReadByModel: The text of these pages was read by a model from pictures and may have mistakes: 2, 4.",
        );
        let long = "x".repeat(70);
        check(
            None,
            &[(2, long.as_str()), (4, "Four")],
            &format!(
                "scan\npage 2 : {}\n\
                 Truncated: The end of the document was left out: at most 1 MB of text in {} parts are read.\n\
                 ReadByModel: The text of these pages was read by a model from pictures and may have mistakes: 2, 4.",
                "x".repeat(60),
                Limits::default().parts
            ),
        );
    }
}
