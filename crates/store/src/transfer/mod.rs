//! Transfers all data of a database into an empty one, which may be of the other kind. Everything
//! that was written is read back and compared before it is committed.

pub(crate) mod backup;
mod end;
mod tables;

pub(crate) use tables::CORE_TABLES;

use crate::StoreError;
use crate::schema::{Schema, Table};
use crate::sql::{self, Db, Query, Row, Value, query};
use crate::store::CLAIM_TIMEOUT;
use bytes::Bytes;
use end::TransferEnd;
use futures::TryStreamExt;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;
use tables::{Column, ColumnKind};

/// The number of rows per statement.
const ROWS: usize = 32;

/// A transferred table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferredTable {
    /// Its name.
    pub table: &'static str,
    /// The number of its rows.
    pub rows: u64,
    /// SHA-256 over all rows, in hexadecimal; the same in source and target.
    pub sha256: String,
}

impl Schema {
    /// Transfers everything from one database to another. The target is created or migrated, and
    /// must be empty; with `replace`, its content is deleted. The source is read as a snapshot and
    /// not changed. The target gets all data or none.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator: the source has another schema than this
    /// version, the target is not empty, a server serves the target or a source that is a file, or
    /// the target differs from the source after writing.
    pub async fn transfer(self, from: &str, to: &str, replace: bool) -> Result<Vec<TransferredTable>, StoreError> {
        let mut source = TransferEnd::open_source(self, from).await?;
        // Creates the target and its schema.
        self.open(to, "", CLAIM_TIMEOUT).await?.close().await;
        let mut target = TransferEnd::open_target(self, to, replace).await?;
        let mut moved = Vec::new();
        for table in self.tables() {
            moved.push(table.copy(&mut source.db, &mut target.db).await?);
        }
        target.finish().await?;
        source.db.close().await?;
        Ok(moved)
    }
}

impl Table {
    async fn copy(&self, source: &mut Db, target: &mut Db) -> Result<TransferredTable, StoreError> {
        let columns = self.columns(target).await?;
        if columns != self.columns(source).await? {
            return Err(StoreError::Open(format!("the two databases have different columns in `{}`", self.name)));
        }
        let for_postgres = target.is_postgres();
        let read = self.read(&columns, source, for_postgres, Some(&mut *target)).await?;
        let written = self.read(&columns, target, for_postgres, None).await?;
        if read != written {
            return Err(StoreError::Open(format!("`{}` differs after the transfer; nothing was stored", self.name)));
        }
        let (rows, sha256) = read;
        Ok(TransferredTable { table: self.name, rows, sha256 })
    }

    /// Reads all rows in the order of their key, counts and hashes them, and inserts them into `target`.
    async fn read(
        &self,
        columns: &[Column],
        source: &mut Db,
        for_postgres: bool,
        mut target: Option<&mut Db>,
    ) -> Result<(u64, String), StoreError> {
        let (mut count, mut hash) = (0_u64, Sha256::new());
        let mut waiting: Vec<Vec<Value>> = Vec::new();
        let mut rows = query(self.select(columns)).fetch(source);
        while let Some(row) = rows.try_next().await? {
            let values = columns.iter().map(|column| value(&row, column, for_postgres));
            let values: Vec<Value> = values.collect::<Result<_, sql::Error>>()?;
            values.iter().for_each(|value| add(&mut hash, value));
            count += 1;
            if let Some(target) = target.as_deref_mut() {
                waiting.push(values);
                if waiting.len() == ROWS {
                    self.insert(columns, &mut waiting).execute(target).await?;
                }
            }
        }
        if let Some(target) = target.filter(|_| !waiting.is_empty()) {
            self.insert(columns, &mut waiting).execute(target).await?;
        }
        Ok((count, hex::encode(hash.finalize())))
    }

    fn insert(&self, columns: &[Column], rows: &mut Vec<Vec<Value>>) -> Query {
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        let mut sql = format!("INSERT INTO {} ({}) VALUES ", self.name, names.join(", "));
        for row in 0..rows.len() {
            let numbers = (1..=columns.len()).map(|column| format!("${}", row * columns.len() + column));
            let numbers: Vec<_> = numbers.collect();
            let _ = write!(sql, "{}({})", if row == 0 { "" } else { ", " }, numbers.join(", "));
        }
        rows.drain(..).flatten().fold(query(Arc::<str>::from(sql)), Query::bind)
    }
}

/// Converts a value for the target.
fn value(row: &Row, column: &Column, for_postgres: bool) -> Result<Value, sql::Error> {
    let name = column.name.as_str();
    Ok(match column.kind {
        ColumnKind::Int => Value::Int(row.try_get(name)?),
        ColumnKind::Real => Value::Real(row.try_get(name)?),
        ColumnKind::Blob => Value::Blob(Bytes::from(row.try_get::<Vec<u8>>(name)?)),
        ColumnKind::Text => {
            let text = row.text(name)?;
            Value::Text(if for_postgres { text.map(sql::without_nul) } else { text })
        }
    })
}

/// Hashes each value with its type and length, so that different rows have different hashes.
fn add(hash: &mut Sha256, value: &Value) {
    let (kind, bytes): (u8, &[u8]) = match value {
        Value::Int(Some(number)) => (1, &number.to_be_bytes()),
        Value::Real(Some(number)) => (2, &number.to_bits().to_be_bytes()),
        Value::Text(Some(text)) => (3, text.as_bytes()),
        Value::Blob(bytes) => (4, bytes),
        _ => (0, &[]),
    };
    hash.update([kind]);
    hash.update((bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}
