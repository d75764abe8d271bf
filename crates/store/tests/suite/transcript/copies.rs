//! Imported conversations, and links to shared copies.

use crate::support::{begin, branch, end, on_each_database, turn};
use store::{ImportedConversation, ImportedMessage, MAX_SHARES, StoreError};
use wire::UiMessage;
use wire::organize::{ConversationChange, Share};

fn share(id: &str, created_at: i64) -> Share {
    Share { id: id.to_owned(), created_at }
}

#[tokio::test]
async fn imported_conversation_can_be_continued() {
    on_each_database(async |store| {
        let message = |id: &str, parent: Option<&str>| ImportedMessage {
            parent_id: parent.map(str::to_owned),
            created_at: 5,
            message: UiMessage::user(id, format!("text of {id}")),
        };
        let new = |id: &str, messages| ImportedConversation {
            id: id.to_owned(),
            page_id: "page".to_owned(),
            agent_id: "agent".to_owned(),
            title: "Title".to_owned(),
            head: "b".to_owned(),
            created_at: 5,
            now: 9,
            messages,
        };
        let tree = vec![message("a", None), message("b", Some("a")), message("c", Some("a"))];
        store.import_conversation("ada", new("n", tree.clone())).await.unwrap();
        assert_eq!(branch(store, "n").await, "a=text of a | b=text of b");
        assert_eq!(store.messages("ada", "n").await.unwrap().len(), 3);
        assert_eq!(store.search("ada", "\"of c\"", 9, None).await.unwrap().len(), 1);
        turn(store, "n", "m", Some("b"), 20).await;
        assert_eq!(branch(store, "n").await, "a=text of a | b=text of b | m=text of m | a-m=done m");
        assert!(matches!(store.import_conversation("bob", new("n", tree)).await, Err(StoreError::Invalid(_))));
        let orphan = store.import_conversation("ada", new("o", vec![message("b", Some("x"))])).await;
        assert!(matches!(orphan, Err(StoreError::Invalid(_))));
        assert_eq!(store.conversation("ada", "o").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn shared_copy_is_readable_until_it_is_unshared() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 1).await;
        store.finish_run(end("m", epoch, 2)).await.unwrap();
        for owner in ["bob", "", "%"] {
            assert!(!store.share(owner, "c", share("s", 3), "{}".to_owned()).await.unwrap(), "{owner}");
        }
        for (id, at) in [("s", 3), ("t", 4)] {
            assert!(store.share("ada", "c", share(id, at), format!("copy {id}")).await.unwrap());
        }
        assert_eq!(store.shares("ada", "c").await.unwrap(), [share("t", 4), share("s", 3)]);
        assert_eq!(store.shares("bob", "c").await.unwrap(), []);
        assert_eq!(store.shared("s").await.unwrap().as_deref(), Some("copy s"));
        assert!(!store.unshare("bob", "s").await.unwrap());
        assert!(store.unshare("ada", "s").await.unwrap());
        assert_eq!(store.shared("s").await.unwrap(), None);
        let deleted = |deleted| ConversationChange { deleted: Some(deleted), ..ConversationChange::default() };
        store.change_conversations("ada", vec!["c".to_owned()], deleted(true), 9).await.unwrap();
        assert_eq!(store.shared("t").await.unwrap(), None, "a deleted conversation is nowhere to be read");
        store.change_conversations("ada", vec!["c".to_owned()], deleted(false), 9).await.unwrap();
        for number in 1..MAX_SHARES {
            assert!(store.share("ada", "c", share(&format!("n{number}"), 5), String::new()).await.unwrap());
        }
        assert!(!store.share("ada", "c", share("last", 6), String::new()).await.unwrap());
        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert_eq!(store.shared("t").await.unwrap(), None);
    })
    .await;
}
