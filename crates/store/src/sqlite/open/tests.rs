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
