//! Writes tables as Markdown.

use crate::collector::Collector;
use crate::document::{Part, Place, Syntax};
use crate::encoding::one_line;

/// The maximum number of rows of a part: a citation names the rows.
const ROWS: usize = 100;
/// The maximum number of columns. Those further to the right are left out, with a warning.
pub(crate) const COLUMNS: usize = 500;
/// The number of first rows by which the width and the header are chosen.
const HEAD_ROWS: usize = 20;
/// The number of first rows among which the header is searched: titles and notes may be above it.
const HEADER_WITHIN: usize = 5;

/// Collects the rows of one table into parts.
pub(crate) struct TableWriter<'c, 'l> {
    collector: &'c mut Collector<'l>,
    sheet: Option<String>,
    /// The first rows with their numbers, until the header is chosen.
    head: Vec<(u32, Vec<String>)>,
    /// The header, once it is chosen, and the width of the table.
    header: Option<String>,
    columns: usize,
    /// The number of the first of the rows that wait.
    first: u32,
    rows: Vec<String>,
    /// The length of the rows that wait.
    bytes: usize,
}

impl<'c, 'l> TableWriter<'c, 'l> {
    pub(crate) fn new(collector: &'c mut Collector<'l>, sheet: Option<String>) -> Self {
        Self { collector, sheet, head: Vec::new(), header: None, columns: 0, first: 1, rows: Vec::new(), bytes: 0 }
    }

    /// Adds a row by its number. A blank one is ignored.
    pub(crate) fn push(&mut self, number: u32, mut cells: Vec<String>) {
        cells.truncate(COLUMNS);
        while cells.pop_if(|cell| cell.trim().is_empty()).is_some() {}
        if cells.is_empty() {
            return;
        }
        if self.header.is_some() {
            self.push_row(number, &cells);
            return;
        }
        self.bytes += cells.iter().map(String::len).sum::<usize>();
        self.head.push((number, cells));
        if self.head.len() >= HEAD_ROWS {
            self.choose_header();
        }
    }

    /// Returns whether the document is full.
    pub(crate) fn is_full(&self) -> bool {
        self.collector.is_full() || self.bytes > self.collector.remaining()
    }

    /// Chooses the header from the first rows and adds the others. Without a row of names the
    /// columns are called A, B, and so on.
    fn choose_header(&mut self) {
        let head = std::mem::take(&mut self.head);
        self.bytes = 0;
        self.columns = head.iter().map(|(_, cells)| cells.len()).max().unwrap_or(1);
        let at = head.iter().take(HEADER_WITHIN).position(|(_, cells)| names_columns(cells, self.columns));
        let named = at.and_then(|at| head.get(at));
        let name = |column: usize| {
            let name = named.and_then(|(_, cells)| cells.get(column)).filter(|name| !name.trim().is_empty());
            name.cloned().unwrap_or_else(|| column_name(column))
        };
        let names: Vec<_> = (0..self.columns).map(name).collect();
        let header = format!("{}\n|{}", row(&names, self.columns), " --- |".repeat(self.columns));
        for (number, cells) in &head[..at.unwrap_or(0)] {
            let text = cells.iter().filter(|cell| !cell.trim().is_empty()).map(|cell| one_line(cell));
            let text = text.collect::<Vec<_>>().join(" ");
            self.push_part(*number, *number, text, None);
        }
        if let (Some((number, _)), true) = (named, at == Some(head.len() - 1)) {
            // There are no rows below the header.
            self.push_part(*number, *number, header.clone(), None);
        }
        self.header = Some(header);
        for (number, cells) in &head[at.map_or(0, |at| at + 1)..] {
            self.push_row(*number, cells);
        }
    }

    fn push_row(&mut self, number: u32, cells: &[String]) {
        let follows = usize::try_from(number.wrapping_sub(self.first)).ok() == Some(self.rows.len());
        if !follows || self.rows.len() >= ROWS || self.bytes >= Part::MAX_BYTES / 2 {
            self.flush();
        }
        if self.rows.is_empty() {
            self.first = number;
        }
        // A row that is wider than the table keeps its cells.
        let row = row(cells, self.columns.max(cells.len()));
        self.bytes += row.len();
        self.rows.push(row);
    }

    fn flush(&mut self) {
        if !self.rows.is_empty() {
            let last = self.first.saturating_add(u32::try_from(self.rows.len() - 1).unwrap_or(u32::MAX));
            self.push_part(self.first, last, self.rows.join("\n"), self.header.clone());
            self.rows.clear();
        }
        self.bytes = 0;
    }

    fn push_part(&mut self, first: u32, last: u32, text: String, table_header: Option<String>) {
        let place = Place::Rows { sheet: self.sheet.clone(), first, last };
        let headings = self.sheet.iter().cloned().collect();
        self.collector.push(Part { place, headings, table_header, syntax: Syntax::Markdown, text });
    }

    /// Adds the rows that wait.
    pub(crate) fn finish(mut self) {
        if !self.head.is_empty() {
            self.choose_header();
        }
        self.flush();
    }
}

/// Writes a row of a Markdown table.
fn row(cells: &[String], columns: usize) -> String {
    let mut row = String::from("|");
    for at in 0..columns {
        let cell = cells.get(at).map_or("", String::as_str);
        row.push(' ');
        row.push_str(&one_line(cell).replace('|', "\\|"));
        row.push_str(" |");
    }
    row
}

/// Returns whether a row consists of names of columns: texts, one for more than half of the columns.
fn names_columns(cells: &[String], columns: usize) -> bool {
    let mut names = 0;
    for cell in cells.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()) {
        if !cell.chars().any(char::is_alphabetic) {
            return false;
        }
        names += 1;
    }
    names * 2 > columns
}

/// Returns the name that spreadsheets give the column: A to Z, AA, AB and so on.
fn column_name(at: usize) -> String {
    let mut name = Vec::new();
    let mut rest = at + 1;
    while rest > 0 {
        // A remainder of 26 fits.
        name.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    name.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Limits};

    #[test]
    fn columns_are_named_as_in_spreadsheets() {
        let check = |at: usize, expected: &str| assert_eq!(column_name(at), expected);
        check(0, "A");
        check(25, "Z");
        check(26, "AA");
        check(701, "ZZ");
        check(702, "AAA");
    }

    #[test]
    fn header_is_searched_below_titles() {
        let check = |rows: &[(u32, &[&str])], expected: &str| {
            let limits = Limits::default();
            let mut collector = Collector::new(Format::Csv, &limits);
            let mut table = TableWriter::new(&mut collector, None);
            for (number, cells) in rows {
                table.push(*number, cells.iter().map(|cell| (*cell).to_owned()).collect());
            }
            table.finish();
            let parts = collector.finish("a.csv").parts;
            let parts: Vec<_> = parts.iter().map(|part| format!("{}: {}", part.place, part.display())).collect();
            assert_eq!(parts.join("\n"), expected);
        };
        check(
            &[(1, &["Report 2026"]), (3, &["Name", "Amount"]), (4, &["A", "1"]), (6, &["B", "2", "3"])],
            "row 1: Report 2026\nrow 4: | Name | Amount | C |\n| --- | --- | --- |\n| A | 1 |  |\n\
             row 6: | Name | Amount | C |\n| --- | --- | --- |\n| B | 2 | 3 |",
        );
        check(&[(1, &["1", "2"]), (2, &["3", "4"])], "rows 1–2: | A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |");
        check(&[(1, &["Name", "Amount"]), (2, &[" ", ""])], "row 1: | Name | Amount |\n| --- | --- |");
    }
}
