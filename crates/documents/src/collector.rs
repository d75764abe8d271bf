//! Collects the parts of a document within the limits.

use crate::document::{Document, Part, Place, Syntax, Warning, WarningCode, count_line_breaks};
use crate::{Format, Limits};
use std::ops::Range;

/// The maximum number of warnings of a document.
const MAX_WARNINGS: usize = 20;

/// A document that grows up to its limits.
pub(crate) struct Collector<'l> {
    limits: &'l Limits,
    bytes: usize,
    is_full: bool,
    document: Document,
}

impl<'l> Collector<'l> {
    pub(crate) fn new(format: Format, limits: &'l Limits) -> Self {
        let document = Document {
            format,
            title: String::new(),
            parts: Vec::new(),
            warnings: Vec::new(),
            picture_pages: Vec::new(),
        };
        Self { limits, bytes: 0, is_full: false, document }
    }

    /// Returns whether a limit was reached. A parser that sees it stops.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the number of bytes of text that are left.
    pub(crate) fn remaining(&self) -> usize {
        self.limits.output_bytes.saturating_sub(self.bytes)
    }

    /// Returns whether no part was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.document.parts.is_empty()
    }

    /// Sets the title, unless it is blank, a placeholder, or already known.
    pub(crate) fn set_title(&mut self, title: &str) {
        if self.document.title.is_empty() {
            self.document.title = given_title(title);
        }
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, code: WarningCode, message: impl Into<String>) {
        if self.document.warnings.len() < MAX_WARNINGS {
            self.document.warnings.push(Warning { code, message: message.into() });
        }
    }

    /// Sets which pages show something else than text.
    #[cfg(feature = "pdf")]
    pub(crate) fn set_picture_pages(&mut self, pages: Vec<u32>) {
        self.document.picture_pages = pages;
    }

    /// Warns if bytes were replaced that are invalid in the encoding.
    pub(crate) fn warn_of_encoding(&mut self, is_lossy: bool) {
        if is_lossy {
            self.warn(WarningCode::Encoding, "Some characters could not be decoded and were replaced.");
        }
    }

    /// Adds a part. A blank one is ignored; a long one becomes several parts; what is over the
    /// limits is left out.
    pub(crate) fn push(&mut self, part: Part) {
        if self.is_full {
            return;
        }
        let mut line_breaks = 0;
        for range in cut(&part.text, Part::MAX_BYTES) {
            let text = &part.text[range];
            let first = line_breaks;
            line_breaks += count_line_breaks(text);
            if text.trim().is_empty() {
                continue;
            }
            if self.document.parts.len() >= self.limits.parts || self.remaining() == 0 {
                self.stop();
                return;
            }
            let fitting = text.floor_char_boundary(self.remaining());
            let shown = text[..fitting].trim_end_matches('\n');
            if shown.is_empty() {
                self.stop();
                return;
            }
            self.bytes += shown.len();
            self.document.parts.push(Part {
                place: part.place.narrow(first, first + count_line_breaks(shown)),
                headings: part.headings.clone(),
                table_header: part.table_header.clone(),
                syntax: part.syntax,
                text: shown.to_owned(),
            });
            if fitting < text.len() {
                self.stop();
                return;
            }
        }
    }

    /// Adds a part of plain text without headings.
    pub(crate) fn push_plain(&mut self, place: Place, text: String) {
        self.push(Part { place, headings: Vec::new(), table_header: None, syntax: Syntax::Plain, text });
    }

    /// Marks the document as full, with a warning.
    pub(crate) fn stop(&mut self) {
        if !self.is_full {
            self.is_full = true;
            let message = format!(
                "The end of the document was left out: at most {} MB of text in {} parts are read.",
                self.limits.output_bytes.div_ceil(1 << 20),
                self.limits.parts
            );
            // Before all others, whose number is limited.
            self.document.warnings.insert(0, Warning { code: WarningCode::Truncated, message });
        }
    }

    /// Returns the document. Without a title of its own it gets the name of the file.
    pub(crate) fn finish(mut self, file_name: &str) -> Document {
        if self.document.title.is_empty() {
            let stem = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
            let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| if stem.is_empty() { file_name } else { stem });
            self.document.title = clean_title(stem);
        }
        self.document
    }
}

