//! Tests of the store, on SQLite and, if it is installed, on PostgreSQL.

mod kill;

use crate::message::checked;
use crate::store::{
    MAX_QUEUED, NewQueued, PutOutcome, QueuedMessage, TABLES, hold, is_own, list, next_due, put, refuse, remove,
};
use ::store::{BeginRun, BeginRunOutcome, FinishRun, NewFile, NewMessage, Schema, Store};
use serde_json::json;
use std::time::Duration;
use wire::api::Outcome;
use wire::{EndReason, Role, UiMessage};

/// Runs a test with each kind of database.
async fn on_each_database(test: impl AsyncFn(&Store)) {
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(&[TABLES]).open(&url, "", Duration::ZERO).await.unwrap();
        test(&store).await;
        store.close().await;
    }
}

/// A turn of a conversation of Ada.
struct Turn<'a> {
    conversation: &'a str,
    /// The id of the user's message.
    key: &'a str,
    /// The id of the answer before it.
    after: Option<&'a str>,
    /// Counts the turns of the conversation from 1.
    epoch: u64,
}

/// Stores a message with an answer that ends at the time 10, unless the turn was stored before.
async fn turn(store: &Store, turn: &Turn<'_>, outcome: Outcome, reason: EndReason) {
    let answer = UiMessage::new(format!("a-{}", turn.key), Role::Assistant);
    let parent_id = turn.after.map(str::to_owned);
    let begin = BeginRun {
        conversation_id: turn.conversation.to_owned(),
        page_id: "p".to_owned(),
        agent_id: "helper".to_owned(),
        title: "Talk".to_owned(),
        submission_key: turn.key.to_owned(),
        message_id: answer.id.clone(),
        insert: vec![
            NewMessage { parent_id, message: UiMessage::user(turn.key, "Hello") },
            NewMessage { parent_id: Some(turn.key.to_owned()), message: answer.clone() },
        ],
        update: Vec::new(),
        run_id: format!("r-{}-{}", turn.conversation, turn.key),
        now: 1,
        lease_until: 15_000,
        audit: Vec::new(),
        grants: Vec::new(),
    };
    if let BeginRunOutcome::Duplicate { active: false, .. } = store.begin_run("ada", begin).await.unwrap() {
        return;
    }
    let finish = FinishRun {
        run_id: format!("r-{}-{}", turn.conversation, turn.key),
        epoch: turn.epoch,
        status: outcome,
        reason,
        message: answer,
        usage: None,
        error: None,
        now: 10,
        title: None,
        audit: Vec::new(),
        steps: Vec::new(),
    };
    store.finish_run(finish).await.unwrap();
}

async fn done(store: &Store, of: &Turn<'_>) {
    turn(store, of, Outcome::Done, EndReason::Done).await;
}

/// Returns a message that was added at the time 5.
fn new(id: &str, text: &str) -> NewQueued {
    NewQueued {
        message_id: id.to_owned(),
        content: serde_json::to_string(&UiMessage::user(id, text)).unwrap(),
        choices: "{}".to_owned(),
        needs_page: false,
        held_until: 0,
        now: 5,
    }
}

fn texts(queue: &[QueuedMessage]) -> Vec<String> {
    let text = |queued: &QueuedMessage| serde_json::from_str::<UiMessage>(&queued.content).unwrap().text();
    queue.iter().map(text).collect()
}

/// Returns the id of the message that is due at a time, with all that was added and has ended by 10.
async fn due(store: &Store, now: i64) -> Option<String> {
    next_due(store, 10, now).await.unwrap().map(|due| due.message_id)
}

#[tokio::test]
async fn a_queue_keeps_its_order_and_belongs_to_the_owner_of_the_conversation() {
    on_each_database(async |store| {
        done(store, &Turn { conversation: "c", key: "m", after: None, epoch: 1 }).await;
        let check = async |user: &str, conversation: &str, new: NewQueued, expected: PutOutcome| {
            let id = new.message_id.clone();
            assert_eq!(put(store, user, conversation, new).await.unwrap(), expected, "{user} {conversation} {id}");
        };
        check("ada", "c", new("q1", "One"), PutOutcome::Queued).await;
        check("ada", "c", new("q2", "Two"), PutOutcome::Queued).await;
        check("bob", "c", new("q3", "Three"), PutOutcome::Gone).await;
        check("ada", "other", new("q3", "Three"), PutOutcome::Gone).await;
        check("ada", "c", new("m", "It is in the conversation"), PutOutcome::Sent).await;
        check("ada", "c", new("q1", "First"), PutOutcome::Queued).await;
        assert_eq!(texts(&list(store, "ada", "c").await.unwrap()), ["First", "Two"]);
        assert!(list(store, "bob", "c").await.unwrap().is_empty());
        assert!(is_own(store, "ada", "c").await.unwrap() && !is_own(store, "bob", "c").await.unwrap());

        assert!(!remove(store, "bob", "c", "q1").await.unwrap());
        assert!(remove(store, "ada", "c", "q1").await.unwrap());
        assert_eq!(texts(&list(store, "ada", "c").await.unwrap()), ["Two"]);
        for number in 1..MAX_QUEUED {
            check("ada", "c", new(&format!("more-{number}"), "More"), PutOutcome::Queued).await;
        }
        check("ada", "c", new("last", "Too many"), PutOutcome::Full).await;
        check("ada", "c", new("q2", "Changed"), PutOutcome::Queued).await;
        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert!(list(store, "ada", "c").await.unwrap().is_empty());
        assert_eq!(due(store, 10).await, None);
    })
    .await;
}

