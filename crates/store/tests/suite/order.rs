//! Pins, the archive, folders, unread marks, and deletion that can be undone.

use crate::support::{begin, branch, end, on_each_database, submission, turn};
use store::{ConversationToDelete, MAX_FOLDERS, MoveFolderOutcome, PrepareConversation, Store, StoreError};
use wire::UiMessage;
use wire::organize::{ConversationChange, Folder, ListFilter};

async fn change(store: &Store, ids: &str, json: &str) -> Result<(), StoreError> {
    let change: ConversationChange = serde_json::from_str(json).unwrap();
    store.change_conversations("ada", ids.split(' ').map(str::to_owned).collect(), change, 100).await
}

/// Returns the list as `id`, with `*` for pinned and `!` for unread, in pages of two.
async fn list(store: &Store, filter: &ListFilter) -> String {
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let rows = store.conversations("ada", filter.clone(), 2, cursor).await.unwrap();
        let Some(last) = rows.last().map(|row| row.summary.clone()) else { return ids.join(" ") };
        cursor = Some(store::ConversationCursor { pinned: last.pinned, updated_at: last.updated_at, id: last.id });
        for row in rows {
            let mark = |yes: bool, mark: &'static str| if yes { mark } else { "" };
            ids.push(format!("{}{}{}", row.summary.id, mark(row.summary.pinned, "*"), mark(row.summary.unread, "!")));
        }
    }
}

fn in_folder(id: &str) -> ListFilter {
    ListFilter { folder_id: Some(id.to_owned()), ..ListFilter::default() }
}

