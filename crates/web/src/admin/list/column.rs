//! The columns of a list: one declaration for the table and for the CSV file.

use crate::html::{number, text};
use crate::times::minute;
use leptos::prelude::*;

/// A column of a list with rows `R`. It is in the table if it has a title, and in the CSV file if
/// it has a name.
#[derive(Clone, Copy)]
pub struct Column<R> {
    pub(super) title: Option<&'static str>,
    pub(super) name: Option<&'static str>,
    pub(super) is_number: bool,
    cell: fn(&R) -> Cell,
    view: Option<fn(&R) -> AnyView>,
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A text; empty for none.
    Text(String),
    /// A time in Unix milliseconds. The table shows it in UTC, to the minute.
    Time(Option<i64>),
    /// A number. The table shows it with thousands separators and without a fraction.
    Number(Option<f64>),
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A text that not every row has.
    pub fn optional(text: Option<&str>) -> Self {
        Self::text(text.unwrap_or_default())
    }

    /// A time.
    pub fn time(at: impl Into<Option<i64>>) -> Self {
        Self::Time(at.into())
    }

    /// A whole number.
    pub fn count(count: i64) -> Self {
        Self::Number(Some(count as f64))
    }

    fn view(self) -> AnyView {
        text(match self {
            Self::Text(text) => text,
            Self::Time(at) => at.map(minute).unwrap_or_default(),
            Self::Number(value) => value.map(number).unwrap_or_default(),
        })
    }
}

impl<R> Column<R> {
    /// A column of the table and the file. The file's name has the form `userName`.
    pub const fn new(title: &'static str, name: &'static str, cell: fn(&R) -> Cell) -> Self {
        Self { title: Some(title), name: Some(name), is_number: false, cell, view: None }
    }

    /// A column of the file only.
    pub const fn in_file(name: &'static str, cell: fn(&R) -> Cell) -> Self {
        Self { title: None, name: Some(name), is_number: false, cell, view: None }
    }

    /// A column of the table only.
    pub const fn in_table(title: &'static str, view: fn(&R) -> AnyView) -> Self {
        Self { title: Some(title), name: None, is_number: false, cell: |_| Cell::Text(String::new()), view: Some(view) }
    }

    /// The column, right-aligned in the table.
    pub const fn aligned_right(self) -> Self {
        Self { is_number: true, ..self }
    }

    /// The column with another content in the table, such as a link.
    pub const fn shown_as(self, view: fn(&R) -> AnyView) -> Self {
        Self { view: Some(view), ..self }
    }

    pub(super) fn cell(&self, row: &R) -> Cell {
        (self.cell)(row)
    }

    pub(super) fn view(&self, row: &R) -> AnyView {
        self.view.map_or_else(|| self.cell(row).view(), |view| view(row))
    }
}
