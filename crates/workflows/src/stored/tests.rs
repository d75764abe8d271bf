//! Definitions whose authors are deleted, on each kind of database.

use super::table::{self, Save};
use super::with_stored;
use ::store::{AuditFilter, CapabilityTables, Schema, Store, sql};
use auth::audit_row;
use config::{Config, Language, SectionType};
use serde_json::json;
use std::time::Duration;
use workflow_definition::Workflows;

const TABLES: &[CapabilityTables] = &[crate::store::TABLES];

const INSERT_USER: &str = "
    INSERT INTO users (id, name, name_key, password, roles, created_at, password_changed_at)
    VALUES ($1, $1, $1, '', '[]', 1, 1)";

async fn execute(store: &Store, statement: &'static str, user: &'static str) {
    let change = sql::query(statement).bind(user);
    let write = store.write(move |db| Box::pin(async move { Ok(change.execute(db).await?) }));
    write.await.unwrap();
}

/// Saves a definition whose id is that of its author.
async fn save(store: &Store, author: &str, after: Option<i64>, is_limited: bool) {
    let new = Save {
        id: author.to_owned(),
        after,
        definition: json!({ "id": author, "steps": [{ "id": "pause", "type": "wait", "seconds": 1 }] }),
        is_enabled: true,
        author: author.to_owned(),
        is_limited,
        now: 1,
    };
    let saved = table::save(store, new, audit_row(author, "admin:add_workflow", "", json!({}))).await.unwrap();
    assert_eq!(saved, table::SaveOutcome::Done);
}

fn empty_config() -> Config {
    let language = Language::new(&[SectionType::of::<Workflows>()], &[]);
    language.read_text("pages: [{ id: home }]\n").map_err(|problems| config::render(&problems)).unwrap().0
}

/// Returns the ids of the workflows in use.
async fn used(store: &Store) -> Vec<String> {
    let config = with_stored(empty_config(), &table::list(store).await.unwrap());
    let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    all.iter().map(|workflow| workflow.id.0.clone()).collect()
}

#[tokio::test]
async fn definitions_of_deleted_authors_are_disabled_unless_they_were_administrators() {
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(TABLES).open(&url, "", Duration::ZERO).await.unwrap();
        for user in ["boss", "dora", "stays"] {
            execute(&store, INSERT_USER, user).await;
        }
        save(&store, "boss", None, false).await;
        save(&store, "dora", None, true).await;
        save(&store, "stays", None, true).await;
        // A user of a site, who has no account here, and of whose end nobody learns.
        save(&store, "elsewhere", None, true).await;
        assert_eq!(table::disable_orphaned(&store).await.unwrap(), [""; 0]);
        assert_eq!(used(&store).await, ["boss", "dora", "elsewhere", "stays"]);
        execute(&store, "UPDATE users SET deleted_at = 2 WHERE id = $1", "boss").await;
        execute(&store, "UPDATE users SET deleted_at = 2 WHERE id = $1", "dora").await;
        // Whoever reads it meanwhile does not use it.
        assert_eq!(used(&store).await, ["boss", "elsewhere", "stays"]);
        execute(&store, "DELETE FROM users WHERE id = $1", "dora").await;
        let before = table::version(&store).await.unwrap();
        assert_eq!(table::disable_orphaned(&store).await.unwrap(), ["dora"]);
        assert_eq!(table::disable_orphaned(&store).await.unwrap(), [""; 0]);
        assert_ne!(table::version(&store).await.unwrap(), before, "other servers notice");
        let row = table::find(&store, "dora").await.unwrap().unwrap();
        let cause = "its author, who was no administrator, was deleted";
        assert_eq!((row.is_enabled, row.disabled_because.as_deref()), (false, Some(cause)), "{url}");
        let filter = AuditFilter { tool: Some("admin:workflow_disabled_itself".to_owned()), ..AuditFilter::default() };
        let audit = store.audit_list(filter, 10, None).await.unwrap();
        assert_eq!(audit.iter().map(|row| row.user_id.as_str()).collect::<Vec<_>>(), ["dora"]);
        // Somebody else answers for it.
        save(&store, "dora", Some(1), false).await;
        let row = table::find(&store, "dora").await.unwrap().unwrap();
        assert_eq!((row.is_enabled, row.disabled_because, row.is_orphaned), (true, None, false));
        store.close().await;
    }
}
