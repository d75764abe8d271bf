//! Rows, and what is read from them.

use sqlx::postgres::{PgRow, PgValueRef};
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Row as _, TypeInfo, ValueRef};

/// A row of either database.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// A column by name or place.
    pub(crate) fn try_get<'r, T: Get<'r>>(
        &'r self,
        column: impl ColumnIndex<SqliteRow> + ColumnIndex<PgRow>,
    ) -> Result<T, sqlx::Error> {
        match self {
            Self::Sqlite(row) => T::of_sqlite(row, ColumnIndex::<SqliteRow>::index(&column, row)?),
            Self::Postgres(row) => T::of_postgres(row, ColumnIndex::<PgRow>::index(&column, row)?),
        }
    }

    /// A text, or nothing; what is no text in a damaged file is shown as such.
    pub(crate) fn text(&self, column: &str) -> Result<Option<String>, sqlx::Error> {
        let is_null = match self {
            Self::Sqlite(row) => row.try_get_raw(column)?.is_null(),
            Self::Postgres(row) => row.try_get_raw(column)?.is_null(),
        };
        if is_null { Ok(None) } else { Ok(Some(String::from_utf8_lossy(self.bytes(column)?).into_owned())) }
    }

    /// A text as its bytes, which need not be text in a damaged file.
    pub(crate) fn bytes(&self, column: &str) -> Result<&[u8], sqlx::Error> {
        match self {
            Self::Sqlite(row) => row.try_get_unchecked(column),
            Self::Postgres(row) => row.try_get_unchecked(column),
        }
    }
}

/// A type that a column is read as.
pub(crate) trait Get<'r>: Sized {
    fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, sqlx::Error>;
    fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, sqlx::Error>;
}

macro_rules! same {
    ($($type:ty),*) => {
        $(impl<'r> Get<'r> for $type {
            fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, sqlx::Error> {
                row.try_get(column)
            }

            fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, sqlx::Error> {
                row.try_get(column)
            }
        })*
    };
}

same!(&'r str, String, i64, f64, Vec<u8>);

/// In PostgreSQL a condition, or a column that holds 1 or 0.
impl<'r> Get<'r> for bool {
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
    fn of_sqlite(row: &'r SqliteRow, column: usize) -> Result<Self, sqlx::Error> {
        if row.try_get_raw(column)?.is_null() { Ok(None) } else { T::of_sqlite(row, column).map(Some) }
    }

    fn of_postgres(row: &'r PgRow, column: usize) -> Result<Self, sqlx::Error> {
        if row.try_get_raw(column)?.is_null() { Ok(None) } else { T::of_postgres(row, column).map(Some) }
    }
}
