//! The text of a file with its structure.

use crate::Format;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// The text of a file with its structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The format that the file was read as.
    pub format: Format,
    /// The title that the file states, or its name without the extension.
    pub title: String,
    /// The parts in reading order. None of them is blank.
    pub parts: Vec<Part>,
    /// Notes for readers of the text, for example that the end of it is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The numbers of the pages that show something but have no text, in ascending order; see
    /// [`Document::with_read_pages`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub picture_pages: Vec<u32>,
}

/// A part of a document with a place of its own, such as a page, a slide or a section. At most
/// [`Part::MAX_BYTES`] long: more text of the same place is in several parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Where the part is in the file.
    pub place: Place,
    /// The headings above the part, the outermost first; its own heading is the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// For rows of a table: its first lines in Markdown, the names of the columns and the line of
    /// dashes, without a line break at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_header: Option<String>,
    /// How the text is written.
    pub syntax: Syntax,
    /// The text, with `\n` as line breaks and without control characters other than tabs.
    pub text: String,
}

/// How the text of a part is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Syntax {
    /// Markdown with the tables of GitHub.
    Markdown,
    /// Text without markup, source code and data.
    Plain,
}

/// Where text is in a file. All numbers count from 1 and ranges include their last number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Place {
    /// A page of a PDF file.
    Page {
        /// Its position in the file, whatever number is printed on it.
        page: u32,
    },
    /// A slide of a presentation.
    Slide {
        /// Its position among the slides.
        slide: u32,
    },
    /// Rows of a spreadsheet or of a CSV file.
    Rows {
        /// The name of the sheet; none in a CSV file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sheet: Option<String>,
        /// The first row.
        first: u32,
        /// The last row.
        last: u32,
    },
    /// Lines of a text file.
    Lines {
        /// The first line.
        first: u32,
        /// The last line.
        last: u32,
    },
    /// A chapter of an electronic book.
    Chapter {
        /// Its position in the order of reading.
        chapter: u32,
    },
    /// A section of a document without pages, which begins with a heading or at the start of the
    /// document.
    Section {
        /// Its position in the document.
        section: u32,
    },
}

/// Something that a reader of the text should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// The subject of the warning.
    pub code: WarningCode,
    /// The warning for the user, a whole sentence.
    pub message: String,
}

/// The subject of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WarningCode {
    /// The text is longer than the limit; its end was left out.
    Truncated,
    /// Some pages have no text but are not empty, as in scanned documents. A model that sees images
    /// can read them.
    PagesWithoutText,
    /// The text of some pages was read by a model from pictures of them, so it may have mistakes.
    ReadByModel,
    /// Something that could not be read was left out, such as a damaged page or an attachment.
    Skipped,
    /// Bytes that are not text in the file's encoding were replaced.
    Encoding,
}

impl Document {
    /// Returns the text, with the place of a part above it where it is another than that of the part
    /// before. Sections have headings and need no place. Warnings are at the end.
    pub fn to_text(&self) -> String {
        let (mut text, mut last) = (String::new(), None);
        for part in &self.parts {
            if last != Some(&part.place) && !matches!(part.place, Place::Section { .. }) {
                text.push_str(&format!("[{}]\n", part.place));
            }
            last = Some(&part.place);
            text.push_str(&part.display());
            text.push_str("\n\n");
        }
        for warning in &self.warnings {
            text.push_str(&format!("({})\n", warning.message));
        }
        text.truncate(text.trim_end().len());
        text
    }
}

impl Part {
    /// The maximum length of the text in bytes.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Returns the text as a reader sees it: with the header of its table, if it has one.
    pub fn display(&self) -> String {
        match &self.table_header {
            Some(header) => format!("{header}\n{}", self.text),
            None => self.text.clone(),
        }
    }

    /// Returns the place of a range of bytes of the text, which is narrower than the part's if the
    /// part consists of lines or rows.
    pub fn place_of(&self, range: &Range<usize>) -> Place {
        let count = |end: usize| count_line_breaks(self.text.get(..end).unwrap_or(&self.text));
        self.place.narrow(count(range.start), count(range.end))
    }
}

/// Counts the line breaks of a text.
pub(crate) fn count_line_breaks(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

impl Place {
    /// Returns the place of some of the lines or rows, given by their distances from the first one.
    pub(crate) fn narrow(&self, from: u32, to: u32) -> Self {
        let at = |first: u32, last: u32, distance: u32| first.saturating_add(distance).min(last);
        match self {
            Self::Lines { first, last } => Self::Lines { first: at(*first, *last, from), last: at(*first, *last, to) },
            Self::Rows { sheet, first, last } => {
                Self::Rows { sheet: sheet.clone(), first: at(*first, *last, from), last: at(*first, *last, to) }
            }
            place => place.clone(),
        }
    }

    /// Returns whether the place begins in another one, such as some lines of a section.
    pub fn begins_in(&self, whole: &Self) -> bool {
        let spans = |first: u32, last: u32, begin: u32| (first..=last).contains(&begin);
        match (self, whole) {
            (Self::Lines { first: begin, .. }, Self::Lines { first, last }) => spans(*first, *last, *begin),
            (Self::Rows { sheet, first: begin, .. }, Self::Rows { sheet: whole, first, last }) => {
                sheet == whole && spans(*first, *last, *begin)
            }
            (place, whole) => place == whole,
        }
    }

    /// Returns whether both are on the same page or slide, or have none.
    pub(crate) fn is_same_page(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Page { .. } | Self::Slide { .. }, _) | (_, Self::Page { .. } | Self::Slide { .. }) => self == other,
            _ => true,
        }
    }

    /// Returns the place that spans this one and a later one, or `None` if they are not of one kind.
    pub fn to(&self, end: &Self) -> Option<Self> {
        match (self, end) {
            (Self::Lines { first, .. }, Self::Lines { last, .. }) => Some(Self::Lines { first: *first, last: *last }),
            (Self::Rows { sheet, first, .. }, Self::Rows { sheet: other, last, .. }) if sheet == other => {
                Some(Self::Rows { sheet: sheet.clone(), first: *first, last: *last })
            }
            (one, other) => (one == other).then(|| one.clone()),
        }
    }
}

impl Display for Place {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page { page } => write!(formatter, "page {page}"),
            Self::Slide { slide } => write!(formatter, "slide {slide}"),
            Self::Chapter { chapter } => write!(formatter, "chapter {chapter}"),
            Self::Section { section } => write!(formatter, "section {section}"),
            Self::Lines { first, last } => write_range(formatter, "line", *first, *last),
            Self::Rows { sheet, first, last } => {
                if let Some(sheet) = sheet {
                    write!(formatter, "sheet {sheet}, ")?;
                }
                write_range(formatter, "row", *first, *last)
            }
        }
    }
}

fn write_range(formatter: &mut Formatter<'_>, unit: &str, first: u32, last: u32) -> fmt::Result {
    if first == last { write!(formatter, "{unit} {first}") } else { write!(formatter, "{unit}s {first}–{last}") }
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Source, read};

    #[test]
    fn places_are_named_above_the_text() {
        let check = |name: &str, text: &str, expected: &str| {
            let source = Source { name, media_type: None, bytes: text.as_bytes() };
            assert_eq!(read(&source, &Limits::default()).unwrap().to_text(), expected);
        };
        check("a.csv", "Name,Amount\nA,1", "[row 2]\n| Name | Amount |\n| --- | --- |\n| A | 1 |");
        check("a.html", "<h1>A</h1>B<h2>C</h2>", "# A\n\nB\n\n## C");
    }
}
