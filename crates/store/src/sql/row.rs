//! Rows, and the conversion of their columns.

use super::Error;
use super::local::{Cell, LocalRow};
use sqlx::postgres::{PgRow, PgValueRef};
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Row as _, TypeInfo, ValueRef};

/// The name (`&str`) or the index (`usize`) of a column.
pub trait ColumnKey: ColumnIndex<SqliteRow> + ColumnIndex<PgRow> {
    /// Returns the cell of a SQLite row.
    #[doc(hidden)]
    fn cell<'r>(&self, row: &'r LocalRow) -> Result<&'r Cell, Error>;
}

impl ColumnKey for &str {
    fn cell<'r>(&self, row: &'r LocalRow) -> Result<&'r Cell, Error> {
        row.named(self)
    }
}

impl ColumnKey for usize {
    fn cell<'r>(&self, row: &'r LocalRow) -> Result<&'r Cell, Error> {
        row.at(*self)
    }
}

/// A row of either database.
pub struct Row(Cells);

enum Cells {
    Local(LocalRow),
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl From<LocalRow> for Row {
    fn from(row: LocalRow) -> Self {
        Self(Cells::Local(row))
    }
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self(Cells::Sqlite(row))
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self(Cells::Postgres(row))
    }
}

impl Row {
    /// Returns a column by name or index.
    ///
    /// # Errors
    /// There is no such column, or its value has another type.
    pub fn try_get<'r, T: Get<'r>>(&'r self, column: impl ColumnKey) -> Result<T, Error> {
        match &self.0 {
            Cells::Local(row) => T::of_cell(column.cell(row)?),
            Cells::Sqlite(row) => T::of_sqlite(row, ColumnIndex::<SqliteRow>::index(&column, row)?),
            Cells::Postgres(row) => T::of_postgres(row, ColumnIndex::<PgRow>::index(&column, row)?),
        }
    }

    /// Returns a text or NULL; invalid UTF-8 in a damaged file is replaced.
    pub(crate) fn text(&self, column: &str) -> Result<Option<String>, Error> {
        let is_null = match &self.0 {
            Cells::Local(row) => row.named(column)?.is_null(),
            Cells::Sqlite(row) => row.try_get_raw(column)?.is_null(),
            Cells::Postgres(row) => row.try_get_raw(column)?.is_null(),
        };
        if is_null { Ok(None) } else { Ok(Some(String::from_utf8_lossy(self.bytes(column)?).into_owned())) }
    }

    /// Returns the bytes of a text, which may be invalid UTF-8 in a damaged file.
    pub(crate) fn bytes(&self, column: &str) -> Result<&[u8], Error> {
        match &self.0 {
            Cells::Local(row) => match row.named(column)? {
                Cell::Text(bytes) | Cell::Blob(bytes) => Ok(bytes),
                cell => Err(cell.is_not("text or bytes")),
            },
            Cells::Sqlite(row) => Ok(row.try_get_unchecked(column)?),
            Cells::Postgres(row) => Ok(row.try_get_unchecked(column)?),
        }
    }
}

/// A type that a column can be read as: `&str`, `String`, `i64`, `f64`, `bool`, `Vec<u8>`, or an
/// `Option` of one of them.
pub trait Get<'r>: Sized {
    /// Reads a cell of a SQLite row.
    #[doc(hidden)]
    fn of_cell(cell: &'r Cell) -> Result<Self, Error>;
    /// Reads a column of a row of sqlx's SQLite driver.
    #[doc(hidden)]
    fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, Error>;
    /// Reads a column of a PostgreSQL row.
    #[doc(hidden)]
    fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, Error>;
}

macro_rules! same {
    ($($type:ty, $of_cell:expr;)*) => {
        $(impl<'r> Get<'r> for $type {
            fn of_cell(cell: &'r Cell) -> Result<Self, Error> {
                $of_cell(cell)
            }

            fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, Error> {
                Ok(row.try_get(column)?)
            }

            fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, Error> {
                Ok(row.try_get(column)?)
            }
        })*
    };
}

same! {
    &'r str, text;
    String, |cell| text(cell).map(str::to_owned);
    i64, |cell: &Cell| if let Cell::Int(value) = cell { Ok(*value) } else { Err(cell.is_not("a whole number")) };
    f64, |cell: &Cell| if let Cell::Real(value) = cell { Ok(*value) } else { Err(cell.is_not("a number")) };
    Vec<u8>, |cell: &Cell| if let Cell::Blob(value) = cell { Ok(value.to_vec()) } else { Err(cell.is_not("bytes")) };
}

fn text(cell: &Cell) -> Result<&str, Error> {
    let Cell::Text(bytes) = cell else { return Err(cell.is_not("text")) };
    std::str::from_utf8(bytes).map_err(|_| cell.is_not("text"))
}

/// In PostgreSQL the column is a boolean, or a number that is 1 or 0.
impl<'r> Get<'r> for bool {
    fn of_cell(cell: &'r Cell) -> Result<Self, Error> {
        i64::of_cell(cell).map(|value| value != 0)
    }

    fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, Error> {
        Ok(row.try_get(column)?)
    }

    fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, Error> {
        let raw: PgValueRef<'_> = row.try_get_raw(column)?;
        match raw.type_info().name() {
            "BOOL" => Ok(row.try_get(column)?),
            _ => Ok(row.try_get::<i64, _>(column)? != 0),
        }
    }
}

impl<'r, T: Get<'r>> Get<'r> for Option<T> {
    fn of_cell(cell: &'r Cell) -> Result<Self, Error> {
        if cell.is_null() { Ok(None) } else { T::of_cell(cell).map(Some) }
    }

    fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, Error> {
        if row.try_get_raw(column)?.is_null() { Ok(None) } else { T::of_sqlite(row, column).map(Some) }
    }

    fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, Error> {
        if row.try_get_raw(column)?.is_null() { Ok(None) } else { T::of_postgres(row, column).map(Some) }
    }
}
