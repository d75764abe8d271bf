//! CSV exports of lists.

use crate::download::download;
use axum::response::Response;
use unicode_normalization::UnicodeNormalization;

/// A CSV file that is being written.
pub(super) struct Csv {
    text: String,
    rows: usize,
}

impl Csv {
    /// Begins a file with the names of its columns.
    pub(super) fn new(columns: impl IntoIterator<Item = &'static str>) -> Self {
        let columns: Vec<_> = columns.into_iter().collect();
        Self { text: format!("{}\r\n", columns.join(",")), rows: 0 }
    }

    /// Returns the number of rows, without that of the names.
    pub(super) fn rows(&self) -> usize {
        self.rows
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

    /// Returns the file as a download with this name.
    pub(super) fn into_file(self, name: &str) -> Response {
        download("text/csv; charset=utf-8", name, self.text)
    }
}

/// Formats a text as a cell. Texts that spreadsheets would run as a formula get an apostrophe
/// before them.
pub(super) fn cell(text: &str) -> String {
    let guard = if is_formula(text) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

/// Returns whether a spreadsheet may interpret a text as a formula. Spreadsheets skip white space
/// and quotes, and some treat full-width and other forms of the signs (`＝`, `﹢`, `⁻`) like the
/// signs.
fn is_formula(text: &str) -> bool {
    if text.starts_with(['\t', '\r', '\n']) {
        return true;
    }
    let is_skipped = |sign: char| sign.is_whitespace() || sign.is_control() || "\"'\u{200b}\u{feff}".contains(sign);
    let first = text.trim_start_matches(is_skipped).chars().next();
    let plain = first.and_then(|first| first.nfkc().next());
    plain.is_some_and(|sign| "=+-@\u{2212}".contains(sign))
}

/// Formats a time as a cell; Unix time in milliseconds.
pub(super) fn time_cell(at: i64) -> String {
    cell(&jiff::Timestamp::from_millisecond(at).map_or_else(|_| at.to_string(), |at| at.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_and_formulas_are_guarded() {
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
        assert_eq!(time_cell(0), "\"1970-01-01T00:00:00Z\"");
        let mut csv = Csv::new(["a", "b"]);
        csv.add([cell("x"), 7.to_string()]);
        assert_eq!(csv.text, "a,b\r\n\"x\",7\r\n");
    }
}
