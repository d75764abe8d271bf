//! A connection to a SQLite file that runs statements on the calling thread.
//!
//! sqlx has a thread for each SQLite connection, and each statement costs a switch to that thread
//! and back: the seventy statements of a turn made up half of its cost. Here a whole transaction
//! runs on one thread (`writer`, `sqlite::readers`), and rows are copied once. Opening, migrations
//! and transfers of whole databases use sqlx.

use super::{Error, Value};
use crate::sqlite::Claim;
use rusqlite::config::DbConfig;
use rusqlite::types::{Null, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};
use std::sync::Arc;

/// The number of cached prepared statements.
const STATEMENTS: usize = 256;

/// The connection. Its operations block the thread.
pub(crate) struct LocalConnection {
    connection: Connection,
    /// Dropped after the connection. `None` for a database in memory, and for a process that only reads.
    _claim: Option<Arc<Claim>>,
}

/// The state of the write-ahead log, in pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogState {
    /// Whether another process prevented the checkpoint.
    pub(crate) is_busy: bool,
    /// The number of pages in the log.
    pub(crate) frames: u64,
    /// The number of those that are checkpointed into the database.
    pub(crate) copied: u64,
}

impl LocalConnection {
    /// Wraps an open connection.
    pub(crate) fn new(connection: Connection, claim: Option<Arc<Claim>>) -> Self {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Self { connection, _claim: claim }
    }

    /// Runs a statement that returns nothing and has no parameters.
    pub(crate) fn run(&self, statement: &str) -> Result<(), Error> {
        self.execute(statement, &[]).map(drop)
    }

    /// Runs several statements, without caching them.
    pub(crate) fn run_all(&self, statements: &str) -> Result<(), Error> {
        self.connection.execute_batch(statements).map_err(Error::from)
    }

    /// Returns the number that a statement yields.
    pub(crate) fn number(&self, sql: &str) -> Result<i64, Error> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(Error::from)
    }

    /// Returns the state of the log after a checkpoint in this mode; `NOOP` changes nothing.
    pub(crate) fn log_state(&self, mode: &str) -> Result<LogState, Error> {
        let mut statement = self.connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?;
        let state = statement.query_row([], |row| {
            // -1 if there is no log.
            let number = |place| row.get(place).map(|number: i64| number.max(0).cast_unsigned());
            Ok(LogState { is_busy: row.get(0)?, frames: number(1)?, copied: number(2)? })
        });
        state.map_err(Error::from)
    }

    /// Disables the checkpoint when the connection is closed.
    pub(crate) fn keep_log(&self) -> Result<(), Error> {
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop).map_err(Error::from)
    }

    /// Runs a statement to completion. Returns the number of changed rows.
    pub(super) fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        self.fetch(sql, values, usize::MAX)?;
        Ok(self.connection.changes())
    }

    /// Returns the first `most` rows of a statement.
    pub(super) fn fetch(&self, sql: &str, values: &[Value], most: usize) -> Result<Vec<LocalRow>, Error> {
        self.fetch_if(sql, values, most, |_| Ok(true))
    }

    /// See [`super::Query::fetch_chain`].
    pub(super) fn fetch_chain(&self, sql: &str, values: &[Value]) -> Result<Vec<LocalRow>, Error> {
        let mut next: Option<Box<[u8]>> = None;
        let mut rows = self.fetch_if(sql, values, usize::MAX, |row| {
            let name = row.get_ref(0)?.as_bytes()?;
            let is_next = match &next {
                Some(next) => **next == *name,
                None => row.get_ref(2)?.as_bytes()? == name,
            };
            if is_next {
                // No row has an empty id, so nothing matches after the last row of the chain.
                next = Some(row.get_ref(1)?.as_bytes_or_null()?.unwrap_or_default().into());
            }
            Ok(is_next)
        })?;
        rows.reverse();
        Ok(rows)
    }

    /// Returns the first `most` rows that `is_wanted` accepts; the others are not copied.
    fn fetch_if(
        &self,
        sql: &str,
        values: &[Value],
        most: usize,
        mut is_wanted: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<Vec<LocalRow>, Error> {
        let mut statement = self.connection.prepare_cached(sql)?;
        bind(&mut statement, values)?;
        let names: Arc<[Box<str>]> = statement.column_names().into_iter().map(Into::into).collect();
        let (mut rows, mut found) = (statement.raw_query(), Vec::new());
        while found.len() < most
            && let Some(row) = rows.next()?
        {
            if !is_wanted(row)? {
                continue;
            }
            let cells = (0..names.len()).map(|place| row.get_ref(place).map(Cell::of));
            let cells = cells.collect::<Result<_, _>>()?;
            found.push(LocalRow { names: names.clone(), cells });
        }
        Ok(found)
    }

    /// Closes the connection cleanly.
    pub(crate) fn close(self) -> Result<(), Error> {
        self.connection.close().map_err(|(_, error)| error.into())
    }
}

/// Binds values. Parameters are named `$1`, `$2` and so on, which SQLite numbers in the order of
/// their first occurrence, or `?`. Parameters without a value are NULL.
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
            // SQLite has no arrays; a NULL makes the mistake obvious.
            Self::Blobs(_) => Null.to_sql(),
        }
    }
}

/// A row, copied from SQLite.
pub struct LocalRow {
    names: Arc<[Box<str>]>,
    cells: Box<[Cell]>,
}

/// A value. Text is kept as bytes, which may be invalid UTF-8 in a damaged file.
#[derive(Debug)]
pub enum Cell {
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

    /// Returns the error for a column of an unexpected type: the file is damaged, or the code is wrong.
    pub(super) fn is_not(&self, expected: &str) -> Error {
        let found = match self {
            Self::Null => "nothing",
            Self::Int(_) => "a whole number",
            Self::Real(_) => "a number",
            Self::Text(_) => "text that cannot be read as such",
            Self::Blob(_) => "bytes",
        };
        Error::Column(format!("a column holds {found} instead of {expected}"))
    }
}

impl LocalRow {
    pub(super) fn named(&self, name: &str) -> Result<&Cell, Error> {
        let place = self.names.iter().position(|known| **known == *name);
        place.map(|place| &self.cells[place]).ok_or_else(|| Error::Column(format!("there is no column `{name}`")))
    }

    pub(super) fn at(&self, place: usize) -> Result<&Cell, Error> {
        self.cells.get(place).ok_or_else(|| Error::Column(format!("there is no column {place}")))
    }
}
