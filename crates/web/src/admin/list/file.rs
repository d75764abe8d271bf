//! A list as a CSV file.

use super::{Cell, Column, List};
use crate::admin::csv::{self, Csv};

/// The columns of a list's file.
pub(super) fn columns<L: List>() -> Vec<&'static Column<L::Row>> {
    let named: Vec<_> = L::COLUMNS.iter().filter(|column| column.name.is_some()).collect();
    if L::FILE_ORDER.is_empty() {
        return named;
    }
    let found = |name: &&str| named.iter().copied().find(|column| column.name == Some(*name));
    let ordered: Vec<_> = L::FILE_ORDER.iter().filter_map(found).collect();
    debug_assert!(
        ordered.len() == named.len() && ordered.len() == L::FILE_ORDER.len(),
        "the order of the file {} does not name each column once",
        L::PATH
    );
    ordered
}

/// Begins the file with the names of its columns.
pub(super) fn begin<R>(columns: &[&Column<R>]) -> Csv {
    Csv::new(columns.iter().filter_map(|column| column.name))
}

/// Adds a row.
pub(super) fn add<R>(file: &mut Csv, columns: &[&Column<R>], row: &R) {
    file.add(columns.iter().map(|column| match column.cell(row) {
        Cell::Text(text) => csv::cell(&text),
        Cell::Time(at) => at.map(csv::time_cell).unwrap_or_default(),
        Cell::Number(value) => value.map(|value| value.to_string()).unwrap_or_default(),
    }));
}
