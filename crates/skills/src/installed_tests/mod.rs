//! Installed skills, on each kind of database.

mod kill;

use crate::archive::testing::pack;
use crate::catalog::{Catalog, CatalogSkill};
use crate::install::{NewSkill, prepare};
use crate::path::SkillPath;
use crate::store::{ChangeOutcome, TABLES, delete, install, list, set_enabled, switch, switched_off, version};
use ::store::sql::{query, query_scalar};
use ::store::{AuditEntry, CapabilityTables, Schema, Store};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];

async fn open(url: &str) -> Store {
    Schema::new(&ALL_TABLES).open(url, "", Duration::ZERO).await.unwrap()
}

/// Opens each kind of database.
async fn stores() -> Vec<Store> {
    let mut stores = Vec::new();
    for url in test_postgres::databases_of_each_kind().await {
        stores.push(open(&url).await);
    }
    stores
}

/// Returns a skill with this text in its instructions and in a file.
fn new_skill(name: &str, text: &str) -> NewSkill {
    let skill = format!("---\nname: {name}\ndescription: Use it for {name}.\n---\n{text}\n");
    prepare(&pack(&[("SKILL.md", skill.as_bytes()), ("references/a.md", text.as_bytes())])).unwrap()
}

fn entry(what: &str) -> AuditEntry {
    auth::audit_row("ada", what, "", json!({}))
}

fn by() -> (String, i64) {
    ("ada".to_owned(), 1)
}

async fn put(store: &Store, new: NewSkill, replace: bool) -> ChangeOutcome {
    install(store, new, replace, by(), entry("install")).await.unwrap()
}

async fn enable(store: &Store, name: &str, digest: &str, enabled: bool) -> ChangeOutcome {
    set_enabled(store, (name.to_owned(), digest.to_owned()), enabled, by(), entry("enable")).await.unwrap()
}

/// Returns the number of rows of the audit log with this action.
async fn audited(store: &Store, what: &'static str) -> i64 {
    let count = query_scalar::<i64>("SELECT count(*) FROM audit WHERE tool = $1").bind(what);
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap()
}

/// Returns the skills that agents can have, and what is wrong with the others.
async fn catalog(store: &Store) -> Catalog {
    let mut catalog = Catalog::default();
    catalog.add_installed(store).await.unwrap();
    catalog
}

async fn skill(store: &Store, name: &str) -> Option<Arc<CatalogSkill>> {
    catalog(store).await.get(name).cloned()
}

#[tokio::test]
async fn a_skill_is_installed_enabled_replaced_and_deleted() {
    for store in stores().await {
        let new = new_skill("refunds", "Within thirty days.");
        let digest = new.digest.clone();
        let none = version(&store).await.unwrap();
        assert_eq!(put(&store, new.clone(), false).await, ChangeOutcome::Done);
        assert!(skill(&store, "refunds").await.is_none(), "it is disabled at first");
        assert_eq!(enable(&store, "other", &digest, true).await, ChangeOutcome::Unknown);
        assert_eq!(enable(&store, "refunds", "another", true).await, ChangeOutcome::Conflict);
        assert_eq!(version(&store).await.unwrap(), none);
        assert_eq!(enable(&store, "refunds", &digest, true).await, ChangeOutcome::Done);
        assert_ne!(version(&store).await.unwrap(), none);
        let found = skill(&store, "refunds").await.unwrap();
        assert!(found.content.contains("Within thirty days.") && found.content.contains("- references/a.md"));
        let read = async |path: &str| found.read_file(SkillPath::parse(path).unwrap()).await;
        assert_eq!(read("references/a.md").await.unwrap(), b"Within thirty days.");
        assert_eq!(read("b.md").await.unwrap_err(), "The skill has no file `b.md`.");

        // Other files are enabled anew.
        let changed = new_skill("refunds", "Within sixty days.");
        assert_eq!(put(&store, changed.clone(), false).await, ChangeOutcome::Conflict);
        assert_eq!(put(&store, changed, true).await, ChangeOutcome::Done);
        assert!(skill(&store, "refunds").await.is_none());
        assert_eq!(enable(&store, "refunds", &digest, true).await, ChangeOutcome::Conflict);

        assert_eq!(delete(&store, "refunds".to_owned(), entry("delete")).await.unwrap(), ChangeOutcome::Done);
        assert_eq!(delete(&store, "refunds".to_owned(), entry("delete")).await.unwrap(), ChangeOutcome::Unknown);
        assert_eq!(list(&store).await.unwrap(), []);
        // Only what was done is recorded.
        assert_eq!(
            [audited(&store, "install").await, audited(&store, "enable").await, audited(&store, "delete").await],
            [2, 1, 1]
        );
    }
}

#[tokio::test]
async fn changed_files_are_not_used() {
    for store in stores().await {
        let new = new_skill("refunds", "Within thirty days.");
        let digest = new.digest.clone();
        put(&store, new, false).await;
        enable(&store, "refunds", &digest, true).await;
        let found = skill(&store, "refunds").await.unwrap();
        let spoil = query("UPDATE skill_files SET bytes = $1, sha256 = $2 WHERE path = 'references/a.md'");
        let (bytes, sha256) = (b"Never.".to_vec(), hex::encode(Sha256::digest(b"Never.")));
        let spoil = spoil.bind(bytes).bind(sha256);
        store.write(move |db| Box::pin(async move { Ok(spoil.execute(db).await.map(drop)?) })).await.unwrap();
        let read = found.read_file(SkillPath::parse("references/a.md").unwrap()).await;
        assert_eq!(read.unwrap_err(), "`references/a.md` is not the file that was enabled.");
        let catalog = catalog(&store).await;
        assert!(catalog.get("refunds").is_none());
        assert_eq!(
            catalog.problems[0].message,
            "the installed skill `refunds` cannot be used: its files are not those that were enabled"
        );
    }
}

#[tokio::test]
async fn a_skill_of_a_folder_is_switched_off_and_an_installed_one_takes_its_place() {
    for store in stores().await {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("refunds");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("SKILL.md"), "---\nname: refunds\ndescription: Refunds.\n---\nOf the folder.\n")
            .unwrap();
        let new = new_skill("refunds", "Installed.");
        let digest = new.digest.clone();
        put(&store, new, false).await;
        enable(&store, "refunds", &digest, true).await;
        let read = async || {
            let mut catalog = Catalog::read(&[folder.path().to_owned()]);
            catalog.switch_off(&switched_off(&store).await.unwrap());
            catalog.add_installed(&store).await.unwrap();
            let used = catalog.get("refunds").map(|skill| skill.content.contains("Installed."));
            (used, catalog.folder_skills().map(|(_, enabled)| enabled).collect::<Vec<_>>())
        };
        let turn = async |enabled| switch(&store, "refunds".to_owned(), enabled, by(), entry("switch")).await.unwrap();
        let before = version(&store).await.unwrap();
        assert_eq!(read().await, (Some(false), vec![true]));
        assert_eq!(turn(false).await, ChangeOutcome::Done);
        assert_ne!(version(&store).await.unwrap(), before);
        assert_eq!(read().await, (Some(true), vec![false]));
        assert_eq!(turn(true).await, ChangeOutcome::Done);
        assert_eq!((version(&store).await.unwrap(), read().await), (before, (Some(false), vec![true])));
        assert_eq!(audited(&store, "switch").await, 2);
    }
}
