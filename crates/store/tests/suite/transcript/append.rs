//! Messages that the server adds without a run.

use crate::support::{begin, branch, end, on_each_database, turn};
use store::{AddMessages, AlsoWrite, AppendMessage, NewMessage, Store, StoreError};
use wire::UiMessage;
use wire::organize::{ConversationChange, ListFilter};

/// Adds the message `key` as a user, and sets the title of the conversation in the same transaction.
async fn append(store: &Store, owner: &str, conversation_id: &str, key: &str, now: i64) -> Result<(), StoreError> {
    let message = UiMessage::user(key, format!("text of {key}"));
    let append = AppendMessage { conversation_id: conversation_id.to_owned(), message, now };
    let (id, title) = (conversation_id.to_owned(), format!("written with {key}"));
    let known = store.conversation("ada", "c").await?;
    let before = known.map(|known| known.summary.title).unwrap_or_default();
    let also: AlsoWrite =
        Box::new(move |db| Box::pin(async move { store::set_generated_title(db, "ada", &id, &before, &title).await }));
    store.append_message(owner, append, also).await
}

async fn title(store: &Store) -> String {
    store.conversation("ada", "c").await.unwrap().unwrap().summary.title
}

#[tokio::test]
async fn message_continues_the_active_branch_and_marks_the_conversation() {
    on_each_database(async |store| {
        turn(store, "c", "m", None, 10).await;
        turn(store, "d", "n", None, 20).await;
        let read = ConversationChange { unread: Some(false), ..ConversationChange::default() };
        store.change_conversations("ada", vec!["c".to_owned()], read, 25).await.unwrap();
        append(store, "ada", "c", "result", 30).await.unwrap();
        assert_eq!(branch(store, "c").await, "m=text of m | a-m=done m | result=text of result");
        let rows = store.conversations("ada", ListFilter::default(), 10, None).await.unwrap();
        let seen: Vec<_> = rows.iter().map(|row| (row.summary.id.as_str(), row.summary.unread)).collect();
        assert_eq!(seen, [("c", true), ("d", false)]);
        assert_eq!((rows[0].summary.updated_at, title(store).await), (30, "written with result".to_owned()));
        // The next turn goes on from it.
        turn(store, "c", "next", Some("result"), 40).await;
        assert!(branch(store, "c").await.ends_with("result=text of result | next=text of next | a-next=done next"));
    })
    .await;
}

#[tokio::test]
async fn repetition_adds_nothing_but_writes_what_belongs_to_it() {
    on_each_database(async |store| {
        turn(store, "c", "m", None, 10).await;
        append(store, "ada", "c", "result", 20).await.unwrap();
        turn(store, "c", "next", Some("result"), 30).await;
        let before = branch(store, "c").await;
        append(store, "ada", "c", "result", 40).await.unwrap();
        assert_eq!(branch(store, "c").await, before);
        assert_eq!(title(store).await, "written with result");
    })
    .await;
}

#[tokio::test]
async fn refused_message_writes_nothing() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 10).await;
        let check = async |owner: &str, id: &str, expected: StoreError| {
            let before = (branch(store, "c").await, title(store).await);
            assert_eq!(append(store, owner, id, "result", 20).await, Err(expected), "{owner}, {id}");
            assert_eq!((branch(store, "c").await, title(store).await), before, "{owner}, {id}");
        };
        check("ada", "c", StoreError::Busy).await;
        store.finish_run(end("m", epoch, 15)).await.unwrap();
        check("eve", "c", StoreError::NotFound).await;
        check("ada", "unknown", StoreError::NotFound).await;
        // An error of what is written beside it undoes the message.
        let message = UiMessage::user("result", "text");
        let append = AppendMessage { conversation_id: "c".to_owned(), message, now: 20 };
        let also: AlsoWrite = Box::new(|_| Box::pin(std::future::ready(Err(StoreError::Fenced))));
        assert_eq!(store.append_message("ada", append, also).await, Err(StoreError::Fenced));
        assert_eq!(branch(store, "c").await, "m=text of m | a-m=done m");
    })
    .await;
}

/// Adds a message of the user with an answer of the server.
async fn add(
    store: &Store,
    (owner, id, key): (&str, &str, &str),
    parent: Option<&str>,
    fails: bool,
) -> Result<(), StoreError> {
    let answer = UiMessage { role: wire::Role::Assistant, ..UiMessage::user(format!("a-{key}"), "started") };
    let add = AddMessages {
        conversation_id: id.to_owned(),
        page_id: "page".to_owned(),
        agent_id: "agent".to_owned(),
        title: "A workflow".to_owned(),
        insert: vec![
            NewMessage { parent_id: parent.map(str::to_owned), message: UiMessage::user(key, "/start") },
            NewMessage { parent_id: Some(key.to_owned()), message: answer },
        ],
        now: 50,
    };
    let outcome = if fails { Err(StoreError::Full) } else { Ok(()) };
    store.add_messages(owner, add, Box::new(move |_| Box::pin(std::future::ready(outcome)))).await
}

#[tokio::test]
async fn messages_of_the_user_create_or_continue_a_conversation() {
    on_each_database(async |store| {
        add(store, ("ada", "c", "one"), None, false).await.unwrap();
        assert_eq!(branch(store, "c").await, "one=/start | a-one=started");
        add(store, ("ada", "c", "two"), Some("a-one"), false).await.unwrap();
        // A run goes on from there.
        turn(store, "c", "next", Some("a-two"), 60).await;
        assert!(
            branch(store, "c").await.ends_with("two=/start | a-two=started | next=text of next | a-next=done next")
        );
        add(store, ("ada", "c", "three"), Some("a-next"), false).await.unwrap();
        let found = store.conversation("ada", "c").await.unwrap().unwrap().summary;
        assert_eq!((found.title.as_str(), found.unread, found.updated_at), ("A workflow", false, 60));
    })
    .await;
}

#[tokio::test]
async fn refused_messages_of_the_user_leave_nothing() {
    on_each_database(async |store| {
        assert_eq!(add(store, ("ada", "new", "one"), None, true).await, Err(StoreError::Full));
        assert_eq!(store.conversation("ada", "new").await.unwrap(), None);
        let epoch = begin(store, "c", "m", None, 10).await;
        let check = async |owner: &str, fails: bool, expected: StoreError| {
            assert_eq!(add(store, (owner, "c", "one"), Some("a-m"), fails).await, Err(expected), "{owner}");
            assert_eq!(store.messages("ada", "c").await.unwrap().len(), 2, "{owner}");
        };
        check("ada", false, StoreError::Busy).await;
        store.finish_run(end("m", epoch, 15)).await.unwrap();
        check("eve", false, StoreError::NotFound).await;
        check("ada", true, StoreError::Full).await;
    })
    .await;
}

/// A job that generates a title may end, or be repeated by another server, after a hook or the user has
/// named the conversation.
#[tokio::test]
async fn generated_title_replaces_only_the_one_that_was_there_before() {
    on_each_database(async |store| {
        turn(store, "c", "m", None, 10).await;
        let set = async |before: &'static str, generated: &'static str| {
            let set = store.write(move |db| {
                Box::pin(async move { store::set_generated_title(db, "ada", "c", before, generated).await })
            });
            set.await.unwrap();
            title(store).await
        };
        let first: &'static str = title(store).await.leak();
        assert_eq!(set("another", "generated").await, first);
        assert_eq!(set(first, "generated").await, "generated");
        assert_eq!(set(first, "generated late").await, "generated");
    })
    .await;
}
