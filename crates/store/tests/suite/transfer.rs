//! Transfers of all data from one database to another, of either kind.

use crate::support::{OutsideConnection, batch, begin, branch, end, journal, turn, url_in};
use bytes::Bytes;
use std::collections::BTreeMap;
use store::{NewFile, NewSecondFactor, NewUser, Schema, SecondFactorChange, Store, UsageFilter};
use wire::UiMessage;
use wire::change::{Feedback, Rating};

/// Fills nearly every table, including difficult cases: damaged texts, texts with a NUL, an active
/// run, numbers of rows that were deleted.
async fn furnish(url: &str) {
    let store = Store::open(url).await.unwrap();
    for number in 0..70 {
        turn(&store, &format!("c{number:02}"), &format!("m{number}"), None, number).await;
    }
    begin(&store, "open", "open", None, 100).await;
    store.append_events(vec![batch("open", 1, 1, 3), batch("open", 1, 4, 9)]).await.unwrap();
    let rating = Feedback { rating: Rating::Up, reason: Some("Überweisung".to_owned()) };
    store.set_feedback("ada", "c00", "a-m0", Some(rating), 5).await.unwrap();
    let file = NewFile { id: "file".to_owned(), name: "notes.txt".to_owned(), reserved: 9, now: 1 };
    assert!(store.begin_file("ada", file, 1 << 20).await.unwrap());
    store.add_piece("ada", "file", 0, Bytes::from_static(&[0, 1, 2, 255])).await.unwrap();
    store.finish_file("ada", "file", "text/plain", 4).await.unwrap();
    let user = NewUser {
        id: "u".to_owned(),
        name: "Ada".to_owned(),
        name_key: "ada".to_owned(),
        password: "hash".to_owned(),
        must_change_password: false,
        roles: vec!["admin".to_owned()],
        now: 1,
    };
    store.add_user(user, true, None).await.unwrap();
    let new = NewSecondFactor { secret: "sealed".to_owned(), step: 7, recovery_codes: vec!["r".to_owned()] };
    let app = SecondFactorChange::Set { new, replaced: None, session_id: String::new() };
    assert!(store.change_second_factor(("u", "hash"), app, 1, None).await.unwrap());
    store.get_or_create_secret("key", vec![0, 255]).await.unwrap();
    store.update_message("ada", "c01", UiMessage::user("m1", "a\u{0}b"), Vec::new()).await.unwrap();
    store.close().await;
}

/// Checks the data after the transfer, and that writing continues.
async fn check(url: &str) {
    let store = Store::open(url).await.unwrap();
    assert_eq!(branch(&store, "c00").await, "m0=text of m0 | a-m0=done m0");
    assert_eq!(branch(&store, "c01").await, "m1=a\u{0}b | a-m1=done m1");
    assert_eq!(journal(&store, "open", 3, 9).await, "4-9");
    let found = store.search("ada", "m33", 10, None).await.unwrap();
    assert_eq!(found.iter().map(|found| found.conversation.id.as_str()).collect::<Vec<_>>(), ["c33"]);
    assert_eq!(store.search("ada", "done", 51, None).await.unwrap().len(), 51);
    assert_eq!(store.file_piece("ada", "file", 0).await.unwrap().unwrap(), Bytes::from_static(&[0, 1, 2, 255]));
    let app = store.second_factor("u").await.unwrap().unwrap();
    assert_eq!((app.secret.as_str(), app.last_step, app.recovery_codes), ("sealed", 7, vec!["r".to_owned()]));
    assert_eq!(store.find_secret("key").await.unwrap(), Some(vec![0, 255]));
    let used = store.total_usage(&UsageFilter::days(0, 10)).await.unwrap();
    assert_eq!((used.messages, used.users), (71, 1), "nothing is counted twice");
    let open = store.take_over_runs().await.unwrap();
    assert_eq!(open.len(), 1);
    store.finish_run(end("open", 1, 200)).await.unwrap();
    // Row numbers continue, and triggers work.
    turn(&store, "new", "new", None, 300).await;
    assert_eq!(store.search("ada", "new", 10, None).await.unwrap().len(), 1);
    assert_eq!(store.total_usage(&UsageFilter::days(0, 10)).await.unwrap().messages, 72);
    assert!(store.delete_conversation("ada", "new", Vec::new()).await.unwrap());
    store.close().await;
}

