use super::*;

/// Acknowledged writes survive a power failure only if every connection has these settings.
#[tokio::test]
async fn every_connection_has_the_required_settings() {
    let folder = tempfile::tempdir().unwrap();
    let claimant = Claimant { about: String::new(), timeout: Duration::ZERO };
    let database =
        open(&format!("sqlite://{}/chat.db", folder.path().display()), &claimant, Schema::default()).await.unwrap();
    let check = |read_only: bool| {
        move |db: &mut Db| -> Result<String, StoreError> {
            let Some(db) = db.as_local() else { panic!("a file has connections of its own") };
            assert_settings(db, read_only)?;
            assert_eq!(db.number("PRAGMA synchronous")?, SYNCHRONOUS_FULL);
            let written = db.run("DELETE FROM conversations");
            Ok(written.map_or_else(|error| error.to_string(), |()| "written".to_owned()))
        }
    };
    let ReadConnections::Sqlite(readers) = database.readers else { panic!("a file has readers") };
    // Several reads, so that all readers are likely to be used.
    for _ in 0..4 * READERS {
        let refused = readers.run(move |db| Box::pin(async move { check(true)(db) })).await.unwrap();
        assert!(refused.contains("readonly"), "{refused}");
    }
    assert_eq!(database.writer.run(move |db| Box::pin(async move { check(false)(db) })).await.unwrap(), "written");
}

#[tokio::test]
async fn weaker_setting_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let place = OpenTarget { path: folder.path().join("a"), is_file: true, claim: None };
    let mut first = connect(&file_options().filename(&place.path).create_if_missing(true)).await.unwrap();
    let check = |settings: &str, expected: &str| {
        let opened = place.open_with(&format!("{SETTINGS}; {settings}"), false).unwrap();
        assert_eq!(assert_settings(&opened, false).unwrap_err().to_string(), expected);
    };
    check("PRAGMA synchronous = NORMAL", "`PRAGMA synchronous` is 1 instead of 2");
    check("PRAGMA foreign_keys = OFF", "`PRAGMA foreign_keys` is 0 instead of 1");
    check("PRAGMA busy_timeout = 0", "`PRAGMA busy_timeout` is 0 instead of 5000");
    check("PRAGMA query_only = ON", "`PRAGMA query_only` is 1 instead of 0");
    assert_eq!(assert_journal(&mut first).await, Ok(()));
    let mut other = connect(&base_options().filename(folder.path().join("b")).create_if_missing(true)).await.unwrap();
    let refused = assert_journal(&mut other).await.unwrap_err();
    assert_eq!(refused.to_string(), "its journal mode is `delete`; the file system does not support WAL");
}

/// A new database begins with the baseline instead of the older migrations, and must not differ from one that was
/// migrated step by step.
#[tokio::test]
async fn baseline_equals_the_migrations() {
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str| base_options().filename(folder.path().join(name)).create_if_missing(true);
    let mut migrated = connect(&create("migrated")).await.unwrap();
    MIGRATOR.run(&mut migrated).await.unwrap();
    let mut new = connect(&create("new")).await.unwrap();
    migrate(&mut new, Schema::default()).await.unwrap();
    assert_eq!(content(&mut new).await, content(&mut migrated).await);
}

/// Returns what migrations leave: the statements of all tables, indexes and triggers, the numbers of their rows, the
/// settings of the search, and the recorded migrations.
async fn content(connection: &mut SqliteConnection) -> Vec<String> {
    let mut content = Vec::new();
    for statement in [
        "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY type, name",
        "SELECT k || ' ' || v FROM search_config ORDER BY k",
        "SELECT version || ' ' || description || ' ' || hex(checksum) FROM _sqlx_migrations ORDER BY version",
    ] {
        content.extend(sqlx::query_scalar::<_, String>(statement).fetch_all(&mut *connection).await.unwrap());
    }
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    for table in sqlx::query_scalar::<_, String>(tables).fetch_all(&mut *connection).await.unwrap() {
        let count = sqlx::AssertSqlSafe(format!("SELECT '{table} ' || count(*) FROM \"{table}\""));
        content.push(sqlx::query_scalar(count).fetch_one(&mut *connection).await.unwrap());
    }
    content
}
