//! Files: ownership, quotas, and deletion of unused files.

use crate::support::{end, on_each_database, submission};
use bytes::Bytes;
use store::{BeginRun, BeginRunOutcome, CopyBranch, FileRow, NewFile, Store, StoreError};
use wire::UiMessage;

/// A quota that the tests never reach.
const PLENTY: u64 = 1 << 30;

fn new(id: &str, room: u64, now: i64) -> NewFile {
    NewFile { id: id.to_owned(), name: format!("{id}.txt"), reserved: room, now }
}

/// Uploads a file of Ada's completely.
async fn arrived(store: &Store, id: &str, now: i64) {
    assert!(store.begin_file("ada", new(id, 100, now), PLENTY).await.unwrap());
    store.add_piece("ada", id, 0, Bytes::from_static(b"one ")).await.unwrap();
    store.add_piece("ada", id, 1, Bytes::from_static(b"two")).await.unwrap();
    store.finish_file("ada", id, "text/plain", 7).await.unwrap();
}

/// Returns a message with this file.
fn with_file(key: &str, id: &str) -> UiMessage {
    let part = serde_json::json!({ "type": "file", "mediaType": "text/plain", "url": format!("/api/files/{id}") });
    let mut message = UiMessage::user(key, "Look at /api/files/f2");
    message.parts.push(serde_json::from_value(part).unwrap());
    message
}

/// Completes a turn of this owner whose message has this file.
async fn attach(store: &Store, owner: &str, conversation_id: &str, key: &str, file: &str) {
    let mut begin: BeginRun = submission(conversation_id, key, None, 1);
    begin.insert[0].message = with_file(key, file);
    let BeginRunOutcome::Started { epoch } = store.begin_run(owner, begin).await.unwrap() else { panic!("it starts") };
    store.finish_run(end(key, epoch, 1)).await.unwrap();
}

async fn has(store: &Store, id: &str) -> bool {
    store.file("ada", id).await.unwrap().is_some()
}

#[tokio::test]
async fn file_is_uploaded_in_pieces_and_private_to_its_owner() {
    on_each_database(async |store| {
        assert!(store.begin_file("ada", new("f", 100, 1), PLENTY).await.unwrap());
        store.add_piece("ada", "f", 0, Bytes::from_static(b"one ")).await.unwrap();
        assert!(!has(store, "f").await, "it is still arriving");
        assert_eq!(store.file_piece("ada", "f", 0).await.unwrap(), None);
        for owner in ["bob", "", "%", "ADA"] {
            let piece = store.add_piece(owner, "f", 1, Bytes::from_static(b"x")).await;
            assert_eq!(piece, Err(StoreError::NotFound), "{owner}");
            assert_eq!(store.finish_file(owner, "f", "text/html", 1).await, Err(StoreError::NotFound), "{owner}");
            assert!(!store.delete_unused_file(owner, "f").await.unwrap(), "{owner}");
        }
        store.add_piece("ada", "f", 1, Bytes::from_static(b"two")).await.unwrap();
        store.finish_file("ada", "f", "text/plain", 7).await.unwrap();
        let row =
            FileRow { id: "f".to_owned(), name: "f.txt".to_owned(), media_type: "text/plain".to_owned(), size: 7 };
        assert_eq!(store.file("ada", "f").await.unwrap(), Some(row));
        assert_eq!(store.file_piece("ada", "f", 1).await.unwrap().unwrap(), "two");
        assert_eq!(store.file_piece("ada", "f", 2).await.unwrap(), None);
        assert_eq!(store.add_piece("ada", "f", 2, Bytes::new()).await, Err(StoreError::NotFound), "it is whole");
        for owner in ["bob", "", "%", "ADA"] {
            assert_eq!(store.file(owner, "f").await.unwrap(), None, "{owner}");
            assert_eq!(store.file_piece(owner, "f", 0).await.unwrap(), None, "{owner}");
            assert!(!store.delete_unused_file(owner, "f").await.unwrap(), "{owner}");
        }
        assert!(store.delete_unused_file("ada", "f").await.unwrap());
        assert!(!store.delete_unused_file("ada", "f").await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn uploads_are_limited_by_a_quota_per_owner() {
    on_each_database(async |store| {
        assert!(store.begin_file("ada", new("a", 6_000, 1), 15_000).await.unwrap());
        // A small file counts as 4 KB.
        assert!(store.begin_file("ada", new("b", 1, 1), 15_000).await.unwrap());
        assert!(!store.begin_file("ada", new("c", 5_000, 1), 15_000).await.unwrap());
        assert!(store.begin_file("bob", new("d", 15_000, 1), 15_000).await.unwrap());
        // A completed upload counts with its real size, not with the reserved one.
        store.finish_file("ada", "a", "text/plain", 10).await.unwrap();
        assert!(store.begin_file("ada", new("c", 5_000, 1), 15_000).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn file_is_kept_while_a_message_uses_it() {
    on_each_database(async |store| {
        for id in ["f1", "f2", "f3"] {
            arrived(store, id, 10).await;
        }
        attach(store, "ada", "c", "m", "f1").await;
        // A message of another user does not use the file, nor does text that names it.
        attach(store, "bob", "b", "n", "f3").await;
        assert!(!store.delete_unused_file("ada", "f1").await.unwrap(), "it is in use");
        assert_eq!(store.purge_files(10, 100).await.unwrap(), 0, "none is old enough");
        assert_eq!(store.purge_files(11, 1).await.unwrap(), 1);
        assert_eq!(store.purge_files(11, 100).await.unwrap(), 1);
        assert_eq!((has(store, "f1").await, has(store, "f2").await, has(store, "f3").await), (true, false, false));

        // A copy uses the file, too; the file is deleted with the last conversation.
        let copy = CopyBranch {
            from: "c".to_owned(),
            to: "d".to_owned(),
            title: "Copy".to_owned(),
            messages: vec![with_file("m2", "f1")],
            now: 2,
        };
        store.copy_branch("ada", copy).await.unwrap();
        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert!(has(store, "f1").await);
        assert!(store.delete_conversation("ada", "d", Vec::new()).await.unwrap());
        assert!(!has(store, "f1").await);
    })
    .await;
}
