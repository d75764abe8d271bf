//! Lists as tables for spreadsheets.

use super::lists::paged;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use store::Place;
use unicode_normalization::UnicodeNormalization;

/// Rows of one, but for the audit log, which has a bound of its own. Programs read the same in pages, without one.
const MAX_ROWS: usize = 10_000;

/// A table that is being written.
pub(super) struct Csv {
    text: String,
    rows: usize,
}

impl Csv {
    pub(super) fn new(columns: &'static str) -> Self {
        Self { text: format!("{columns}\r\n"), rows: 0 }
    }

    /// Adds a page of a list, each line with its place; answers where to go on, until there is no more or [`MAX_ROWS`] are there.
    pub(super) fn add_page<T, C>(&mut self, found: Vec<(T, Place)>, cells: impl Fn(&T) -> C) -> Option<String>
    where
        C: IntoIterator<Item = String>,
    {
        let (lines, next) = paged(found);
        lines.iter().for_each(|line| self.add(cells(line)));
        next.filter(|_| self.rows < MAX_ROWS)
    }

    /// Adds a row of cells.
    pub(super) fn add(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows += 1;
        for (i, cell) in cells.into_iter().enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            self.text.push_str(&cell);
        }
        self.text.push_str("\r\n");
    }

    /// The file, under this name.
    pub(super) fn file(self, name: &str) -> Response {
        let headers = [
            (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
            (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ];
        (headers, self.text).into_response()
    }
}

/// A text as a cell that no spreadsheet takes for a formula: what begins like one gets an apostrophe before it.
pub(super) fn cell(text: &str) -> String {
    let guard = if is_formula(text) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

/// Whether a spreadsheet may take a text for a formula. Spreadsheets look behind white space and quotes, and some read
/// full-width and other forms of the signs (`＝`, `﹢`, `⁻`) as the signs.
fn is_formula(text: &str) -> bool {
    if text.starts_with(['\t', '\r', '\n']) {
        return true;
    }
    let is_skipped = |sign: char| sign.is_whitespace() || sign.is_control() || "\"'\u{200b}\u{feff}".contains(sign);
    let first = text.trim_start_matches(is_skipped).chars().next();
    let plain = first.and_then(|first| first.nfkc().next());
    plain.is_some_and(|sign| "=+-@\u{2212}".contains(sign))
}

/// A time as a cell; Unix time, milliseconds.
pub(super) fn time(at: i64) -> String {
    cell(&jiff::Timestamp::from_millisecond(at).map_or_else(|_| at.to_string(), |at| at.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        let check = |text: &str, expected: &str| assert_eq!(cell(text), expected, "{text:?}");
        check("search", "\"search\"");
        check("a \"b\", c\r\nd", "\"a \"\"b\"\", c\r\nd\"");
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1"] {
            check(formula, &format!("\"'{formula}\""));
        }
        for formula in
            ["＝1+1", "＋1", "－1", "＠SUM(A1)", "﹢1", "⁻1", "−1", "\u{3000}＝1", "\u{feff}=1", "\ttext", "'=1"]
        {
            check(formula, &format!("\"'{formula}\""));
        }
        check("\"=1\"", "\"'\"\"=1\"\"\"");
        check("'tis so", "\"'tis so\"");
        check("東京＝Tokyo", "\"東京＝Tokyo\"");
        assert_eq!(time(0), "\"1970-01-01T00:00:00Z\"");
        let mut csv = Csv::new("a,b");
        csv.add([cell("x"), 7.to_string()]);
        assert_eq!(csv.text, "a,b\r\n\"x\",7\r\n");
    }
}
