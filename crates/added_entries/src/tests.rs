//! Entries of a sample kind, on each kind of database.

use crate::{Author, Change, ChangeOutcome, Entry, EntryKind, EntryTables, EntryWrite, StoredEntries};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use store::sql::query_scalar;
use store::{CapabilityTables, Migration, Schema, Store, Table};

const CREATE: &str = "
CREATE TABLE sample_catalog (id INTEGER NOT NULL PRIMARY KEY, version BIGINT NOT NULL);
CREATE TABLE samples (
    name TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL, enabled BIGINT NOT NULL, definition TEXT NOT NULL,
    sealed TEXT NOT NULL, created_by TEXT NOT NULL, changed_by TEXT NOT NULL, created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL, tested TEXT, listed TEXT
);
CREATE TABLE samples_off (sample TEXT NOT NULL PRIMARY KEY);
";

static ALL_TABLES: [CapabilityTables; 1] = [CapabilityTables {
    capability: "samples",
    migrations: &[Migration { name: "samples", sqlite: CREATE, postgres: CREATE }],
    tables: &[
        Table { name: "sample_catalog", key: "id", owner: None },
        Table { name: "samples", key: "name", owner: None },
        Table { name: "samples_off", key: "sample", owner: None },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
}];

const SAMPLES: EntryKind = EntryKind {
    section: "samples",
    action: "sample",
    noun: "sample",
    nouns: "samples",
    most: 5,
    tables: EntryTables {
        catalog: "sample_catalog",
        entries: "samples",
        secret: "sealed",
        found: &["tested", "listed"],
        switched_off: Some(("samples_off", "sample")),
    },
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample(String);

/// Opens each kind of database.
async fn stores() -> Vec<Store> {
    let mut stores = Vec::new();
    for url in test_postgres::databases_of_each_kind().await {
        stores.push(Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap());
    }
    stores
}

fn write(name: &str, text: &str) -> EntryWrite<Sample> {
    let (name, definition) = (name.to_owned(), Sample(text.to_owned()));
    EntryWrite { name, enabled: true, definition, secret: "sealed".to_owned(), keeps_found: true }
}

async fn make(store: &Store, expected: Option<i64>, changes: Vec<Change<Sample>>) -> ChangeOutcome {
    let with_entry = |change| (change, auth::audit_row("ada", "admin:change_sample", "", json!({})));
    let author = Author { user_id: "ada".to_owned(), now: 1 };
    let changes = changes.into_iter().map(with_entry).collect();
    SAMPLES.tables.change(store, SAMPLES.most, expected, changes, author).await.unwrap()
}

async fn read(store: &Store) -> StoredEntries<Sample> {
    SAMPLES.tables.read(store, SAMPLES.most).await.unwrap()
}

async fn version(store: &Store) -> String {
    SAMPLES.tables.version(store).await.unwrap()
}

async fn audited(store: &Store) -> i64 {
    let count = query_scalar::<i64>("SELECT count(*) FROM audit WHERE tool = 'admin:change_sample'");
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap()
}

#[tokio::test]
async fn entries_are_added_changed_switched_and_deleted_with_their_versions() {
    for store in stores().await {
        assert_eq!((read(&store).await.version, version(&store).await.as_str()), (0, "0"));
        assert_eq!(make(&store, Some(0), vec![Change::Add(write("a", "one"))]).await, ChangeOutcome::Done);
        assert_eq!(make(&store, None, vec![Change::Add(write("a", "one"))]).await, ChangeOutcome::Taken);
        assert_eq!(make(&store, None, vec![Change::Update(write("a", "two"), 2)]).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, None, vec![Change::Update(write("b", "two"), 1)]).await, ChangeOutcome::Unknown);
        assert_eq!(make(&store, None, vec![Change::Update(write("a", "two"), 1)]).await, ChangeOutcome::Done);
        let off = |version| Change::Enable { name: "a".to_owned(), version, enabled: false };
        assert_eq!(make(&store, None, vec![off(1)]).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, None, vec![off(2)]).await, ChangeOutcome::Done);
        let switch = |off| Change::Switch { key: "files".to_owned(), off };
        assert_eq!(make(&store, None, vec![switch(true), switch(true)]).await, ChangeOutcome::Done);
        let stored = read(&store).await;
        assert_eq!((stored.version, version(&store).await.as_str()), (4, "4"));
        assert_eq!(stored.switched_off, ["files"]);
        let entry = stored.find("a").unwrap();
        assert_eq!((entry.version, entry.enabled, entry.secret.as_str()), (3, false, "sealed"));
        assert_eq!(entry.definition, Some(Sample("two".to_owned())));

        let delete = |version| Change::Delete { name: "a".to_owned(), version };
        assert_eq!(make(&store, None, vec![delete(Some(1))]).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, None, vec![delete(Some(3)), switch(false)]).await, ChangeOutcome::Done);
        assert_eq!(make(&store, None, vec![delete(None)]).await, ChangeOutcome::Unknown);
        let stored = read(&store).await;
        assert!(stored.entries.is_empty() && stored.switched_off.is_empty());
        // Only what was done is recorded.
        assert_eq!(audited(&store).await, 7);
        // A version of a deleted entry does not come back with its name.
        assert_eq!(make(&store, None, vec![Change::Add(write("a", "new"))]).await, ChangeOutcome::Done);
        assert_eq!(read(&store).await.entries[0].version, 6);
    }
}

