//! The active branch, deleted messages that are restored or purged, and ratings, which are deleted
//! with their messages.

use crate::support::{begin, branch, connect_outside, execute, on_each_database, turn, url_in};
use store::{Deletion, SetBranch, Store, StoreError};
use wire::change::{Feedback, Rating};

async fn three_turns(store: &Store) {
    turn(store, "c", "m1", None, 1).await;
    turn(store, "c", "m2", Some("a-m1"), 2).await;
    turn(store, "c", "m3", Some("a-m2"), 3).await;
}

async fn set(store: &Store, head: &str, deletion: Option<Deletion>) -> Result<(), StoreError> {
    store.set_branch("ada", "c", SetBranch { head: head.to_owned(), deletion, ..SetBranch::default() }).await
}

fn deleted(message_id: &str, now: i64) -> Option<Deletion> {
    Some(Deletion::Delete { message_id: message_id.to_owned(), now })
}

async fn outline(store: &Store) -> String {
    let nodes = store.outline("ada", "c").await.unwrap();
    let show = |node: &store::MessageNode| format!("{}{}", node.id, if node.deleted { "!" } else { "" });
    nodes.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn deletion_can_be_undone_until_it_is_purged() {
    on_each_database(async |store| {
        three_turns(store).await;
        set(store, "a-m1", deleted("m2", 100)).await.unwrap();
        assert_eq!(branch(store, "c").await, "m1=text of m1 | a-m1=done m1");
        assert_eq!(outline(store).await, "m1 a-m1 m2! a-m2 m3 a-m3");
        assert_eq!(store.purge_deleted(100).await, Ok(0), "it can still be taken back");
        set(store, "", Some(Deletion::Restore { message_id: "m2".to_owned() })).await.unwrap();
        assert_eq!(store.conversation("ada", "c").await.unwrap().unwrap().head.as_deref(), Some("a-m3"));

        let like = Some(Feedback { rating: Rating::Up, reason: None });
        store.set_feedback("ada", "c", "a-m2", like, 1).await.unwrap();
        set(store, "a-m2", deleted("m3", 100)).await.unwrap();
        set(store, "a-m1", deleted("m2", 200)).await.unwrap();
        assert_eq!(store.purge_deleted(101).await, Ok(1));
        assert_eq!(outline(store).await, "m1 a-m1 m2! a-m2");
        assert_eq!(store.purge_deleted(201).await, Ok(1));
        assert_eq!(outline(store).await, "m1 a-m1");
        assert_eq!(store.feedback("ada", "c").await.unwrap(), []);
        let again = set(store, "", Some(Deletion::Restore { message_id: "m2".to_owned() })).await;
        assert_eq!(again, Err(StoreError::NotFound));
        turn(store, "c", "m4", Some("a-m1"), 4).await;
        assert_eq!(branch(store, "c").await, "m1=text of m1 | a-m1=done m1 | m4=text of m4 | a-m4=done m4");
    })
    .await;
}

#[tokio::test]
async fn branch_cannot_change_during_a_run() {
    on_each_database(async |store| {
        turn(store, "c", "m1", None, 1).await;
        begin(store, "c", "m2", Some("a-m1"), 2).await;
        assert_eq!(set(store, "a-m1", None).await, Err(StoreError::Busy));
        assert_eq!(set(store, "a-m1", deleted("m2", 3)).await, Err(StoreError::Busy));
        assert_eq!(outline(store).await, "m1 a-m1 m2 a-m2");
    })
    .await;
}

/// A deletion, a rating or a copy must not prevent the deletion of the conversation.
#[tokio::test]
async fn deleting_a_conversation_deletes_its_branch_data() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    three_turns(&store).await;
    let dislike = Some(Feedback { rating: Rating::Down, reason: Some("why".to_owned()) });
    store.set_feedback("ada", "c", "a-m1", dislike, 1).await.unwrap();
    set(&store, "a-m1", deleted("m2", 100)).await.unwrap();
    assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
    let mut db = connect_outside(&folder).await;
    for table in ["messages", "feedback", "deleted_messages", "runs"] {
        execute(&mut db, &format!("CREATE TEMP TABLE empty_{table} (n CHECK (n = 0)); INSERT INTO empty_{table} SELECT count(*) FROM {table}")).await;
    }
}
