//! Tables in CSV. Only the positions of the rows are kept: a row is parsed when it is shown.

use std::sync::Arc;

/// The most rows that are shown.
const MAX_ROWS: usize = 500_000;
/// The most columns that are shown.
pub(super) const MAX_COLUMNS: usize = 100;
/// The most characters of a field that are shown.
const MAX_FIELD: usize = 300;
/// How many rows decide about the columns.
const SAMPLE: usize = 200;
/// The least and the greatest width of a column, in characters.
const WIDTHS: (usize, usize) = (4, 40);

/// A table, with the first row as its head.
pub(super) struct Csv {
    text: Arc<str>,
    separator: char,
    /// Where the rows below the head begin, in bytes.
    starts: Vec<u32>,
    /// The fields of the head.
    pub(super) head: Vec<String>,
    /// The width of each column in characters.
    pub(super) widths: Vec<usize>,
    /// Whether rows were left out.
    pub(super) is_cut: bool,
}

impl Csv {
    /// Reads a table. A text that does not follow the format is read as far as it goes.
    pub(super) fn new(text: Arc<str>, separator: char) -> Self {
        let mut starts = row_starts(&text, separator);
        let is_cut = starts.len() > MAX_ROWS + 1;
        starts.truncate(MAX_ROWS + 1);
        let head = if starts.is_empty() { Vec::new() } else { fields(&text, starts.remove(0), separator) };
        let mut table = Self { text, separator, starts, head, widths: Vec::new(), is_cut };
        table.measure();
        table
    }

    /// The number of rows below the head.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The fields of a row.
    pub(super) fn row(&self, index: usize) -> Vec<String> {
        self.starts.get(index).map(|start| fields(&self.text, *start, self.separator)).unwrap_or_default()
    }

    fn measure(&mut self) {
        let mut widths = Vec::new();
        let mut widen = |row: &[String]| {
            widths.resize(widths.len().max(row.len()), WIDTHS.0);
            for (width, field) in widths.iter_mut().zip(row) {
                *width = field.chars().count().clamp(*width, WIDTHS.1);
            }
        };
        widen(&self.head);
        for index in 0..self.len().min(SAMPLE) {
            widen(&self.row(index));
        }
        self.head.resize(widths.len(), String::new());
        self.widths = widths;
    }
}

/// Whether fields can be quoted. Where tabs are between them, a quote is a sign like others.
fn has_quotes(separator: char) -> bool {
    separator != '\t'
}

/// Returns where the rows begin. Empty lines are no rows.
fn row_starts(text: &str, separator: char) -> Vec<u32> {
    let (mut starts, mut start, mut is_quoted) = (Vec::new(), 0, false);
    // Only the first character of a field can open a quoted one. A quote after the one that closes it belongs to the field.
    let (mut can_open, mut is_closed) = (true, false);
    for (at, byte) in text.bytes().enumerate() {
        let (could_open, was_closed) = (can_open, is_closed);
        can_open = !is_quoted && (byte == b'\n' || char::from(byte) == separator);
        is_closed = is_quoted && byte == b'"';
        match byte {
            b'"' if is_quoted => is_quoted = false,
            b'"' => is_quoted = was_closed || (could_open && has_quotes(separator)),
            b'\n' if !is_quoted => {
                if !text[start..at].trim_end_matches('\r').is_empty() {
                    starts.push(start as u32);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < text.len() {
        starts.push(start as u32);
    }
    starts
}

/// Returns the fields of the row that begins at a place.
fn fields(text: &str, start: u32, separator: char) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted, mut length) = (Vec::new(), String::new(), false, 0);
    let mut rest = text[start as usize..].chars().peekable();
    let mut can_open = has_quotes(separator);
    while let Some(char) = rest.next() {
        let could_open = can_open;
        can_open = !is_quoted && char == separator && has_quotes(separator);
        match char {
            '"' if is_quoted && rest.peek() == Some(&'"') => {
                rest.next();
                push(&mut field, &mut length, '"');
            }
            '"' if is_quoted || could_open => is_quoted = !is_quoted,
            '\n' if !is_quoted => break,
            char if char == separator && !is_quoted => {
                length = 0;
                fields.push(std::mem::take(&mut field));
                if fields.len() == MAX_COLUMNS {
                    return fields;
                }
            }
            char => push(&mut field, &mut length, char),
        }
    }
    if field.ends_with('\r') {
        field.pop();
    }
    fields.push(field);
    fields
}

fn push(field: &mut String, length: &mut usize, char: char) {
    *length += 1;
    match *length {
        length if length < MAX_FIELD => field.push(char),
        MAX_FIELD => field.push('…'),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_fields_are_found() {
        let check = |text: &str, expected: &str| {
            let table = Csv::new(text.into(), ',');
            let rows = (0..table.len()).map(|index| table.row(index).join("|"));
            let shown: Vec<_> = std::iter::once(table.head.join("|")).chain(rows).collect();
            assert_eq!(shown.join(" / "), expected, "{text:?}");
        };
        check("", "");
        check("a,b", "a|b");
        check("a,b\n1,2\n", "a|b / 1|2");
        check("a,b\r\n1,2\r\n\r\n3,4", "a|b / 1|2 / 3|4");
        check("a,b\n\"x, \"\"y\"\"\",\"two\nlines\"\n3,4\n", "a|b / x, \"y\"|two\nlines / 3|4");
        check("a\n1,2,3\n", "a|| / 1|2|3");
        check("a,b\n\"never ends,2\n", "a|b / never ends,2\n");
        check("a,b\n,\n", "a|b / |");
        check("a,b\n\"\",\"\"\"\"\n\"1\n2\",3\n", "a|b / |\" / 1\n2|3");
    }

    #[test]
    fn quotes_within_fields_and_between_tabs_are_signs() {
        for separator in [',', '\t'] {
            let table = Csv::new("a\n5\" x\n6\n".into(), separator);
            assert_eq!((table.len(), table.row(0), table.row(1)), (2, vec!["5\" x".to_owned()], vec!["6".to_owned()]));
        }
        let table = Csv::new("a\tb\n\"x\ty\"\n".into(), '\t');
        assert_eq!((table.len(), table.row(0)), (1, vec!["\"x".to_owned(), "y\"".to_owned()]));
    }

    #[test]
    fn large_tables_are_bounded() {
        let text = "x,".repeat(300) + "\n" + &"long".repeat(1_000) + "\n";
        let table = Csv::new(text.into(), ',');
        assert_eq!(table.head.len(), MAX_COLUMNS);
        assert_eq!(table.row(0)[0].chars().count(), MAX_FIELD);
        let table = Csv::new("a\n".repeat(MAX_ROWS + 10).into(), ',');
        assert_eq!((table.len(), table.is_cut), (MAX_ROWS, true));
    }
}