#[tokio::test]
async fn pinned_come_first_and_archived_are_listed_separately() {
    on_each_database(async |store| {
        for (id, now) in [("a", 10), ("b", 20), ("c", 30), ("d", 40)] {
            turn(store, id, &format!("m{id}"), None, now).await;
        }
        let (here, away) = (ListFilter::default(), ListFilter { archived: true, folder_id: None });
        change(store, "a b", r#"{"pinned":true}"#).await.unwrap();
        assert_eq!(list(store, &here).await, "b* a* d c");
        change(store, "a c", r#"{"archived":true}"#).await.unwrap();
        assert_eq!((list(store, &here).await, list(store, &away).await), ("b* d".to_owned(), "a* c".to_owned()));
        change(store, "a b c", r#"{"archived":false,"pinned":false}"#).await.unwrap();
        assert_eq!((list(store, &here).await, list(store, &away).await), ("d c b a".to_owned(), String::new()));
    })
    .await;
}

#[tokio::test]
async fn deleting_a_folder_keeps_its_conversations() {
    on_each_database(async |store| {
        for (id, now) in [("a", 10), ("b", 20), ("c", 30)] {
            turn(store, id, &format!("m{id}"), None, now).await;
        }
        let folder = |id: &str, name: &str| Folder::new(id, name);
        let counted = |id: &str, name: &str, count: u32| Folder { count, ..folder(id, name) };
        for (id, name) in [("g", "Zoo"), ("f", "apes")] {
            assert!(store.add_folder("ada", folder(id, name), 1).await.unwrap());
        }
        assert_eq!(store.folders("ada").await.unwrap(), [folder("f", "apes"), folder("g", "Zoo")]);
        change(store, "a c", r#"{"folderId":"f"}"#).await.unwrap();
        change(store, "b", r#"{"folderId":"g"}"#).await.unwrap();
        change(store, "c", r#"{"pinned":true}"#).await.unwrap();
        assert_eq!(list(store, &in_folder("f")).await, "c* a");
        assert_eq!(list(store, &ListFilter::default()).await, "c* b a");
        change(store, "c", r#"{"folderId":null}"#).await.unwrap();
        assert_eq!(list(store, &in_folder("f")).await, "a");
        assert!(store.rename_folder("ada", "g", "Birds").await.unwrap());
        assert!(store.delete_folder("ada", "f").await.unwrap());
        let used_at = store.conversation("ada", "b").await.unwrap().map(|found| found.summary.updated_at);
        assert_eq!(store.folders("ada").await.unwrap(), [Folder { used_at, ..counted("g", "Birds", 1) }]);
        assert_eq!(list(store, &ListFilter::default()).await, "c* b a", "a folder takes nothing along");
        assert_eq!(change(store, "a", r#"{"folderId":"f"}"#).await, Err(StoreError::NotFound));
        let more = (1..MAX_FOLDERS).map(|number| Folder::new(number.to_string(), "x"));
        for folder in more {
            assert!(store.add_folder("ada", folder, 2).await.unwrap());
        }
        assert!(!store.add_folder("ada", folder("last", "x"), 2).await.unwrap());
        assert!(store.add_folder("bob", folder("bobs", "x"), 2).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn folders_count_the_conversations_that_they_list() {
    on_each_database(async |store| {
        let mut used = Vec::new();
        for (id, now) in [("a", 10), ("b", 20), ("c", 30)] {
            turn(store, id, &format!("m{id}"), None, now).await;
            used.push(store.conversation("ada", id).await.unwrap().map(|found| found.summary.updated_at));
        }
        for id in ["f", "g"] {
            assert!(store.add_folder("ada", Folder::new(id, id), 1).await.unwrap());
        }
        let check = async |ids: &str, json: &str, expected: [(u32, Option<i64>); 2]| {
            change(store, ids, json).await.unwrap();
            let folders = store.folders("ada").await.unwrap();
            let found: Vec<_> = folders.iter().map(|folder| (folder.count, folder.used_at)).collect();
            assert_eq!(found, expected, "{ids} {json}");
        };
        check("a b c", r#"{"folderId":"f"}"#, [(3, used[2]), (0, None)]).await;
        check("b", r#"{"folderId":"g"}"#, [(2, used[2]), (1, used[1])]).await;
        check("c", r#"{"archived":true}"#, [(1, used[0]), (1, used[1])]).await;
        check("b", r#"{"deleted":true}"#, [(1, used[0]), (0, None)]).await;
        check("c", r#"{"archived":false}"#, [(2, used[2]), (0, None)]).await;
    })
    .await;
}

#[tokio::test]
async fn folders_are_listed_in_the_order_of_their_owner() {
    on_each_database(async |store| {
        for id in ["apes", "bees", "cats"] {
            assert!(store.add_folder("ada", Folder::new(id, id), 1).await.unwrap());
        }
        assert!(store.add_folder("bob", Folder::new("dogs", "dogs"), 1).await.unwrap());
        let check = async |owner: &str, ids: &[&str], done: Result<(), StoreError>, expected: &str| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(store.order_folders(owner, ids).await, done);
            let names: Vec<_> = store.folders("ada").await.unwrap().into_iter().map(|folder| folder.name).collect();
            assert_eq!(names.join(" "), expected);
        };
        check("ada", &["cats", "apes", "bees"], Ok(()), "cats apes bees").await;
        // Those that are not named come first.
        check("ada", &["bees", "apes"], Ok(()), "cats bees apes").await;
        check("ada", &["apes", "dogs"], Err(StoreError::NotFound), "cats bees apes").await;
        check("bob", &["apes"], Err(StoreError::NotFound), "cats bees apes").await;
        check("bob", &[], Ok(()), "cats bees apes").await;
        check("ada", &[], Ok(()), "apes bees cats").await;
    })
    .await;
}

#[tokio::test]
async fn folders_are_in_folders_of_their_owner() {
    on_each_database(async |store| {
        for (owner, ids) in [("ada", "abcd"), ("bob", "xy")] {
            for id in ids.chars().map(String::from) {
                assert!(store.add_folder(owner, Folder::new(id.as_str(), id.as_str()), 1).await.unwrap());
            }
        }
        let check = async |owner: &str, id: &str, parent: Option<&str>, done: MoveFolderOutcome, expected: &str| {
            assert_eq!(store.move_folder(owner, id, parent).await.unwrap(), done, "{owner}: {id} to {parent:?}");
            assert_eq!(tree(store, "ada").await, expected);
        };
        check("ada", "b", Some("a"), MoveFolderOutcome::Moved, "a b:a c d").await;
        check("ada", "c", Some("b"), MoveFolderOutcome::Moved, "a b:a c:b d").await;
        check("ada", "d", Some("c"), MoveFolderOutcome::TooDeep, "a b:a c:b d").await;
        check("ada", "a", Some("c"), MoveFolderOutcome::IntoItself, "a b:a c:b d").await;
        check("ada", "a", Some("x"), MoveFolderOutcome::Unknown, "a b:a c:b d").await;
        check("bob", "x", Some("a"), MoveFolderOutcome::Unknown, "a b:a c:b d").await;
        check("bob", "c", None, MoveFolderOutcome::Unknown, "a b:a c:b d").await;
        assert!(!store.delete_folder("bob", "b").await.unwrap());
        check("bob", "y", Some("x"), MoveFolderOutcome::Moved, "a b:a c:b d").await;
        let check_new = async |owner: &str, id: &str, new: &str, done: MoveFolderOutcome, expected: &str| {
            let moved = store.move_to_new_folder(owner, id, Folder::new(new, new), 1).await.unwrap();
            assert_eq!(moved, done, "{owner}: {id} to the new {new}");
            assert_eq!(tree(store, owner).await, expected);
        };
        check_new("ada", "a", "n", MoveFolderOutcome::TooDeep, "a b:a c:b d").await;
        check_new("ada", "x", "n", MoveFolderOutcome::Unknown, "a b:a c:b d").await;
        check_new("bob", "x", "z", MoveFolderOutcome::Moved, "x:z y:x z").await;
        for number in 3..MAX_FOLDERS {
            assert!(store.add_folder("bob", Folder::new(format!("bobs{number}"), "x"), 1).await.unwrap());
        }
        let full = tree(store, "bob").await;
        check_new("bob", "y", "w", MoveFolderOutcome::TooMany, &full).await;
        for number in 3..MAX_FOLDERS {
            assert!(store.delete_folder("bob", &format!("bobs{number}")).await.unwrap());
        }
        assert!(store.delete_folder("bob", "z").await.unwrap());
        // When a folder is deleted, its contents move to the folder around it.
        assert!(store.delete_folder("ada", "b").await.unwrap());
        check("ada", "d", Some("c"), MoveFolderOutcome::Moved, "a c:a d:c").await;
        check("ada", "d", None, MoveFolderOutcome::Moved, "a c:a d").await;
        assert!(store.delete_folder("ada", "a").await.unwrap());
        assert_eq!((tree(store, "ada").await, tree(store, "bob").await), ("c d".to_owned(), "x y:x".to_owned()));
    })
    .await;
}

/// Returns a user's folders, each with the one that it is in.
async fn tree(store: &Store, owner: &str) -> String {
    let place = |folder: Folder| match folder.parent_id {
        Some(parent) => format!("{}:{parent}", folder.id),
        None => folder.id,
    };
    store.folders(owner).await.unwrap().into_iter().map(place).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn finished_answer_is_unread_until_marked_read() {
    on_each_database(async |store| {
        let shown = async || list(store, &ListFilter::default()).await;
        let epoch = begin(store, "c", "m", None, 10).await;
        assert_eq!(shown().await, "c", "who asks has seen the question");
        store.finish_run(end("m", epoch, 20)).await.unwrap();
        assert_eq!(shown().await, "c!");
        change(store, "c", r#"{"unread":false}"#).await.unwrap();
        assert_eq!(shown().await, "c");
        change(store, "c", r#"{"unread":true}"#).await.unwrap();
        assert_eq!(shown().await, "c!");
        begin(store, "c", "n", Some("a-m"), 30).await;
        assert_eq!(shown().await, "c");
    })
    .await;
}

#[tokio::test]
async fn deleted_conversation_is_hidden_and_completely_restored() {
    on_each_database(async |store| {
        turn(store, "c", "m", None, 10).await;
        begin(store, "c", "n", Some("a-m"), 20).await;
        change(store, "c", r#"{"pinned":true}"#).await.unwrap();
        change(store, "c", r#"{"deleted":true}"#).await.unwrap();

        assert_eq!(store.conversation("ada", "c").await.unwrap(), None);
        assert_eq!(list(store, &ListFilter::default()).await, "");
        assert_eq!(branch(store, "c").await, "");
        assert_eq!(store.search("ada", "text", 10, None).await.unwrap(), []);
        let again = store.begin_run("ada", submission("c", "o", Some("a-m"), 30)).await;
        assert_eq!(again, Err(StoreError::NotFound));
        let update = store.update_message("ada", "c", UiMessage::user("m", "other"), Vec::new()).await;
        assert_eq!(update, Err(StoreError::NotFound));
        let started = store.tool_started("ada", "r-n", "call", "tool", &serde_json::json!({}), 30).await;
        assert_eq!(started, Err(StoreError::NotFound), "no effect after it");
        assert_eq!(change(store, "c", r#"{"pinned":false}"#).await, Err(StoreError::NotFound));
        assert_eq!(change(store, "c", r#"{"deleted":true}"#).await, Err(StoreError::NotFound));
        // An active run ends normally, so that nothing is missing after an undo.
        store.finish_run(end("n", 2, 40)).await.unwrap();

        assert_eq!(store.conversations_deleted_before(99, 10).await.unwrap(), []);
        let [owner, id, agent_id, head] = ["ada", "c", "agent", "a-n"].map(str::to_owned);
        let due = ConversationToDelete { owner, id, agent_id, head };
        assert_eq!(store.conversations_deleted_before(100, 10).await.unwrap(), [due]);
        change(store, "c", r#"{"deleted":false}"#).await.unwrap();
        assert_eq!(list(store, &ListFilter::default()).await, "c*!");
        assert_eq!(branch(store, "c").await, "m=text of m | a-m=done m | n=text of n | a-n=done n");
        assert_eq!(store.conversations_deleted_before(100, 10).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_prepared_conversation_gets_its_title_with_the_first_message() {
    on_each_database(async |store| {
        assert!(store.add_folder("ada", Folder::new("f", "Work"), 1).await.unwrap());
        let prepare = async |owner: &str, id: &str, model: Option<&str>, now: i64| {
            let prepare = PrepareConversation {
                id: id.to_owned(),
                page_id: "p".to_owned(),
                agent_id: "helper".to_owned(),
                title: "New conversation".to_owned(),
                folder_id: "f".to_owned(),
                model_id: model.map(str::to_owned),
                now,
            };
            store.prepare_conversation(owner, prepare).await
        };
        assert_eq!(prepare("bob", "b", None, 2).await, Err(StoreError::NotFound), "it is not his folder");
        assert_eq!(prepare("ada", "a", None, 2).await.unwrap(), "a");
        assert_eq!(prepare("ada", "b", Some("deep"), 3).await.unwrap(), "a", "the empty one is used");
        let found = store.conversation("ada", "a").await.unwrap().unwrap();
        let summary = &found.summary;
        assert_eq!((summary.title.as_str(), summary.folder_id.as_deref()), ("New conversation", Some("f")));
        assert_eq!((found.model_id.as_deref(), found.head.as_deref(), summary.unread), (Some("deep"), Some(""), false));
        assert_eq!(store.branch("ada", "a").await.unwrap(), []);
        turn(store, "a", "m", None, 4).await;
        let title = async || store.conversation("ada", "a").await.unwrap().unwrap().summary.title;
        let first = title().await;
        assert_ne!(first, "New conversation");
        assert_eq!(prepare("ada", "b", None, 5).await.unwrap(), "b", "the other one has begun");
        // A title that the user has set stays.
        change(store, "b", r#"{"title":"Mine"}"#).await.unwrap();
        turn(store, "b", "n", None, 6).await;
        assert_eq!(store.conversation("ada", "b").await.unwrap().unwrap().summary.title, "Mine");
        assert_eq!(title().await, first);
        assert_eq!(list(store, &in_folder("f")).await, "b a");
        assert_eq!(store.folders("ada").await.unwrap()[0].count, 2);
        change(store, "a", r#"{"archived":true}"#).await.unwrap();
        assert_eq!(store.folders("ada").await.unwrap()[0].count, 1);
    })
    .await;
}
