//! The table of sources.

use super::FieldSource;
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};
use std::collections::HashMap;

const INSERT: &str = "
    INSERT INTO data_sources (record_id, owner, field, document_id, file_name, place, quote)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const OF_RECORDS: Sql = Sql::pair(
    "SELECT record_id, field, document_id, file_name, place, quote FROM data_sources
     WHERE record_id IN (SELECT value FROM json_each($1)) ORDER BY record_id, field, document_id",
    "SELECT record_id, field, document_id, file_name, place, quote FROM data_sources
     WHERE record_id = ANY($1) ORDER BY record_id, field COLLATE \"C\", document_id COLLATE \"C\"",
);

/// Deletes the sources of a property and of its parts.
const DELETE_CHANGED: &str = "
    DELETE FROM data_sources
    WHERE record_id = $1 AND (field = $2 OR substr(field, 1, length($2) + 1) = $2 || '.')";

/// Stores the sources of a record.
pub(crate) async fn insert(
    db: &mut Db,
    record_id: &str,
    owner: &str,
    sources: Vec<FieldSource>,
) -> Result<(), StoreError> {
    for FieldSource { field, document_id, file_name, place, quote } in sources {
        let insert = sql::query(INSERT).bind(record_id).bind(owner).bind(field).bind(document_id);
        insert.bind(file_name).bind(place).bind(quote).execute(&mut *db).await?;
    }
    Ok(())
}

/// Deletes the sources of properties of a record that have changed.
pub(crate) async fn delete_changed(db: &mut Db, record_id: &str, fields: &[String]) -> Result<(), StoreError> {
    for field in fields {
        sql::query(DELETE_CHANGED).bind(record_id).bind(field).execute(&mut *db).await?;
    }
    Ok(())
}

/// Returns the sources of records by their ids.
pub(crate) async fn for_records(
    store: &Store,
    ids: Vec<String>,
) -> Result<HashMap<String, Vec<FieldSource>>, StoreError> {
    let find = sql::query(OF_RECORDS).bind(ids);
    let rows: Vec<(String, FieldSource)> = store.rows(find, read).await?;
    let mut sources = HashMap::<_, Vec<_>>::new();
    for (record_id, source) in rows {
        sources.entry(record_id).or_default().push(source);
    }
    Ok(sources)
}

fn read(row: &Row) -> Result<(String, FieldSource), StoreError> {
    let source = FieldSource {
        field: row.try_get("field")?,
        document_id: row.try_get("document_id")?,
        file_name: row.try_get("file_name")?,
        place: row.try_get("place")?,
        quote: row.try_get("quote")?,
    };
    Ok((row.try_get("record_id")?, source))
}
