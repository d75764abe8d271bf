//! Writes tables as Markdown.

use crate::collector::Collector;
use crate::document::{Part, Place, Syntax};
use crate::encoding::one_line;

/// The maximum number of rows of a part: a citation names the rows.
const ROWS: usize = 100;
/// The maximum number of columns. What is further to the right is left out, with a warning.
pub(crate) const COLUMNS: usize = 500;

/// Collects the rows of one table into parts.
pub(crate) struct TableWriter<'c, 'l> {
    collector: &'c mut Collector<'l>,
    sheet: Option<String>,
    headings: Vec<String>,
    header: Option<String>,
    /// The row of the header, if it is one of the table.
    header_row: Option<u32>,
    /// The number of the first of the rows that wait.
    first: u32,
    rows: Vec<String>,
    /// The length of the rows that wait.
    bytes: usize,
    /// Whether the table has rows other than the header.
    has_rows: bool,
}

impl<'c, 'l> TableWriter<'c, 'l> {
    pub(crate) fn new(collector: &'c mut Collector<'l>, sheet: Option<String>) -> Self {
        let headings = sheet.iter().cloned().collect();
        Self {
            collector,
            sheet,
            headings,
            header: None,
            header_row: None,
            first: 1,
            rows: Vec::new(),
            bytes: 0,
            has_rows: false,
        }
    }

    /// Adds a row by its number. The first row names the columns, if it has a text in each column;
    /// otherwise they are called A, B, and so on.
    pub(crate) fn push(&mut self, number: u32, cells: &[String], columns: usize) {
        let columns = columns.clamp(1, COLUMNS);
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            return;
        }
        if self.header.is_none() {
            let is_header = names_columns(cells, columns);
            let names: Vec<_> = match is_header {
                true => cells.iter().take(columns).cloned().collect(),
                false => (0..columns).map(column_name).collect(),
            };
            self.header = Some(format!("{}\n|{}", row(&names, columns), " --- |".repeat(columns)));
            if is_header {
                self.header_row = Some(number);
                return;
            }
        }
        self.has_rows = true;
        let follows = usize::try_from(number.saturating_sub(self.first)).ok() == Some(self.rows.len());
        if !follows || self.rows.len() >= ROWS || self.bytes >= Part::MAX_BYTES / 2 {
            self.flush();
        }
        if self.rows.is_empty() {
            self.first = number;
        }
        let row = row(cells, columns);
        self.bytes += row.len();
        self.rows.push(row);
    }

    /// Returns whether the document is full.
    pub(crate) fn is_full(&self) -> bool {
        self.collector.is_full() || self.bytes > self.collector.remaining()
    }

    fn flush(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        let last = self.first.saturating_add(u32::try_from(self.rows.len() - 1).unwrap_or(u32::MAX));
        let place = Place::Rows { sheet: self.sheet.clone(), first: self.first, last };
        self.push_part(place, self.rows.join("\n"), self.header.clone());
        self.rows.clear();
        self.bytes = 0;
    }

    fn push_part(&mut self, place: Place, text: String, table_header: Option<String>) {
        let headings = self.headings.clone();
        self.collector.push(Part { place, headings, table_header, syntax: Syntax::Markdown, text });
    }

    /// Adds the rows that wait. A table without rows is kept for the names of its columns.
    pub(crate) fn finish(mut self) {
        if let (Some(header), Some(row), false) = (&self.header, self.header_row, self.has_rows) {
            let place = Place::Rows { sheet: self.sheet.clone(), first: row, last: row };
            self.push_part(place, header.clone(), None);
        }
        self.flush();
    }
}

/// Writes a row of a Markdown table.
pub(crate) fn row(cells: &[String], columns: usize) -> String {
    let mut row = String::from("|");
    for at in 0..columns {
        let cell = cells.get(at).map_or("", String::as_str);
        row.push(' ');
        row.push_str(&one_line(cell).replace('|', "\\|"));
        row.push_str(" |");
    }
    row
}

/// Returns whether a row consists of names of columns: texts that are not numbers.
fn names_columns(cells: &[String], columns: usize) -> bool {
    cells.len() >= columns
        && cells.iter().take(columns).all(|cell| {
            let cell = cell.trim();
            !cell.is_empty() && cell.chars().any(char::is_alphabetic)
        })
}

/// Returns the name that spreadsheets give the column: A to Z, AA, AB and so on.
pub(crate) fn column_name(at: usize) -> String {
    let mut name = Vec::new();
    let mut rest = at + 1;
    while rest > 0 {
        name.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    name.iter().rev().collect()
}
