//! The tables of agents of users, on SQLite and, if it is installed, on PostgreSQL.

use super::store::*;
use crate::store::TABLES;
use ::store::{AuditEntry, Store};
use auth::audit_row;
use serde_json::{Value, json};
use test_store::on_each_database;

fn audit() -> AuditEntry {
    audit_row("ada", "agents:test", "", Value::Null)
}

fn change(owner: &str, id: &str, after: Option<i64>, name: &str, text: &str) -> SaveOwnAgent {
    SaveOwnAgent {
        owner: owner.to_owned(),
        id: id.to_owned(),
        after,
        name: name.to_owned(),
        definition: json!({ "instructions": text }),
        now: after.unwrap_or_default(),
        limits: (2, 3),
    }
}

#[tokio::test]
async fn agents_have_owners_names_versions_and_bounds() {
    on_each_database(&[TABLES], async |store| {
        use SaveOwnOutcome::*;
        let check = async |sent: SaveOwnAgent, expected: SaveOwnOutcome| {
            let case = format!("{sent:?}");
            let before = version(store).await.unwrap();
            assert_eq!(save(store, sent, audit()).await.unwrap(), expected, "{case}");
            assert_eq!(version(store).await.unwrap() != before, expected == Saved, "{case}");
        };
        check(change("ada", "a", None, "Chef", "one"), Saved).await;
        check(change("ada", "b", None, "chef", "one"), NameTaken).await;
        check(change("bob", "b", None, "chef", "one"), Saved).await;
        check(change("ada", "a", Some(1), "Chef", "one"), Unchanged).await;
        check(change("ada", "a", Some(1), "Chef", "two"), Saved).await;
        check(change("ada", "a", Some(1), "Chef", "three"), Changed).await;
        check(change("bob", "a", Some(2), "a", "three"), Unknown).await;
        check(change("ada", "c", None, "c", "one"), Saved).await;
        check(change("ada", "c", Some(1), "CHEF", "one"), NameTaken).await;
        check(change("ada", "d", None, "d", "one"), Full).await;
        check(change("bob", "d", None, "d", "one"), ServerFull).await;

        let kept: Vec<_> = versions(store, "ada", "a").await.unwrap().iter().map(|kept| kept.version).collect();
        assert_eq!(kept, [2, 1]);
        assert!(versions(store, "bob", "a").await.unwrap().is_empty());
        assert!(find(store, "bob", "a").await.unwrap().is_none());

        let everybody = AgentSharing { everybody: true, roles: Vec::new() };
        let before = version(store).await.unwrap();
        use ChangeOutcome::{Changed as Done, Unchanged as Same, Unknown as NotThere};
        assert_eq!(share(store, ("bob", "a"), &everybody, 3, audit()).await.unwrap(), NotThere);
        assert_eq!(share(store, ("ada", "a"), &everybody, 3, audit()).await.unwrap(), Done);
        assert_ne!(version(store).await.unwrap(), before);
        let before = version(store).await.unwrap();
        assert_eq!(switch(store, "a", false, 4, audit()).await.unwrap(), Done);
        assert_ne!(version(store).await.unwrap(), before);
        let row = find(store, "ada", "a").await.unwrap().unwrap();
        assert_eq!((row.version, row.sharing, row.disabled_at), (2, everybody, Some(4)));
        assert_eq!(switch(store, "a", true, 5, audit()).await.unwrap(), Done);
        assert_eq!(switch(store, "nothing", true, 5, audit()).await.unwrap(), NotThere);

        let ids = |rows: Vec<OwnAgentRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
        assert_eq!(ids(of_owner(store, "ada").await.unwrap()), ["a", "c"]);
        let admitted = ["a", "b", "gone"].map(str::to_owned).to_vec();
        assert_eq!(ids(of_others(store, "ada", admitted).await.unwrap()), ["b"]);
        assert!(of_others(store, "ada", Vec::new()).await.unwrap().is_empty());

        // A change without an effect raises no version and adds no audit entry.
        let before = (version(store).await.unwrap(), audit_count(store).await);
        assert_eq!(
            share(store, ("ada", "a"), &AgentSharing { everybody: true, roles: Vec::new() }, 6, audit()).await.unwrap(),
            Same
        );
        assert_eq!(switch(store, "a", true, 6, audit()).await.unwrap(), Same);
        assert_eq!((version(store).await.unwrap(), audit_count(store).await), before);

        assert_eq!(delete(store, "bob", "a", audit()).await.unwrap(), NotThere);
        assert_eq!(delete(store, "ada", "a", audit()).await.unwrap(), Done);
        assert!(versions(store, "ada", "a").await.unwrap().is_empty(), "they go with the agent");
        let left: Vec<_> = all(store).await.unwrap().into_iter().map(|row| row.id).collect();
        assert_eq!(left, ["b", "c"]);
    })
    .await;
}

async fn audit_count(store: &Store) -> usize {
    store.audit_rows(i64::MIN, i64::MIN).await.unwrap().len()
}

#[tokio::test]
async fn servers_see_each_change_despite_clock_skew() {
    on_each_database(&[TABLES], async |store| {
        for (id, now) in [("a", 0), ("b", 9)] {
            save(store, SaveOwnAgent { now, ..change("ada", id, None, id, "x") }, audit()).await.unwrap();
        }
        let mut seen = vec![version(store).await.unwrap()];
        for everybody in [true, false, true] {
            let sharing = AgentSharing { everybody, roles: Vec::new() };
            share(store, ("ada", "a"), &sharing, 0, audit()).await.unwrap();
            seen.push(version(store).await.unwrap());
        }
        for is_on in [false, true, false] {
            switch(store, "a", is_on, 0, audit()).await.unwrap();
            seen.push(version(store).await.unwrap());
        }
        let distinct: std::collections::HashSet<_> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len(), "{seen:?}");
    })
    .await;
}

#[tokio::test]
async fn only_the_newest_versions_are_kept() {
    on_each_database(&[TABLES], async |store| {
        save(store, change("ada", "a", None, "a", "0"), audit()).await.unwrap();
        for after in 1..=i64::from(MAX_VERSIONS) + 2 {
            save(store, change("ada", "a", Some(after), "a", &after.to_string()), audit()).await.unwrap();
        }
        let kept = versions(store, "ada", "a").await.unwrap();
        let bounds = (kept.len(), kept.first().unwrap().version, kept.last().unwrap().version);
        assert_eq!(bounds, (50, 53, 4));
    })
    .await;
}
