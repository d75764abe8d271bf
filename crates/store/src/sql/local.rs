//! A connection to a SQLite file that does its work on the thread that asks it.
//!
//! sqlx gives each SQLite connection a thread, and each statement costs a switch to that thread and back: seventy of them made half of what
//! a turn cost. Here a whole transaction runs on one thread (`writer`, `sqlite::readers`), and rows are copied once. Opening, migrations and moving
//! whole databases stay with sqlx.

use super::Value;
use crate::sqlite::Claim;
use rusqlite::config::DbConfig;
use rusqlite::types::{Null, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ffi};
use sqlx::error::{DatabaseError, ErrorKind};
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Statements that are kept ready.
const STATEMENTS: usize = 256;

/// The connection. Whoever awaits what it does blocks the thread for as long.
pub(crate) struct Local {
    connection: Connection,
    /// Dropped after the connection. None for a database in memory, and for whoever only looks.
    _claim: Option<Arc<Claim>>,
}

/// The log of a database in WAL mode, in pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogState {
    /// Another process kept it from being copied.
    pub(crate) is_busy: bool,
    /// How many it holds.
    pub(crate) frames: u64,
    /// How many of them are in the database, too.
    pub(crate) copied: u64,
}

impl Local {
    /// Takes over an open connection.
    pub(crate) fn new(connection: Connection, claim: Option<Arc<Claim>>) -> Self {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Self { connection, _claim: claim }
    }

    /// Runs a statement that returns nothing and has no parameters.
    pub(crate) fn run(&self, statement: &str) -> Result<(), sqlx::Error> {
        self.execute(statement, &[]).map(drop)
    }

    /// Runs several of them, once.
    pub(crate) fn run_all(&self, statements: &str) -> Result<(), sqlx::Error> {
        self.connection.execute_batch(statements).map_err(failed)
    }

    /// The number that a statement returns.
    pub(crate) fn number(&self, sql: &str) -> Result<i64, sqlx::Error> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(failed)
    }

    /// The state of the log after a checkpoint in this mode; `NOOP` changes nothing.
    pub(crate) fn log_state(&self, mode: &str) -> Result<LogState, sqlx::Error> {
        let mut statement =
            self.connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})")).map_err(failed)?;
        let state = statement.query_row([], |row| {
            // -1 where there is no log.
            let number = |place| row.get(place).map(|number: i64| number.max(0).cast_unsigned());
            Ok(LogState { is_busy: row.get(0)?, frames: number(1)?, copied: number(2)? })
        });
        state.map_err(failed)
    }

    /// Leaves the log as it is when the connection is closed.
    pub(crate) fn keep_log(&self) -> Result<(), sqlx::Error> {
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop).map_err(failed)
    }

    /// Runs a statement to its end; how many rows it changed.
    pub(super) fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, sqlx::Error> {
        self.fetch(sql, values, usize::MAX)?;
        Ok(self.connection.changes())
    }

    /// The first rows of a statement.
    pub(super) fn fetch(&self, sql: &str, values: &[Value], most: usize) -> Result<Vec<LocalRow>, sqlx::Error> {
        self.fetch_if(sql, values, most, |_| Ok(true))
    }

    /// See [`super::Query::fetch_chain`].
    pub(super) fn fetch_chain(&self, sql: &str, values: &[Value]) -> Result<Vec<LocalRow>, sqlx::Error> {
        let mut next: Option<Box<[u8]>> = None;
        let mut rows = self.fetch_if(sql, values, usize::MAX, |row| {
            let name = row.get_ref(0)?.as_bytes()?;
            let is_next = match &next {
                Some(next) => **next == *name,
                None => row.get_ref(2)?.as_bytes()? == name,
            };
            if is_next {
                // Nothing is called by an empty name: behind the last row, no other is found.
                next = Some(row.get_ref(1)?.as_bytes_or_null()?.unwrap_or_default().into());
            }
            Ok(is_next)
        })?;
        rows.reverse();
        Ok(rows)
    }

    /// The first rows of a statement that are wanted; the others are not copied.
    fn fetch_if(
        &self,
        sql: &str,
        values: &[Value],
        most: usize,
        mut is_wanted: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<Vec<LocalRow>, sqlx::Error> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        bind(&mut statement, values).map_err(failed)?;
        let names: Arc<[Box<str>]> = statement.column_names().into_iter().map(Into::into).collect();
        let (mut rows, mut found) = (statement.raw_query(), Vec::new());
        while found.len() < most
            && let Some(row) = rows.next().map_err(failed)?
        {
            if !is_wanted(row).map_err(failed)? {
                continue;
            }
            let cells = (0..names.len()).map(|place| row.get_ref(place).map(Cell::of));
            let cells = cells.collect::<Result<_, _>>().map_err(failed)?;
            found.push(LocalRow { names: names.clone(), cells });
        }
        Ok(found)
    }

    /// Closes it in order.
    pub(crate) fn close(self) -> Result<(), sqlx::Error> {
        self.connection.close().map_err(|(_, error)| failed(error))
    }
}

