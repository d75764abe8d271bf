//! The tables of records, and their changes. Every function takes whose records they are.

use crate::filter::Filter;
use crate::query::push_filter;
use crate::sources::{self, FieldSource};
use crate::value::{FieldValue, MAX_RECORD, values};
use ::store::sql::{self, Db, QueryBuilder, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use serde_json::{Map, Value};

/// The tables. The records of a user are deleted with them; shared ones belong to the collection.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "collections",
    migrations: &[
        Migration {
            name: "collections",
            sqlite: include_str!("../migrations/sqlite/0001_collections.sql"),
            postgres: include_str!("../migrations/postgres/0001_collections.sql"),
        },
        Migration {
            name: "sources",
            sqlite: include_str!("../migrations/sqlite/0002_sources.sql"),
            postgres: include_str!("../migrations/postgres/0002_sources.sql"),
        },
    ],
    tables: &[
        Table { name: "data_records", key: "id", owner: Some("owner") },
        Table { name: "data_values", key: "record_id, field, item", owner: Some("owner") },
        Table { name: "data_sources", key: "record_id, field, document_id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// A set of records: those of a collection, and of a user if they are not shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordSet {
    pub(crate) collection: String,
    /// The user; empty if the records are shared.
    pub(crate) owner: String,
}

/// A stored record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) data: Map<String, Value>,
    pub(crate) version: i64,
}

/// A record with its values, ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct PreparedRecord {
    id: String,
    json: String,
    values: Vec<FieldValue>,
    /// The version that it replaces.
    version: i64,
    /// The sources of its values, if it is a new record from documents.
    sources: Vec<FieldSource>,
}

impl PreparedRecord {
    /// Prepares a record.
    ///
    /// # Errors
    /// A message for the model.
    pub(crate) fn new(record: &Map<String, Value>, of: Option<(&str, i64)>) -> Result<Self, String> {
        let json = serde_json::to_string(record).map_err(|error| error.to_string())?;
        if json.len() > MAX_RECORD {
            return Err(format!("A record has at most {} KB.", MAX_RECORD >> 10));
        }
        let (id, version) = match of {
            Some((id, version)) => (id.to_owned(), version),
            None => (uuid::Uuid::now_v7().simple().to_string(), 0),
        };
        Ok(Self { id, json, values: values(record)?, version, sources: Vec::new() })
    }

    /// Adds where its values are from.
    pub(crate) fn with_sources(self, sources: Vec<FieldSource>) -> Self {
        Self { sources, ..self }
    }

    /// Returns the id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

const INSERT: &str = "
    INSERT INTO data_records (id, collection, owner, data, version, created_at, updated_at)
    VALUES ($1, $2, $3, $4, 1, $5, $5)";
const COUNT: &str = "SELECT count(*) FROM data_records WHERE collection = $1 AND owner = $2";
const INSERT_VALUE: &str = "
    INSERT INTO data_values (record_id, owner, field, item, kind, number, text, folded)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const UPDATE: &str = "
    UPDATE data_records SET data = $5, version = version + 1, updated_at = $6
    WHERE id = $1 AND collection = $2 AND owner = $3 AND version = $4";
const DELETE_VALUES: &str = "DELETE FROM data_values WHERE record_id = $1";

/// Stores records. Returns false, and stores none, if there would be more than `most`.
pub(crate) async fn insert(
    store: &Store,
    set: RecordSet,
    records: Vec<PreparedRecord>,
    most: u32,
) -> Result<bool, StoreError> {
    let now = jiff::Timestamp::now().as_millisecond();
    store
        .write(move |db| {
            Box::pin(async move {
                let count = sql::query_scalar::<i64>(COUNT).bind(set.collection.clone()).bind(set.owner.clone());
                let count = count.fetch_one(&mut *db).await?;
                if count + i64::try_from(records.len()).unwrap_or(i64::MAX) > i64::from(most) {
                    return Ok(false);
                }
                for PreparedRecord { id, json, values, sources, .. } in records {
                    let insert = sql::query(INSERT).bind(id.clone()).bind(set.collection.clone());
                    insert.bind(set.owner.clone()).bind(json).bind(now).execute(&mut *db).await?;
                    insert_values(db, &id, &set.owner, values).await?;
                    sources::insert(db, &id, &set.owner, sources).await?;
                }
                Ok(true)
            })
        })
        .await
}

async fn insert_values(db: &mut Db, id: &str, owner: &str, values: Vec<FieldValue>) -> Result<(), StoreError> {
    for FieldValue { field, item, scalar } in values {
        let insert = sql::query(INSERT_VALUE).bind(id).bind(owner).bind(field).bind(item).bind(scalar.kind());
        let insert = insert.bind(scalar.number()).bind(scalar.text());
        insert.bind(scalar.text().map(str::to_lowercase)).execute(&mut *db).await?;
    }
    Ok(())
}

/// Replaces records whose values of these properties are others. Returns false, and replaces none, if one
/// of them has changed meanwhile.
pub(crate) async fn replace(
    store: &Store,
    set: RecordSet,
    records: Vec<PreparedRecord>,
    changed: Vec<String>,
) -> Result<bool, StoreError> {
    let now = jiff::Timestamp::now().as_millisecond();
    let written = store.write(move |db| {
        Box::pin(async move {
            for PreparedRecord { id, json, values, version, .. } in records {
                let update = sql::query(UPDATE).bind(id.clone()).bind(set.collection.clone()).bind(set.owner.clone());
                let update = update.bind(version).bind(json).bind(now).execute(&mut *db).await?;
                if update.rows_affected() == 0 {
                    // The error undoes the others.
                    return Err(StoreError::Busy);
                }
                sql::query(DELETE_VALUES).bind(id.clone()).execute(&mut *db).await?;
                insert_values(db, &id, &set.owner, values).await?;
                // The sources of the old value do not prove the new one.
                sources::delete_changed(db, &id, &changed).await?;
            }
            Ok(true)
        })
    });
    match written.await {
        Err(StoreError::Busy) => Ok(false),
        other => other,
    }
}

/// Deletes the records that pass the filter, at most `most` of them. Returns how many there were.
pub(crate) async fn delete(store: &Store, set: &RecordSet, filter: &Filter, most: u32) -> Result<u64, StoreError> {
    let mut delete = QueryBuilder::new("DELETE FROM data_records WHERE id IN (SELECT r.id FROM data_records r");
    push_where(&mut delete, set, filter);
    delete.push(" ORDER BY r.id LIMIT ").push_bind(most).push(")");
    let delete = delete.build();
    store.write(move |db| Box::pin(async move { Ok(delete.execute(db).await?.rows_affected()) })).await
}

/// Appends which records `r` are meant.
pub(crate) fn push_where(sql: &mut QueryBuilder, set: &RecordSet, filter: &Filter) {
    sql.push(" WHERE r.collection = ").push_bind(&set.collection).push(" AND r.owner = ").push_bind(&set.owner);
    sql.push(" AND ");
    push_filter(sql, filter);
}

/// Reads a record of `id`, `data` and `version`.
pub(crate) fn record(row: &Row) -> Result<Record, StoreError> {
    let data: String = row.try_get("data")?;
    let data = serde_json::from_str(&data).map_err(|_| StoreError::Invalid("a record of a collection is damaged"))?;
    Ok(Record { id: row.try_get("id")?, data, version: row.try_get("version")? })
}
