//! Definitions whose authors lose rights, on each kind of database.

use super::save::unentitled;
use super::table::{self, AuthorState, Save};
use super::with_stored;
use ::store::{AuditFilter, CapabilityTables, Schema, Store, sql};
use auth::audit_row;
use config::{Config, Language, SectionType};
use serde_json::{Value, json};
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
    let definition = json!({ "id": author, "steps": [{ "id": "pause", "type": "wait", "seconds": 1 }] });
    save_definition(store, author, definition, after, is_limited).await;
}

async fn save_definition(store: &Store, author: &str, definition: Value, after: Option<i64>, is_limited: bool) {
    let new = Save {
        id: definition["id"].as_str().unwrap().to_owned(),
        after,
        definition,
        is_enabled: true,
        author: author.to_owned(),
        is_limited,
        now: 1,
    };
    let saved = table::save(store, new, audit_row(author, "admin:add_workflow", "", json!({}))).await.unwrap();
    assert_eq!(saved, table::SaveOutcome::Done);
}

/// Disables the definitions of authors who have lost rights, and returns their ids.
async fn disable(store: &Store) -> Vec<String> {
    let found = unentitled(store, true).await.unwrap();
    table::disable(store, found).await.unwrap()
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
        assert_eq!(disable(&store).await, [""; 0]);
        assert_eq!(used(&store).await, ["boss", "dora", "elsewhere", "stays"]);
        execute(&store, "UPDATE users SET deleted_at = 2 WHERE id = $1", "boss").await;
        execute(&store, "UPDATE users SET deleted_at = 2 WHERE id = $1", "dora").await;
        // Whoever reads it meanwhile does not use it.
        assert_eq!(used(&store).await, ["boss", "elsewhere", "stays"]);
        execute(&store, "DELETE FROM users WHERE id = $1", "dora").await;
        let before = table::version(&store).await.unwrap();
        assert_eq!(disable(&store).await, ["dora"]);
        assert_eq!(disable(&store).await, [""; 0]);
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
        assert_eq!((row.is_enabled, row.disabled_because, row.author_state), (true, None, AuthorState::Unlimited));
        store.close().await;
    }
}

/// A definition runs with roles of its author, so it ends with them.
#[tokio::test]
async fn definitions_of_authors_without_their_roles_are_disabled() {
    const CAUSE: &str = "its author no longer has the role `fin`, with which it runs";
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(TABLES).open(&url, "", Duration::ZERO).await.unwrap();
        let steps = json!([{ "id": "pause", "type": "wait", "seconds": 1 }]);
        let trigger = json!({ "id": "t", "type": "cron", "cron": "* * * * *", "runAs": { "roles": ["fin"] } });
        let of_steps = json!({ "id": "steps", "runAs": { "roles": ["fin", "designer"] }, "steps": steps });
        let of_trigger =
            json!({ "id": "trigger", "runAs": { "roles": ["designer"] }, "triggers": [trigger], "steps": steps });
        let other = json!({ "id": "other", "runAs": { "roles": ["designer"] }, "steps": steps });
        execute(&store, INSERT_USER, "edith").await;
        let set_roles = async |roles: &'static str| {
            let change = sql::query("UPDATE users SET roles = $1 WHERE id = 'edith'").bind(roles);
            store.write(move |db| Box::pin(async move { Ok(change.execute(db).await?) })).await.unwrap();
        };
        set_roles(r#"["designer", "fin"]"#).await;
        for definition in [of_steps, of_trigger, other] {
            save_definition(&store, "edith", definition, None, true).await;
        }
        assert_eq!(disable(&store).await, [""; 0]);
        set_roles(r#"["admin"]"#).await;
        assert_eq!(disable(&store).await, [""; 0], "administrators may give any roles");
        set_roles(r#"["designer"]"#).await;
        assert!(unentitled(&store, false).await.unwrap().is_empty(), "without accounts, roles are not known here");
        assert_eq!(disable(&store).await, ["steps", "trigger"], "{url}");
        let row = table::find(&store, "trigger").await.unwrap().unwrap();
        assert_eq!(row.disabled_because.as_deref(), Some(CAUSE));
        assert_eq!(used(&store).await, ["other"]);
        execute(&store, "UPDATE users SET disabled_at = 2 WHERE id = $1", "edith").await;
        assert_eq!(used(&store).await, [""; 0], "whoever reads it meanwhile does not use it");
        assert_eq!(disable(&store).await, ["other"]);
        let row = table::find(&store, "other").await.unwrap().unwrap();
        assert_eq!(row.disabled_because.as_deref(), Some("its author, who is no administrator, was disabled"));
        store.close().await;
    }
}
