//! The tables, on each kind of database.

use super::*;
use crate::definition::ServerDefinition;
use crate::store::{
    Author, ChangeOutcome, MAX_SERVERS, ServerWrite, TABLES, TestResult, change, keep_test, read, version,
};
use ::store::sql::query_scalar;
use ::store::{CapabilityTables, Schema, Store};
use serde_json::json;
use std::time::Duration;

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];

/// Opens each kind of database.
async fn stores() -> Vec<Store> {
    let mut stores = Vec::new();
    for url in test_postgres::databases_of_each_kind().await {
        stores.push(Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap());
    }
    stores
}

fn write(name: &str, description: &str) -> ServerWrite {
    let definition = ServerDefinition { description: description.to_owned(), ..ServerDefinition::default() };
    ServerWrite { name: name.to_owned(), enabled: true, definition, secrets: String::new(), keeps_test: true }
}

async fn make(store: &Store, expected: Option<i64>, changes: Vec<Change>) -> ChangeOutcome {
    let with_entry = |change| (change, auth::audit_row("ada", "admin:change_mcp_server", "", json!({})));
    let author = Author { user_id: "ada".to_owned(), now: 1 };
    change(store, expected, changes.into_iter().map(with_entry).collect(), author).await.unwrap()
}

async fn audited(store: &Store) -> i64 {
    let count = query_scalar::<i64>("SELECT count(*) FROM audit WHERE tool = 'admin:change_mcp_server'");
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap()
}

#[tokio::test]
async fn servers_are_added_changed_switched_and_deleted_with_their_versions() {
    for store in stores().await {
        assert_eq!((read(&store).await.unwrap().version, version(&store).await.unwrap().as_str()), (0, "0"));
        assert_eq!(make(&store, Some(0), vec![Change::Add(write("a", "one"))]).await, ChangeOutcome::Done);
        assert_eq!(make(&store, None, vec![Change::Add(write("a", "one"))]).await, ChangeOutcome::Taken);
        assert_eq!(make(&store, None, vec![Change::Update(write("a", "two"), 2)]).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, None, vec![Change::Update(write("b", "two"), 1)]).await, ChangeOutcome::Unknown);
        assert_eq!(make(&store, None, vec![Change::Update(write("a", "two"), 1)]).await, ChangeOutcome::Done);
        let off = |version| Change::Enable { name: "a".to_owned(), version, enabled: false };
        assert_eq!(make(&store, None, vec![off(1)]).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, None, vec![off(2)]).await, ChangeOutcome::Done);
        let switch = |off| Change::Switch { server: "files".to_owned(), off };
        assert_eq!(make(&store, None, vec![switch(true), switch(true)]).await, ChangeOutcome::Done);
        let catalog = read(&store).await.unwrap();
        assert_eq!(catalog.version, 4);
        assert_eq!(catalog.switched_off, ["files"]);
        let server = &catalog.servers[0];
        assert_eq!((server.version, server.enabled), (3, false));
        assert_eq!(server.definition.as_ref().unwrap().description, "two");

        // A test belongs to the version that was tested.
        let found = TestResult { at: 5, tools: vec!["echo".to_owned()], left_out: Vec::new(), error: None };
        keep_test(&store, "a", 2, &found).await.unwrap();
        assert_eq!(read(&store).await.unwrap().servers[0].tested, None);
        keep_test(&store, "a", 3, &found).await.unwrap();
        assert_eq!(read(&store).await.unwrap().servers[0].tested.as_ref(), Some(&found));
        assert_eq!(read(&store).await.unwrap().version, 4, "a test changes nothing for agents");
        assert_eq!(make(&store, None, vec![Change::Update(write("a", "two"), 3)]).await, ChangeOutcome::Done);
        assert_eq!(read(&store).await.unwrap().servers[0].tested.as_ref(), Some(&found), "it is reached as before");
        let moved = ServerWrite { keeps_test: false, ..write("a", "three") };
        assert_eq!(make(&store, None, vec![Change::Update(moved, 4)]).await, ChangeOutcome::Done);
        assert_eq!(read(&store).await.unwrap().servers[0].tested, None);

        let delete = |version| Change::Delete { name: "a".to_owned(), version };
        assert_eq!(make(&store, None, vec![delete(Some(1))]).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, None, vec![delete(Some(5)), switch(false)]).await, ChangeOutcome::Done);
        assert_eq!(make(&store, None, vec![delete(None)]).await, ChangeOutcome::Unknown);
        let catalog = read(&store).await.unwrap();
        assert!(catalog.servers.is_empty() && catalog.switched_off.is_empty());
        // Only what was done is recorded.
        assert_eq!(audited(&store).await, 9);
        // A version of a deleted server does not come back with its name.
        assert_eq!(make(&store, None, vec![Change::Add(write("a", "new"))]).await, ChangeOutcome::Done);
        assert_eq!(read(&store).await.unwrap().servers[0].version, 8);
    }
}

#[tokio::test]
async fn of_several_changes_all_are_made_or_none() {
    for store in stores().await {
        assert_eq!(make(&store, None, vec![Change::Add(write("a", ""))]).await, ChangeOutcome::Done);
        let wrong = Change::Update(write("a", "x"), 7);
        assert_eq!(make(&store, None, vec![Change::Add(write("b", "")), wrong]).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, Some(0), vec![Change::Add(write("b", ""))]).await, ChangeOutcome::Changed);
        let many: Vec<_> = (0..MAX_SERVERS).map(|number| Change::Add(write(&format!("s{number}"), ""))).collect();
        assert_eq!(make(&store, None, many.clone()).await, ChangeOutcome::Full);
        let replace = [vec![Change::Delete { name: "a".to_owned(), version: None }], many].concat();
        let catalog = read(&store).await.unwrap();
        assert_eq!((catalog.servers.len(), catalog.version, audited(&store).await), (1, 1, 1));
        assert_eq!(make(&store, Some(1), replace).await, ChangeOutcome::Done);
        assert_eq!(read(&store).await.unwrap().servers.len(), MAX_SERVERS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_administrators_at_once_the_second_is_told() {
    for store in stores().await {
        make(&store, None, vec![Change::Add(write("a", ""))]).await;
        for round in 1..10_i64 {
            let both = futures::future::join_all((0..4).map(|admin| {
                let store = store.clone();
                let mine = write("a", &format!("{admin}"));
                tokio::spawn(async move {
                    let change = Change::Update(mine, round);
                    make(&store, (admin % 2 == 0).then_some(round), vec![change]).await
                })
            }));
            let outcomes: Vec<_> = both.await.into_iter().map(Result::unwrap).collect();
            assert_eq!(outcomes.iter().filter(|outcome| **outcome == ChangeOutcome::Done).count(), 1, "{outcomes:?}");
            assert_eq!(read(&store).await.unwrap().version, round + 1);
        }
    }
}
