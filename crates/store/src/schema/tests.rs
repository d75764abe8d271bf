use super::*;
use crate::migrations;

const NOTES: CapabilityTables = CapabilityTables {
    capability: "notes",
    migrations: &[
        Migration {
            name: "notes",
            sqlite: "CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY) STRICT",
            postgres: "CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY)",
        },
        Migration {
            name: "lists",
            sqlite: "CREATE TABLE lists (id TEXT NOT NULL PRIMARY KEY) STRICT",
            postgres: "CREATE TABLE lists (id TEXT NOT NULL PRIMARY KEY)",
        },
    ],
    tables: &[],
    user_deletion: &[],
    sqlite_baseline: None,
};

const SCHEMA: Schema = Schema::new(&[NOTES]);
const WITH_ANOTHER_CAPABILITY: Schema = Schema::new(&[NOTES, CapabilityTables { capability: "others", ..NOTES }]);

/// Changes what the database records, and returns whether it is then seen as migrated.
async fn is_migrated_after(store: &Store, schema: Schema, change: &'static str) -> bool {
    let found = store.write(move |db| {
        Box::pin(async move {
            sql::query(change).execute(&mut *db).await?;
            let core = if db.is_postgres() { migrations::postgres() } else { migrations::sqlite() };
            schema.is_migrated(&core, db).await
        })
    });
    found.await.unwrap()
}

#[tokio::test]
async fn database_is_migrated_if_it_records_exactly_the_migrations() {
    let folder = tempfile::tempdir().unwrap();
    let mut urls = vec![format!("sqlite://{}", folder.path().join("chat.db").display())];
    urls.extend(test_postgres::new_database().await);
    for url in urls {
        let store = SCHEMA.open(&url, "", Duration::ZERO).await.unwrap();
        for (schema, change, expected) in [
            (SCHEMA, "UPDATE _notes_migrations SET success = TRUE", true),
            // A capability that is new, and one that was left out.
            (WITH_ANOTHER_CAPABILITY, "UPDATE _notes_migrations SET success = TRUE", false),
            (Schema::default(), "UPDATE _notes_migrations SET success = TRUE", true),
            // A migration that has failed.
            (SCHEMA, "UPDATE _notes_migrations SET success = FALSE WHERE version = 2", false),
            (SCHEMA, "UPDATE _notes_migrations SET success = TRUE", true),
            // One that is missing, and one that this version does not know.
            (SCHEMA, "UPDATE _notes_migrations SET version = 3 WHERE version = 2", false),
            (SCHEMA, "UPDATE _notes_migrations SET version = 2 WHERE version = 3", true),
            // Another one with its number.
            (
                SCHEMA,
                "UPDATE _sqlx_migrations SET checksum = (SELECT checksum FROM _notes_migrations WHERE version = 1)
                 WHERE version = 12",
                false,
            ),
        ] {
            assert_eq!(is_migrated_after(&store, schema, change).await, expected, "{change}");
        }
        store.close().await;
    }
}
