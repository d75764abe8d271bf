//! The files of queued messages.

use super::*;
use ::store::NewFile;

/// Returns a message with files.
fn with_files(id: &str, files: &[&str]) -> serde_json::Value {
    let file = |id: &&str| json!({ "type": "file", "mediaType": "text/plain", "url": format!("/api/files/{id}") });
    let parts: Vec<_> = files.iter().map(file).collect();
    json!({ "id": id, "role": "user", "parts": parts })
}

async fn put_files(store: &Store, id: &str, files: &[&str]) {
    let content = with_files(id, files).to_string();
    let outcome = put(store, "ada", "c", NewQueued { content, ..new(id, "") }).await.unwrap();
    assert_eq!(outcome, PutOutcome::Queued);
}

async fn add_files(store: &Store, ids: &[&str]) {
    for id in ids {
        let file = NewFile { id: (*id).to_owned(), name: (*id).to_owned(), reserved: 1, now: 1 };
        assert!(store.begin_file("ada", file, 1 << 20).await.unwrap());
        store.finish_file("ada", id, "text/plain", 1).await.unwrap();
    }
}

#[tokio::test]
async fn files_of_queued_messages_are_not_deleted() {
    on_each_database(async |store| {
        done(store, &Turn { conversation: "c", key: "m", after: None, epoch: 1 }).await;
        add_files(store, &["first", "second", "unused"]).await;
        // The second file is added by a change of the message.
        put_files(store, "q", &["first"]).await;
        put_files(store, "q", &["first", "second"]).await;
        let check = async |id: &str, is_deleted: bool| {
            assert_eq!(store.delete_unused_file("ada", id).await.unwrap(), is_deleted, "{id}");
        };
        check("first", false).await;
        check("second", false).await;
        check("unused", true).await;
    })
    .await;
}

#[tokio::test]
async fn files_are_released_with_their_last_message() {
    on_each_database(async |store| {
        done(store, &Turn { conversation: "c", key: "m", after: None, epoch: 1 }).await;
        let all = ["own", "shared", "sent", "changed"];
        add_files(store, &all).await;
        let check = async |expected: &[&str]| {
            let mut kept = Vec::new();
            for id in all {
                kept.extend(store.file("ada", id).await.unwrap().map(|_| id));
            }
            assert_eq!(kept, expected);
        };
        put_files(store, "q1", &["own", "shared"]).await;
        put_files(store, "q2", &["shared", "sent", "changed"]).await;
        check(&all).await;
        assert_eq!(removed(store, "ada", "q1").await, RemoveOutcome::Removed);
        check(&["shared", "sent", "changed"]).await;
        put_files(store, "q2", &["shared", "sent"]).await;
        check(&["shared", "sent"]).await;

        // Files of messages in the conversation stay, even after another message with the same files was removed.
        let sent = serde_json::from_value(with_files("q2", &["shared", "sent"])).unwrap();
        let next = Turn { conversation: "c", key: "q2", after: Some("a-m"), epoch: 2 };
        turn_with(store, &next, sent, (Outcome::Done, EndReason::Done)).await;
        assert!(list(store, "ada", "c").await.unwrap().is_empty());
        check(&["shared", "sent"]).await;
        put_files(store, "q3", &["sent"]).await;
        assert_eq!(removed(store, "ada", "q3").await, RemoveOutcome::Removed);
        check(&["shared", "sent"]).await;
        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        check(&[]).await;
    })
    .await;
}