/// Parameters are called `$1`, `$2` and so on, which SQLite numbers in the order in which it meets them, or `?`. Those without a value are
/// null.
fn bind(statement: &mut CachedStatement<'_>, values: &[Value]) -> rusqlite::Result<()> {
    for index in 1..=statement.parameter_count() {
        let number = statement.parameter_name(index).map_or(Some(index), |name| name[1..].parse().ok());
        let value = number.and_then(|number: usize| values.get(number.checked_sub(1)?));
        match value {
            Some(value) => statement.raw_bind_parameter(index, value)?,
            None => statement.raw_bind_parameter(index, Null)?,
        }
    }
    Ok(())
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let list = |values: serde_json::Value| Ok(values.to_string().into());
        match self {
            Self::Int(value) => value.to_sql(),
            Self::Real(value) => value.to_sql(),
            Self::Text(value) => value.to_sql(),
            Self::Blob(value) => Ok(ToSqlOutput::Borrowed(ValueRef::Blob(value))),
            Self::Texts(values) => list(values.clone().into()),
            Self::Ints(values) => list(values.clone().into()),
            // SQLite has no lists; a null shows it at once.
            Self::Blobs(_) => Null.to_sql(),
        }
    }
}

/// A row as it was read.
pub(crate) struct LocalRow {
    names: Arc<[Box<str>]>,
    cells: Box<[Cell]>,
}

/// A value. A text is kept as its bytes, which need not be text in a damaged file.
#[derive(Debug)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Real(f64),
    Text(Box<[u8]>),
    Blob(Box<[u8]>),
}

impl Cell {
    fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(value) => Self::Int(value),
            ValueRef::Real(value) => Self::Real(value),
            ValueRef::Text(value) => Self::Text(value.into()),
            ValueRef::Blob(value) => Self::Blob(value.into()),
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A column that holds something else than the code expects: the file is damaged, or the code is wrong.
    pub(super) fn is_not(&self, expected: &str) -> sqlx::Error {
        let found = match self {
            Self::Null => "nothing",
            Self::Int(_) => "a whole number",
            Self::Real(_) => "a number",
            Self::Text(_) => "text that cannot be read as such",
            Self::Blob(_) => "bytes",
        };
        sqlx::Error::Decode(format!("a column holds {found} instead of {expected}").into())
    }
}

impl LocalRow {
    pub(super) fn named(&self, name: &str) -> Result<&Cell, sqlx::Error> {
        let place = self.names.iter().position(|known| **known == *name);
        place.map(|place| &self.cells[place]).ok_or_else(|| sqlx::Error::ColumnNotFound(name.to_owned()))
    }

    pub(super) fn at(&self, place: usize) -> Result<&Cell, sqlx::Error> {
        let len = self.cells.len();
        self.cells.get(place).ok_or(sqlx::Error::ColumnIndexOutOfBounds { index: place, len })
    }
}

/// What SQLite said, for code that knows sqlx's errors only.
#[derive(Debug)]
struct Failed {
    /// The extended result code.
    code: i32,
    message: String,
}

pub(crate) fn failed(error: rusqlite::Error) -> sqlx::Error {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            let message = message.unwrap_or_else(|| failure.to_string());
            sqlx::Error::Database(Box::new(Failed { code: failure.extended_code, message }))
        }
        error => sqlx::Error::Protocol(error.to_string()),
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(code: {}) {}", self.code, self.message)
    }
}

impl Error for Failed {}

impl DatabaseError for Failed {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.code.to_string().into())
    }

    fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        match self.code {
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => ErrorKind::UniqueViolation,
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => ErrorKind::ForeignKeyViolation,
            ffi::SQLITE_CONSTRAINT_NOTNULL => ErrorKind::NotNullViolation,
            ffi::SQLITE_CONSTRAINT_CHECK => ErrorKind::CheckViolation,
            _ => ErrorKind::Other,
        }
    }
}