fn rows(moved: &[store::TransferredTable]) -> BTreeMap<&str, (u64, &str)> {
    moved.iter().map(|moved| (moved.table, (moved.rows, moved.sha256.as_str()))).collect()
}

#[tokio::test]
async fn everything_is_transferred_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let (file, back) = (url_in(&folder), format!("sqlite://{}/back.db", folder.path().display()));
    furnish(&file).await;
    let copy = format!("sqlite://{}/copy.db", folder.path().display());
    let moved = Schema::default().transfer(&file, &copy, false).await.unwrap();
    assert_eq!(rows(&moved)["messages"].0, 142);
    check(&copy).await;
    let refused = Schema::default().transfer(&file, &copy, false).await.unwrap_err().to_string();
    assert_eq!(refused, "the target is not empty");
    assert_eq!(rows(&Schema::default().transfer(&file, &copy, true).await.unwrap()), rows(&moved));

    let Some(server) = test_postgres::new_database().await else { return };
    assert_eq!(rows(&Schema::default().transfer(&file, &server, false).await.unwrap()), rows(&moved));
    assert_eq!(rows(&Schema::default().transfer(&server, &back, false).await.unwrap()), rows(&moved));
    check(&back).await;
    check(&server).await;

    let refused = Schema::default().transfer(&file, &server, false).await.unwrap_err().to_string();
    assert_eq!(refused, "the target is not empty");
    let serving = Store::open(&server).await.unwrap();
    serving.heartbeat(std::time::Duration::from_secs(15)).await.unwrap();
    let refused = Schema::default().transfer(&file, &server, true).await.unwrap_err().to_string();
    assert_eq!(refused, "a server serves the target; stop it first");
    serving.leave().await.unwrap();
    serving.close().await;
    Schema::default().transfer(&file, &server, true).await.unwrap();
    check(&server).await;
}

/// A copy of a database on a server is a SQLite file, which can be restored into either kind.
#[tokio::test]
async fn postgres_is_copied_into_a_sqlite_file() {
    let Some(server) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    furnish(&server).await;
    let file = folder.path().join("a b%20?.db");
    Schema::default().copy_from_url(&server, &file).await.unwrap();
    assert!(Store::inspect(&file).await.unwrap().schema >= 12);
    let Some(other) = test_postgres::new_database().await else { return };
    let moved = Schema::default().restore(&file, &other, false).await.unwrap();
    assert_eq!(rows(&moved)["runs"].0, 71);
    check(&other).await;
}

/// Text in a file that PostgreSQL cannot store is replaced, and does not prevent the transfer.
#[tokio::test]
async fn damaged_texts_are_transferred_with_replacements() {
    let Some(server) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = url_in(&folder);
    furnish(&file).await;
    let mut outsider = OutsideConnection::connect(&file).await;
    outsider.execute("UPDATE conversations SET title = 'nul' || char(0) || 'byte' WHERE id = 'c00'").await;
    outsider.execute("UPDATE messages SET body = CAST(X'ff00fe' AS TEXT) WHERE id = 'm2'").await;
    Schema::default().transfer(&file, &server, false).await.unwrap();
    let store = Store::open(&server).await.unwrap();
    let titled = store.conversation("ada", "c00").await.unwrap().unwrap().summary.title;
    assert_eq!(titled, "nul\u{fffd}byte");
    assert_eq!(store.messages("ada", "c02").await.unwrap().len(), 2);
}