#[tokio::test]
async fn the_first_message_is_due_after_an_answer_that_ended_well() {
    on_each_database(async |store| {
        let first = Turn { conversation: "c", key: "m", after: None, epoch: 1 };
        turn(store, &first, Outcome::Stopped, EndReason::StoppedByUser).await;
        for id in ["q1", "q2"] {
            assert_eq!(put(store, "ada", "c", new(id, id)).await.unwrap(), PutOutcome::Queued);
        }
        assert_eq!(due(store, 10).await, None, "the answer was stopped");
        done(store, &Turn { conversation: "c", key: "m2", after: Some("a-m"), epoch: 2 }).await;
        assert_eq!(due(store, 10).await.as_deref(), Some("q1"));
        assert!(next_due(store, 9, 10).await.unwrap().is_none(), "the answer has only just ended");

        put(store, "ada", "c", NewQueued { held_until: 20, ..new("q1", "Edited") }).await.unwrap();
        assert_eq!(due(store, 19).await, None, "it is being edited, and the next one comes after it");
        let found = next_due(store, 10, 20).await.unwrap().unwrap();
        assert_eq!((found.message_id.as_str(), found.answer_id.as_str()), ("q1", "a-m2"));
        put(store, "ada", "c", NewQueued { needs_page: true, ..new("q1", "Of a page") }).await.unwrap();
        assert_eq!(due(store, 20).await, None);

        put(store, "ada", "c", new("q1", "Again")).await.unwrap();
        let again = next_due(store, 10, 10).await.unwrap().unwrap();
        hold(store, again.clone(), 30).await.unwrap();
        assert_eq!((due(store, 29).await, due(store, 30).await.as_deref()), (None, Some("q1")));
        refuse(store, again, "The agent is gone.").await.unwrap();
        assert_eq!(due(store, 30).await, None);
        assert_eq!(list(store, "ada", "c").await.unwrap()[0].refusal.as_deref(), Some("The agent is gone."));
        put(store, "ada", "c", new("q1", "Changed")).await.unwrap();
        assert_eq!(due(store, 10).await.as_deref(), Some("q1"), "a change is a new attempt");

        // The row is deleted with the message, by whomever it is sent, also while a tab edits it.
        put(store, "ada", "c", NewQueued { held_until: 1_000, ..new("q1", "Edited again") }).await.unwrap();
        done(store, &Turn { conversation: "c", key: "q1", after: Some("a-m2"), epoch: 3 }).await;
        assert_eq!(texts(&list(store, "ada", "c").await.unwrap()), ["q2"]);
        assert_eq!(due(store, 10).await.as_deref(), Some("q2"));
    })
    .await;
}

#[tokio::test]
async fn files_of_queued_messages_are_not_deleted() {
    on_each_database(async |store| {
        done(store, &Turn { conversation: "c", key: "m", after: None, epoch: 1 }).await;
        for id in ["first", "second", "unused"] {
            let file = NewFile { id: id.to_owned(), name: id.to_owned(), reserved: 1, now: 1 };
            assert!(store.begin_file("ada", file, 1 << 20).await.unwrap());
            store.finish_file("ada", id, "text/plain", 1).await.unwrap();
        }
        // The second file is added by a change of the message.
        for id in ["first", "second"] {
            let part = json!({ "type": "file", "mediaType": "text/plain", "url": format!("/api/files/{id}") });
            let content = json!({ "id": "q", "role": "user", "parts": [part] }).to_string();
            let outcome = put(store, "ada", "c", NewQueued { content, ..new("q", "") }).await.unwrap();
            assert_eq!(outcome, PutOutcome::Queued);
        }
        let check = async |id: &str, is_deleted: bool| {
            assert_eq!(store.delete_unused_file("ada", id).await.unwrap(), is_deleted, "{id}");
        };
        check("first", false).await;
        check("second", false).await;
        check("unused", true).await;
    })
    .await;
}

#[test]
fn only_messages_of_the_user_with_a_content_are_accepted() {
    let check = |message: serde_json::Value, id: &str, expected: Option<&str>| {
        let problem = checked(message.clone(), id).err();
        assert_eq!(problem.as_ref().and_then(|problem| problem.path.as_deref()), expected, "{message} {id}");
    };
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let file = json!([{ "type": "file", "mediaType": "text/plain", "url": "/api/files/f" }]);
    check(json!({ "id": "q", "role": "user", "parts": text("Hi") }), "q", None);
    check(json!({ "id": "q", "role": "user", "parts": file }), "q", None);
    check(json!({ "id": "q", "role": "user", "parts": text(" ") }), "q", Some("/message/parts"));
    check(json!({ "id": "q", "role": "assistant", "parts": text("Hi") }), "q", Some("/message/role"));
    check(json!({ "id": "other", "role": "user", "parts": text("Hi") }), "q", Some("/message/id"));
    check(json!({ "id": "q/", "role": "user", "parts": text("Hi") }), "q/", Some("/message/id"));
    check(json!("Hi"), "q", Some("/message"));
}
