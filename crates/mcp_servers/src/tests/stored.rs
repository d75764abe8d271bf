//! The tables, on each kind of database. The operations on entries are tested in the crate `added_entries`.

use super::*;
use crate::definition::ServerDefinition;
use crate::store::{SERVERS, TABLES, TESTED, TestResult};
use ::store::{CapabilityTables, Schema};
use added_entries::{Author, ChangeOutcome, EntryWrite};
use serde_json::json;
use std::time::Duration;

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];

#[tokio::test]
async fn servers_are_stored_with_their_tests_and_switches() {
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
        let make = async |changes: Vec<Change<ServerDefinition>>| {
            let with_entry = |change| (change, auth::audit_row("ada", "admin:change_mcp_server", "", json!({})));
            let changes = changes.into_iter().map(with_entry).collect();
            let author = Author { user_id: "ada".to_owned(), now: 1 };
            SERVERS.tables.change(&store, SERVERS.most, None, changes, author).await.unwrap()
        };
        let write = |description: &str, keeps_found| {
            let definition = ServerDefinition { description: description.to_owned(), ..ServerDefinition::default() };
            EntryWrite { name: "a".to_owned(), enabled: true, definition, secret: "1.x".to_owned(), keeps_found }
        };
        let read = async || -> StoredServers { SERVERS.tables.read(&store, SERVERS.most).await.unwrap() };
        let switch = |off| Change::Switch { key: "files".to_owned(), off };
        assert_eq!(make(vec![Change::Add(write("one", true)), switch(true)]).await, ChangeOutcome::Done);
        let found = TestResult { at: 5, tools: vec!["echo".to_owned()], left_out: Vec::new(), error: None };
        SERVERS.tables.keep(&store, "a", 1, (TESTED, &found)).await.unwrap();
        assert_eq!(make(vec![Change::Update(write("two", true), 1), switch(false)]).await, ChangeOutcome::Done);
        let stored = read().await;
        let server = &stored.entries[0];
        assert_eq!((server.version, server.secret.as_str(), stored.switched_off.len()), (2, "1.x", 0));
        assert_eq!(server.definition.as_ref().unwrap().description, "two");
        assert_eq!(server.found(TESTED), Some(found));
        assert_eq!(make(vec![Change::Update(write("two", false), 2), switch(true)]).await, ChangeOutcome::Done);
        let stored = read().await;
        assert_eq!(
            (stored.entries[0].found::<TestResult>(TESTED), &*stored.switched_off),
            (None, &["files".to_owned()][..])
        );
    }
}