#[tokio::test]
async fn findings_are_kept_for_the_examined_version_only() {
    for store in stores().await {
        let found = async || {
            let entry: Entry<Sample> = read(&store).await.entries.remove(0);
            (entry.found::<i64>("tested"), entry.found::<Vec<String>>("listed"))
        };
        make(&store, None, vec![Change::Add(write("a", "one"))]).await;
        SAMPLES.tables.keep(&store, "a", 7, ("tested", &5)).await.unwrap();
        assert_eq!(found().await, (None, None));
        SAMPLES.tables.keep(&store, "a", 1, ("tested", &5)).await.unwrap();
        SAMPLES.tables.keep(&store, "a", 1, ("listed", &["x"])).await.unwrap();
        let both = (Some(5), Some(vec!["x".to_owned()]));
        assert_eq!(found().await, both);
        assert_eq!(version(&store).await, "1", "it changes nothing for agents");
        make(&store, None, vec![Change::Update(write("a", "two"), 1)]).await;
        assert_eq!(found().await, both, "it is reached as before");
        let moved = EntryWrite { keeps_found: false, ..write("a", "three") };
        make(&store, None, vec![Change::Update(moved, 2)]).await;
        assert_eq!(found().await, (None, None));
    }
}

#[tokio::test]
async fn several_changes_are_atomic() {
    for store in stores().await {
        assert_eq!(make(&store, None, vec![Change::Add(write("a", ""))]).await, ChangeOutcome::Done);
        let wrong = Change::Update(write("a", "x"), 7);
        assert_eq!(make(&store, None, vec![Change::Add(write("b", "")), wrong]).await, ChangeOutcome::Changed);
        assert_eq!(make(&store, Some(0), vec![Change::Add(write("b", ""))]).await, ChangeOutcome::Changed);
        let many: Vec<_> = (0..SAMPLES.most).map(|number| Change::Add(write(&format!("s{number}"), ""))).collect();
        assert_eq!(make(&store, None, many.clone()).await, ChangeOutcome::Full);
        let replace = [vec![Change::Delete { name: "a".to_owned(), version: None }], many].concat();
        let stored = read(&store).await;
        assert_eq!((stored.entries.len(), stored.version, audited(&store).await), (1, 1, 1));
        assert_eq!(make(&store, Some(1), replace).await, ChangeOutcome::Done);
        assert_eq!(read(&store).await.entries.len(), SAMPLES.most);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_have_one_winner() {
    for store in stores().await {
        make(&store, None, vec![Change::Add(write("a", ""))]).await;
        for round in 1..5_i64 {
            let all = futures::future::join_all((0..4).map(|admin| {
                let (store, mine) = (store.clone(), write("a", &format!("{admin}")));
                tokio::spawn(async move {
                    make(&store, (admin % 2 == 0).then_some(round), vec![Change::Update(mine, round)]).await
                })
            }));
            let outcomes: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
            assert_eq!(outcomes.iter().filter(|outcome| **outcome == ChangeOutcome::Done).count(), 1, "{outcomes:?}");
            assert_eq!(read(&store).await.version, round + 1);
        }
    }
}

#[test]
fn change_contains_only_differences() {
    let entry = Entry {
        name: "a".to_owned(),
        version: 4,
        enabled: true,
        definition: Some(Sample("one".to_owned())),
        secret: "sealed".to_owned(),
        created_by: String::new(),
        changed_by: String::new(),
        created_at: 1,
        changed_at: 1,
        found: std::collections::BTreeMap::new(),
    };
    let stored = StoredEntries { version: 4, entries: vec![entry], switched_off: Vec::new() };
    let check = |write: EntryWrite<Sample>, expected: &str| {
        let planned = SAMPLES.saved(&stored, write, json!({}));
        assert_eq!(planned.map(|planned| planned.action).unwrap_or_default(), expected);
    };
    check(write("a", "one"), "");
    check(write("a", "two"), "change_sample");
    check(EntryWrite { enabled: false, ..write("a", "one") }, "change_sample");
    check(EntryWrite { secret: String::new(), ..write("a", "one") }, "change_sample");
    check(write("b", "one"), "add_sample");
}