/// The maximum number of characters of a title or a heading.
const MAX_TITLE: usize = 300;

/// Titles that programs write into files for which no title was given, in lower case.
const PLACEHOLDERS: &[&str] =
    &["(anonymous)", "(unspecified)", "(untitled)", "untitled", "untitled document", "powerpoint presentation"];
/// Beginnings that printer drivers put before the name of the file.
const PRINTED_BY: &[&str] = &["Microsoft Word - ", "Microsoft PowerPoint - ", "Microsoft Excel - "];

/// Returns a title of the properties of a file; it is empty if programs write the same into files without a title.
fn given_title(title: &str) -> String {
    let title = clean_title(title);
    if PLACEHOLDERS.contains(&title.to_lowercase().as_str()) {
        return String::new();
    }
    let name = PRINTED_BY.iter().find_map(|printed| title.strip_prefix(printed)).map(str::to_owned);
    name.unwrap_or(title)
}

/// Returns a title on one line, at most [`MAX_TITLE`] long.
pub(crate) fn clean_title(title: &str) -> String {
    crate::encoding::one_line(title).chars().take(MAX_TITLE).collect()
}

/// Cuts text into ranges of at most `most` bytes: at the last blank line, line break or space that
/// fits, but not in the first half, so that the number of ranges is bounded.
fn cut(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(1);
    let mut start = 0;
    while text.len() - start > most {
        let rest = &text[start..text.floor_char_boundary(start + most)];
        let after = |mark: &str| rest.rfind(mark).map(|at| at + mark.len()).filter(|at| *at > most / 2);
        let length = after("\n\n").or_else(|| after("\n")).or_else(|| after(" ")).unwrap_or(rest.len());
        ranges.push(start..start + length);
        start += length;
    }
    ranges.push(start..text.len());
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(output_bytes: usize, parts: usize) -> Limits {
        Limits { output_bytes, parts, ..Limits::default() }
    }

    #[test]
    fn long_text_becomes_several_parts_with_their_lines() {
        let limits = Limits::default();
        let mut collector = Collector::new(Format::Text, &limits);
        let line = "x".repeat(1_023) + "\n";
        collector.push_plain(Place::Lines { first: 1, last: 100 }, line.repeat(100));
        let document = collector.finish("a/notes.final.txt");
        let places: Vec<_> = document.parts.iter().map(|part| part.place.to_string()).collect();
        assert_eq!(places, ["lines 1–64", "lines 65–100"]);
        assert_eq!((document.title.as_str(), document.warnings.len()), ("notes.final", 0));
    }

    #[test]
    fn text_over_the_limits_is_left_out_with_a_warning() {
        let check = |limits: Limits, expected: &[&str]| {
            let mut collector = Collector::new(Format::Text, &limits);
            for page in 1..=3 {
                collector.push_plain(Place::Page { page }, "äöü".to_owned());
            }
            let document = collector.finish("a.txt");
            let texts: Vec<_> = document.parts.iter().map(|part| part.text.as_str()).collect();
            assert_eq!(texts, expected);
            let codes: Vec<_> = document.warnings.iter().map(|warning| warning.code).collect();
            assert_eq!(codes, [WarningCode::Truncated]);
        };
        check(limits(9, 10), &["äöü", "ä"]);
        check(limits(12, 10), &["äöü", "äöü"]);
        check(limits(100, 1), &["äöü"]);
    }

    #[test]
    fn placeholders_are_no_titles() {
        let check = |title: &str, expected: &str| {
            let limits = Limits::default();
            let mut collector = Collector::new(Format::Text, &limits);
            collector.set_title(title);
            assert_eq!(collector.finish("report.pdf").title, expected);
        };
        check("Refunds", "Refunds");
        check(" ", "report");
        check("(anonymous)", "report");
        check("Untitled", "report");
        check("PowerPoint Presentation", "report");
        check("Microsoft Word - Refunds.doc", "Refunds.doc");
    }

    #[test]
    fn text_without_breaks_is_cut_between_characters() {
        let text = "ä".repeat(50);
        let ranges = cut(&text, 15);
        assert_eq!(ranges.iter().map(|range| text[range.clone()].len()).sum::<usize>(), 100);
        assert!(ranges.iter().all(|range| range.len() <= 15));
        assert_eq!(cut("", 15).len(), 1);
    }
}
