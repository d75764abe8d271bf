//! Rows, and the conversion of their columns.

use super::local::{Cell, LocalRow};
use sqlx::postgres::{PgRow, PgValueRef};
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Row as _, TypeInfo, ValueRef};

/// The name or the index of a column.
pub(crate) trait Column: ColumnIndex<SqliteRow> + ColumnIndex<PgRow> {
    fn of<'r>(&self, row: &'r LocalRow) -> Result<&'r Cell, sqlx::Error>;
}

impl Column for &str {
    fn of<'r>(&self, row: &'r LocalRow) -> Result<&'r Cell, sqlx::Error> {
        row.named(self)
    }
}

impl Column for usize {
    fn of<'r>(&self, row: &'r LocalRow) -> Result<&'r Cell, sqlx::Error> {
        row.at(*self)
    }
}

/// A row of either database.
pub(crate) enum Row {
    Local(LocalRow),
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// Returns a column by name or index.
    pub(crate) fn try_get<'r, T: Get<'r>>(&'r self, column: impl Column) -> Result<T, sqlx::Error> {
        match self {
            Self::Local(row) => T::of_cell(column.of(row)?),
            Self::Sqlite(row) => T::of_sqlite(row, ColumnIndex::<SqliteRow>::index(&column, row)?),
            Self::Postgres(row) => T::of_postgres(row, ColumnIndex::<PgRow>::index(&column, row)?),
        }
    }

    /// Returns a text or NULL; invalid UTF-8 in a damaged file is replaced.
    pub(crate) fn text(&self, column: &str) -> Result<Option<String>, sqlx::Error> {
        let is_null = match self {
            Self::Local(row) => row.named(column)?.is_null(),
            Self::Sqlite(row) => row.try_get_raw(column)?.is_null(),
            Self::Postgres(row) => row.try_get_raw(column)?.is_null(),
        };
        if is_null { Ok(None) } else { Ok(Some(String::from_utf8_lossy(self.bytes(column)?).into_owned())) }
    }

    /// Returns the bytes of a text, which may be invalid UTF-8 in a damaged file.
    pub(crate) fn bytes(&self, column: &str) -> Result<&[u8], sqlx::Error> {
        match self {
            Self::Local(row) => match row.named(column)? {
                Cell::Text(bytes) | Cell::Blob(bytes) => Ok(bytes),
                cell => Err(cell.is_not("text or bytes")),
            },
            Self::Sqlite(row) => row.try_get_unchecked(column),
            Self::Postgres(row) => row.try_get_unchecked(column),
        }
    }
}

/// A type that a column can be read as.
pub(crate) trait Get<'r>: Sized {
    fn of_cell(cell: &'r Cell) -> Result<Self, sqlx::Error>;
    fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, sqlx::Error>;
    fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, sqlx::Error>;
}

macro_rules! same {
    ($($type:ty, $of_cell:expr;)*) => {
        $(impl<'r> Get<'r> for $type {
            fn of_cell(cell: &'r Cell) -> Result<Self, sqlx::Error> {
                $of_cell(cell)
            }

            fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, sqlx::Error> {
                row.try_get(column)
            }

            fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, sqlx::Error> {
                row.try_get(column)
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

fn text(cell: &Cell) -> Result<&str, sqlx::Error> {
    let Cell::Text(bytes) = cell else { return Err(cell.is_not("text")) };
    std::str::from_utf8(bytes).map_err(|_| cell.is_not("text"))
}

/// In PostgreSQL the column is a boolean, or a number that is 1 or 0.
impl<'r> Get<'r> for bool {
    fn of_cell(cell: &'r Cell) -> Result<Self, sqlx::Error> {
        i64::of_cell(cell).map(|value| value != 0)
    }

    fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, sqlx::Error> {
        row.try_get(column)
    }

    fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, sqlx::Error> {
        let raw: PgValueRef<'_> = row.try_get_raw(column)?;
        match raw.type_info().name() {
            "BOOL" => row.try_get(column),
            _ => Ok(row.try_get::<i64, _>(column)? != 0),
        }
    }
}

impl<'r, T: Get<'r>> Get<'r> for Option<T> {
    fn of_cell(cell: &'r Cell) -> Result<Self, sqlx::Error> {
        if cell.is_null() { Ok(None) } else { T::of_cell(cell).map(Some) }
    }

    fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, sqlx::Error> {
        if row.try_get_raw(column)?.is_null() { Ok(None) } else { T::of_sqlite(row, column).map(Some) }
    }

    fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, sqlx::Error> {
        if row.try_get_raw(column)?.is_null() { Ok(None) } else { T::of_postgres(row, column).map(Some) }
    }
}
