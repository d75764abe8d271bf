//! Comma-, semicolon- and tab-separated values.

use crate::collector::Collector;
use crate::document::WarningCode;
use crate::encoding;
use crate::table::{COLUMNS, TableWriter};
use crate::{Failure, FailureCode, Source};
use ::csv::ReaderBuilder;

/// The separators in the order of precedence.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// The number of lines by which the separator is chosen.
const SAMPLE_LINES: usize = 20;

/// Adds the rows as a table.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let decoded = encoding::decode(source.bytes, None);
    collector.warn_of_encoding(decoded.is_lossy);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator(&decoded.text))
        .from_reader(decoded.text.as_bytes());
    let mut table = TableWriter::new(collector, None);
    let mut columns = 0;
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(|error| Failure::new(FailureCode::Damaged, source.name).with_detail(error))?;
        let cells = record.iter().take(COLUMNS).map(str::to_owned).collect();
        columns = columns.max(record.len());
        let number = u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1);
        table.push(number, cells);
        if table.is_full() {
            break;
        }
    }
    table.finish();
    warn_of_columns(collector, columns);
    Ok(())
}

/// Warns if a table is wider than what is read.
pub(crate) fn warn_of_columns(collector: &mut Collector<'_>, columns: usize) {
    if columns > COLUMNS {
        collector.warn(WarningCode::Skipped, format!("Only the first {COLUMNS} of {columns} columns were read."));
    }
}

/// Chooses the separator that divides the first lines into the same number of cells, and into the
/// most.
fn separator(text: &str) -> u8 {
    let score = |separator: u8| {
        let mut reader =
            ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(text.as_bytes());
        let widths: Vec<_> =
            reader.records().take(SAMPLE_LINES).map_while(Result::ok).map(|record| record.len()).collect();
        let first = widths.first().copied().unwrap_or_default();
        let same = widths.iter().filter(|width| **width == first).count();
        if first < 2 { (0, 0) } else { (same * 100 / widths.len().max(1), first) }
    };
    let best = SEPARATORS.iter().rev().max_by_key(|separator| score(**separator));
    best.copied().unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_recognised() {
        let check = |text: &str, expected: u8| assert_eq!(separator(text), expected, "{text}");
        check("a,b\n1,2", b',');
        check("a;b\n1,5;2,5\n1;2", b';');
        check("a\tb\n1,0\t2", b'\t');
        check("a|b\n1|2", b'|');
        check("\"a,b\";c\n\"d\";e", b';');
        check("alone", b',');
    }
}
