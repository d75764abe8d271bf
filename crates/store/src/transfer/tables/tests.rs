use super::*;
use crate::Store;

/// A table that a migration adds must be in one of the lists.
#[tokio::test]
async fn every_table_is_transferred() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    // Without the tables of the full-text index.
    let sql =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search\\_%' ESCAPE '\\' ORDER BY name";
    let found: Vec<String> = store
        .read(move |db| Box::pin(async move { Ok(crate::sql::query_scalar(sql).fetch_all(db).await?) }))
        .await
        .unwrap();
    let mut known: Vec<_> = CORE_TABLES.iter().map(|table| table.name).chain(LEFT.iter().copied()).collect();
    known.sort_unstable();
    assert_eq!(found, known, "add it to CORE_TABLES");
}
