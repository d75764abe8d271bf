//! The tables, on each kind of database. The operations on entries are tested in the crate `added_entries`.

use super::*;
use crate::definition::ConnectionDefinition;
use crate::store::{CONNECTIONS, LISTED, ListResult, TABLES, TESTED, TestResult};
use ::store::{CapabilityTables, Schema};
use added_entries::{Author, ChangeOutcome, EntryWrite};
use serde_json::json;
use std::time::Duration;

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];

#[tokio::test]
async fn connections_are_stored_with_what_was_found() {
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
        let make = async |change: Change<ConnectionDefinition>| {
            let entry = auth::audit_row("ada", "admin:change_model_connection", "", json!({}));
            let author = Author { user_id: "ada".to_owned(), now: 1 };
            let changes = vec![(change, entry)];
            CONNECTIONS.tables.change(&store, CONNECTIONS.most, None, changes, author).await.unwrap()
        };
        let write = |model: &str, keeps_found| {
            let definition = ConnectionDefinition { models: vec![model.to_owned()], ..ConnectionDefinition::default() };
            EntryWrite { name: "a".to_owned(), enabled: true, definition, secret: "x".to_owned(), keeps_found }
        };
        let read = async || -> StoredConnection {
            CONNECTIONS.tables.read(&store, CONNECTIONS.most).await.unwrap().entries.remove(0)
        };
        assert_eq!(make(Change::Add(write("one", true))).await, ChangeOutcome::Done);
        let test = TestResult { at: 5, model: "one".to_owned(), cost_micro_usd: Some(7), ..TestResult::default() };
        let list = ListResult { at: 6, models: vec!["one".to_owned()], error: None };
        CONNECTIONS.tables.keep(&store, "a", 1, (TESTED, &test)).await.unwrap();
        CONNECTIONS.tables.keep(&store, "a", 1, (LISTED, &list)).await.unwrap();
        assert_eq!(make(Change::Update(write("two", true), 1)).await, ChangeOutcome::Done);
        let known = read().await;
        assert_eq!((known.version, known.secret.as_str()), (2, "x"));
        assert_eq!(known.definition.as_ref().unwrap().models, ["two"]);
        assert_eq!((known.found(TESTED), known.found(LISTED)), (Some(test), Some(list)));
        assert_eq!(make(Change::Update(write("two", false), 2)).await, ChangeOutcome::Done);
        assert_eq!(read().await.found, BTreeMap::new());
    }
}
