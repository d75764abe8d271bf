//! Wherever an id of another user is passed, it is treated like an unknown one, and nothing
//! changes.

use crate::support::{batch, begin, branch, end, journal, on_each_database, submission};
use serde_json::json;
use store::{BeginRunOutcome, CopyBranch, MoveFolderOutcome, SetBranch, StoreError, ToolCallState, ToolOutcome};
use wire::UiMessage;
use wire::change::{Feedback, Rating};
use wire::organize::{ConversationChange, Folder, ListFilter, MoveTo};

/// One change of each kind.
fn changes() -> Vec<ConversationChange> {
    let none = ConversationChange::default;
    vec![
        none(),
        ConversationChange { title: Some("mine".to_owned()), ..none() },
        ConversationChange { pinned: Some(true), ..none() },
        ConversationChange { archived: Some(true), ..none() },
        ConversationChange { folder_id: Some(MoveTo(Some("f".to_owned()))), ..none() },
        ConversationChange { folder_id: Some(MoveTo(None)), ..none() },
        ConversationChange { unread: Some(true), ..none() },
        ConversationChange { deleted: Some(true), ..none() },
        ConversationChange { deleted: Some(false), ..none() },
    ]
}

#[tokio::test]
async fn ids_of_another_user_are_treated_as_unknown() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 1).await;
        store.append_events(vec![batch("m", epoch, 1, 2)]).await.unwrap();
        store.tool_started("ada", "r-m", "call", "tool", &json!({}), 1).await.unwrap();
        let folder = Folder::new("f", "Work");
        assert!(store.add_folder("ada", folder.clone(), 1).await.unwrap());

        // The empty string and wildcards stand for owners that a careless query would match.
        for owner in ["bob", "", "%", "ADA", "ada ", "' OR 1=1 --"] {
            assert_eq!(store.conversations(owner, ListFilter::default(), 100, None).await.unwrap(), [], "{owner}");
            assert_eq!(store.conversation(owner, "c").await.unwrap(), None, "{owner}");
            for change in changes() {
                let changed = store.change_conversations(owner, vec!["c".to_owned()], change.clone(), 2).await;
                assert_eq!(changed, Err(StoreError::NotFound), "{owner}: {change:?}");
            }
            assert_eq!(store.search(owner, "text", 10, None).await.unwrap(), [], "{owner}");
            assert_eq!(store.folders(owner).await.unwrap(), [], "{owner}");
            assert!(!store.rename_folder(owner, "f", "mine").await.unwrap(), "{owner}");
            let moved = store.move_folder(owner, "f", None).await.unwrap();
            assert_eq!(moved, MoveFolderOutcome::Unknown, "{owner}");
            assert!(!store.delete_folder(owner, "f").await.unwrap(), "{owner}");
            assert!(!store.delete_conversation(owner, "c", Vec::new()).await.unwrap(), "{owner}");
            assert_eq!(store.messages(owner, "c").await.unwrap(), [], "{owner}");
            assert_eq!(store.branch(owner, "c").await.unwrap(), [], "{owner}");
            assert_eq!(store.events(owner, "r-m", 0, 10).await.unwrap(), [], "{owner}");
            assert_eq!(store.outline(owner, "c").await.unwrap(), [], "{owner}");
            assert_eq!(store.feedback(owner, "c").await.unwrap(), [], "{owner}");
            assert_eq!(store.run_of_message(owner, "c", "a-m").await.unwrap(), None, "{owner}");
            let head = SetBranch { head: "m".to_owned(), ..SetBranch::default() };
            assert_eq!(store.set_branch(owner, "c", head).await, Err(StoreError::NotFound), "{owner}");
            for feedback in [None, Some(Feedback { rating: Rating::Up, reason: None })] {
                let judged = store.set_feedback(owner, "c", "a-m", feedback, 2).await;
                assert_eq!(judged, Err(StoreError::NotFound), "{owner}");
            }
            let copy = CopyBranch {
                from: "c".to_owned(),
                to: "d".to_owned(),
                title: "mine".to_owned(),
                messages: vec![UiMessage::user("m", "mine")],
                now: 2,
            };
            assert_eq!(store.copy_branch(owner, copy).await, Err(StoreError::NotFound), "{owner}");
            let update = store.update_message(owner, "c", UiMessage::user("m", "mine"), Vec::new()).await;
            assert_eq!(update, Err(StoreError::NotFound), "{owner}: not even whether a run is active");
            for key in ["m", "other"] {
                let begun = store.begin_run(owner, submission("c", key, None, 2)).await;
                assert_eq!(begun, Err(StoreError::NotFound), "{owner}");
            }
            let started = store.tool_started(owner, "r-m", "call2", "tool", &json!({}), 2).await;
            assert_eq!(started, Err(StoreError::NotFound), "{owner}");
            let finished = store.tool_finished(owner, "r-m", "call", ToolOutcome::Error, 2, None).await;
            assert_eq!(finished, Err(StoreError::NotFound), "{owner}");
            assert_eq!(store.tool_call_state(owner, "c", "call").await.unwrap(), None, "{owner}");
        }

        begin(store, "d", "n", None, 1).await;
        let into =
            ConversationChange { folder_id: Some(MoveTo(Some("f".to_owned()))), ..ConversationChange::default() };
        let mut bobs = submission("b", "b", None, 1);
        bobs.run_id = "bobs".to_owned();
        store.begin_run("bob", bobs).await.unwrap();
        let moved = store.change_conversations("bob", vec!["b".to_owned()], into, 2).await;
        assert_eq!(moved, Err(StoreError::NotFound), "another's folder");
        let both = vec!["b".to_owned(), "c".to_owned()];
        let pin = ConversationChange { pinned: Some(true), ..ConversationChange::default() };
        assert_eq!(store.change_conversations("bob", both, pin, 2).await, Err(StoreError::NotFound), "all or none");
        assert!(!store.conversation("bob", "b").await.unwrap().unwrap().summary.pinned);

        assert_eq!(store.folders("ada").await.unwrap(), [folder]);
        let found = store.conversation("ada", "c").await.unwrap().unwrap();
        assert_eq!((found.summary.title.as_str(), found.summary.updated_at), ("title of m", 1));
        assert_eq!(branch(store, "c").await, "m=text of m | a-m");
        assert_eq!(journal(store, "m", 0, 10).await, "1-2");
        assert_eq!(store.tool_call_state("ada", "c", "call").await.unwrap(), Some(ToolCallState::Started));
        store.finish_run(end("m", epoch, 2)).await.unwrap();
        let update = store.update_message("bob", "c", UiMessage::user("m", "mine"), Vec::new()).await;
        assert_eq!(update, Err(StoreError::NotFound));
    })
    .await;
}

#[tokio::test]
async fn message_ids_and_keys_are_scoped_to_a_conversation() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 1).await;
        let mut bobs = submission("d", "m", None, 1);
        bobs.run_id = "bobs-run".to_owned();
        assert_eq!(store.begin_run("bob", bobs).await.unwrap(), BeginRunOutcome::Started { epoch: 1 });
        assert_eq!(store.conversations("ada", ListFilter::default(), 10, None).await.unwrap().len(), 1);
        assert_eq!(store.conversations("bob", ListFilter::default(), 10, None).await.unwrap().len(), 1);
        assert!(store.delete_conversation("bob", "d", Vec::new()).await.unwrap());
        assert_eq!(branch(store, "c").await, "m=text of m | a-m");
    })
    .await;
}
