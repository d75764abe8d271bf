//! The tables, on each kind of database.

use super::*;
use crate::definition::ConnectionDefinition;
use crate::store::{
    Author, ChangeOutcome, ConnectionWrite, Found, ListResult, MAX_CONNECTIONS, TABLES, TestResult, change, keep, read,
    version,
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

fn write(name: &str, model: &str) -> ConnectionWrite {
    let definition = ConnectionDefinition { models: vec![model.to_owned()], ..ConnectionDefinition::default() };
    ConnectionWrite { name: name.to_owned(), enabled: true, definition, secret: String::new(), keeps_found: true }
}

async fn make(store: &Store, made: Change) -> ChangeOutcome {
    let entry = auth::audit_row("ada", "admin:change_model_connection", "", json!({}));
    change(store, made, entry, Author { user_id: "ada".to_owned(), now: 1 }).await.unwrap()
}

async fn audited(store: &Store) -> i64 {
    let count = query_scalar::<i64>("SELECT count(*) FROM audit WHERE tool = 'admin:change_model_connection'");
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap()
}

#[tokio::test]
async fn connections_are_added_changed_switched_and_deleted_with_their_versions() {
    for store in stores().await {
        assert_eq!(version(&store).await.unwrap(), "0");
        assert_eq!(make(&store, Change::Add(write("a", "one"))).await, ChangeOutcome::Done);
        assert_eq!(make(&store, Change::Add(write("a", "one"))).await, ChangeOutcome::Taken);
        assert_eq!(make(&store, Change::Update(write("a", "two"), 2)).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, Change::Update(write("b", "two"), 1)).await, ChangeOutcome::Unknown);
        assert_eq!(make(&store, Change::Update(write("a", "two"), 1)).await, ChangeOutcome::Done);
        let off = |version| Change::Enable { name: "a".to_owned(), version, enabled: false };
        assert_eq!(make(&store, off(1)).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, off(2)).await, ChangeOutcome::Done);
        assert_eq!(version(&store).await.unwrap(), "3");
        let catalog = read(&store).await.unwrap();
        let known = &catalog.connections[0];
        assert_eq!((known.version, known.enabled), (3, false));
        assert_eq!(known.definition.as_ref().unwrap().models, ["two"]);

        // What was found belongs to the version that was asked.
        let test = TestResult { at: 5, model: "two".to_owned(), cost_micro_usd: Some(7), ..TestResult::default() };
        let list = ListResult { at: 6, models: vec!["two".to_owned()], error: None };
        keep(&store, "a", 2, Found::Test(test.clone())).await.unwrap();
        assert_eq!(read(&store).await.unwrap().connections[0].tested, None);
        keep(&store, "a", 3, Found::Test(test.clone())).await.unwrap();
        keep(&store, "a", 3, Found::List(list.clone())).await.unwrap();
        let found = |known: &StoredConnection| (known.tested.clone(), known.listed.clone());
        assert_eq!(found(&read(&store).await.unwrap().connections[0]), (Some(test.clone()), Some(list.clone())));
        assert_eq!(version(&store).await.unwrap(), "3", "it changes nothing for agents");
        assert_eq!(make(&store, Change::Update(write("a", "three"), 3)).await, ChangeOutcome::Done);
        assert_eq!(found(&read(&store).await.unwrap().connections[0]), (Some(test), Some(list)));
        let moved = ConnectionWrite { keeps_found: false, ..write("a", "three") };
        assert_eq!(make(&store, Change::Update(moved, 4)).await, ChangeOutcome::Done);
        assert_eq!(found(&read(&store).await.unwrap().connections[0]), (None, None));

        let delete = |version| Change::Delete { name: "a".to_owned(), version };
        assert_eq!(make(&store, delete(Some(1))).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, delete(Some(5))).await, ChangeOutcome::Done);
        assert_eq!(make(&store, delete(None)).await, ChangeOutcome::Unknown);
        assert!(read(&store).await.unwrap().connections.is_empty());
        // Only what was done is recorded.
        assert_eq!(audited(&store).await, 6);
        // A version of a deleted connection does not come back with its name.
        assert_eq!(make(&store, Change::Add(write("a", "new"))).await, ChangeOutcome::Done);
        assert_eq!(read(&store).await.unwrap().connections[0].version, 7);
    }
}

#[tokio::test]
async fn the_number_of_connections_is_bounded() {
    for store in stores().await {
        for number in 0..MAX_CONNECTIONS {
            assert_eq!(make(&store, Change::Add(write(&format!("c{number}"), "m"))).await, ChangeOutcome::Done);
        }
        assert_eq!(make(&store, Change::Add(write("more", "m"))).await, ChangeOutcome::Full);
        assert_eq!(read(&store).await.unwrap().connections.len(), MAX_CONNECTIONS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_administrators_at_once_one_wins() {
    for store in stores().await {
        make(&store, Change::Add(write("a", ""))).await;
        for round in 1..10_i64 {
            let all = futures::future::join_all((0..4).map(|admin| {
                let store = store.clone();
                let change = Change::Update(write("a", &format!("{admin}")), round);
                tokio::spawn(async move { make(&store, change).await })
            }));
            let outcomes: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
            assert_eq!(outcomes.iter().filter(|outcome| **outcome == ChangeOutcome::Done).count(), 1, "{outcomes:?}");
            assert_eq!(version(&store).await.unwrap(), (round + 1).to_string());
        }
    }
}
