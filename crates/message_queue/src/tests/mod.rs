//! Tests of the store, on SQLite and, if it is installed, on PostgreSQL.

mod files;
mod kill;

use crate::message::checked;
use crate::sender::{pause, reserved};
use crate::store::{
    DueMessage, MAX_QUEUED, NewQueued, PutOutcome, QueuedMessage, RemoveOutcome, TABLES, claim, extend, forget, is_own,
    list, next_due, postpone, put, refuse, remove,
};
use ::store::sql;
use ::store::{BeginRun, BeginRunOutcome, FinishRun, Store};
use serde_json::json;
use std::time::Duration;
use web::times::now_millis;
use wire::api::Outcome;
use wire::{EndReason, Role, UiMessage};

/// The interval at which the tests extend a reservation.
const EVERY: Duration = Duration::from_millis(10);

/// Runs a test with each kind of database.
async fn on_each_database(test: impl AsyncFn(&Store)) {
    test_store::on_each_database(&[TABLES], test).await;
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
    turn_with(store, turn, UiMessage::user(turn.key, "Hello"), (outcome, reason)).await;
}

/// Like [`turn`], with a message of its own.
async fn turn_with(store: &Store, turn: &Turn<'_>, message: UiMessage, (outcome, reason): (Outcome, EndReason)) {
    let answer = UiMessage::new(format!("a-{}", turn.key), Role::Assistant);
    let run_id = format!("r-{}-{}", turn.conversation, turn.key);
    let begin = test_store::begin_run(turn.conversation, turn.after, message, (&answer.id, &run_id));
    let begin = BeginRun { lease_until: 15_000, ..begin };
    if let BeginRunOutcome::Duplicate { active: false, .. } = store.begin_run("ada", begin).await.unwrap() {
        return;
    }
    let finish = FinishRun {
        run_id,
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

/// Removes a message at the time 10.
async fn removed(store: &Store, user: &str, id: &str) -> RemoveOutcome {
    remove(store, user, "c", id, 10).await.unwrap()
}

/// Returns the message that is due at the time 10.
async fn first_due(store: &Store) -> DueMessage {
    next_due(store, 10, 10).await.unwrap().unwrap()
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

        assert_eq!(removed(store, "bob", "q1").await, RemoveOutcome::Gone);
        assert_eq!(removed(store, "ada", "q1").await, RemoveOutcome::Removed);
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
        let again = first_due(store).await;
        postpone(store, again.clone(), 30).await.unwrap();
        assert_eq!((due(store, 29).await, due(store, 30).await.as_deref()), (None, Some("q1")));
        assert_eq!(next_due(store, 10, 30).await.unwrap().unwrap().attempts, 1);
        refuse(store, again, "The agent is gone.").await.unwrap();
        assert_eq!(due(store, 30).await, None);
        assert_eq!(list(store, "ada", "c").await.unwrap()[0].refusal.as_deref(), Some("The agent is gone."));
        put(store, "ada", "c", new("q1", "Changed")).await.unwrap();
        assert_eq!(first_due(store).await.attempts, 0, "a change is a new attempt");

        // The row is deleted when the message is sent, no matter by whom, and even while a tab edits it.
        put(store, "ada", "c", NewQueued { held_until: 1_000, ..new("q1", "Edited again") }).await.unwrap();
        done(store, &Turn { conversation: "c", key: "q1", after: Some("a-m2"), epoch: 3 }).await;
        assert_eq!(texts(&list(store, "ada", "c").await.unwrap()), ["q2"]);
        assert_eq!(due(store, 10).await.as_deref(), Some("q2"));
    })
    .await;
}

/// If the user edits a message while a server begins to send it, the transaction that is stored first takes effect.
#[tokio::test]
async fn a_message_is_either_edited_or_sent() {
    on_each_database(async |store| {
        done(store, &Turn { conversation: "c", key: "m", after: None, epoch: 1 }).await;
        let put_at = async |new: NewQueued, now: i64| put(store, "ada", "c", NewQueued { now, ..new }).await.unwrap();
        assert_eq!(put_at(new("q1", "Old"), 5).await, PutOutcome::Queued);
        // After the message was found to be due, an edit begins or ends, it is removed, or another server sends it.
        let mut due_before = first_due(store).await;
        assert_eq!(put_at(NewQueued { held_until: 20, ..new("q1", "Old") }, 10).await, PutOutcome::Queued);
        assert!(!claim(store, &mut due_before, 60, 10).await.unwrap(), "it is being edited");
        assert_eq!(put_at(new("q1", "New"), 10).await, PutOutcome::Queued);
        assert!(!claim(store, &mut due_before, 60, 10).await.unwrap(), "it has another text");
        let mut edited = first_due(store).await;
        assert!(claim(store, &mut edited, 60, 10).await.unwrap());
        assert!(!claim(store, &mut edited, 60, 10).await.unwrap(), "another server sends it");
        assert_eq!(due(store, 59).await, None);

        // Nothing can change it while it is being sent.
        assert_eq!(put_at(NewQueued { held_until: 90, ..new("q1", "Too late") }, 10).await, PutOutcome::Sending);
        assert_eq!(removed(store, "ada", "q1").await, RemoveOutcome::Sending);
        assert_eq!(removed(store, "bob", "q1").await, RemoveOutcome::Gone);
        assert_eq!(texts(&list(store, "ada", "c").await.unwrap()), ["New"]);
        postpone(store, edited.clone(), 30).await.unwrap();
        assert_eq!(put_at(new("q1", "Newer"), 10).await, PutOutcome::Queued);
        assert!(!claim(store, &mut edited, 60, 30).await.unwrap());
        // The reservation of a killed server ends after a limited time.
        let mut newer = first_due(store).await;
        assert!(claim(store, &mut newer, 60, 10).await.unwrap());
        assert_eq!(put_at(new("q1", "After the kill"), 60).await, PutOutcome::Queued);
        let mut last = first_due(store).await;
        assert!(claim(store, &mut last, 60, 10).await.unwrap());
        refuse(store, last, "The agent is gone.").await.unwrap();
        assert_eq!(put_at(new("q1", "Again"), 10).await, PutOutcome::Queued);

        let mut again = first_due(store).await;
        assert!(claim(store, &mut again, 60, 10).await.unwrap());
        done(store, &Turn { conversation: "c", key: "q1", after: Some("a-m"), epoch: 2 }).await;
        assert_eq!(put_at(new("q1", "It is sent"), 10).await, PutOutcome::Sent);
        assert_eq!(removed(store, "ada", "q1").await, RemoveOutcome::Removed);
        assert_eq!(put_at(new("q2", "Next"), 5).await, PutOutcome::Queued);
        forget(store, first_due(store).await).await.unwrap();
        assert!(list(store, "ada", "c").await.unwrap().is_empty());
    })
    .await;
}

/// An agent whose properties are computed by slow endpoints accepts a message late.
#[tokio::test]
async fn a_message_is_reserved_for_as_long_as_it_is_being_sent() {
    on_each_database(async |store| {
        done(store, &Turn { conversation: "c", key: "m", after: None, epoch: 1 }).await;
        assert_eq!(put(store, "ada", "c", new("q1", "One")).await.unwrap(), PutOutcome::Queued);
        let mut sent = first_due(store).await;
        let later = NewQueued { now: now_millis() + 30_000, ..new("q1", "One") };
        let change = async || put(store, "ada", "c", later.clone()).await.unwrap();
        let send = async |sent: &mut DueMessage| {
            reserved(store, sent, tokio::time::sleep(Duration::from_millis(50)), EVERY).await;
        };
        assert!(claim(store, &mut sent, 11, 10).await.unwrap());
        send(&mut sent).await;
        assert_eq!(change().await, PutOutcome::Sending);

        // A reservation that has ended is not extended.
        postpone(store, sent.clone(), 0).await.unwrap();
        send(&mut sent).await;
        assert_eq!(change().await, PutOutcome::Queued);
    })
    .await;
}

/// A database that fails for a moment ends neither the sending nor the reservation.
#[tokio::test]
async fn a_reservation_is_extended_after_the_database_failed() {
    on_each_database(async |store| {
        done(store, &Turn { conversation: "c", key: "m", after: None, epoch: 1 }).await;
        let next = new("q2", "Two");
        for new in [new("q1", "One"), next.clone()] {
            assert_eq!(put(store, "ada", "c", new).await.unwrap(), PutOutcome::Queued);
        }
        let mut sent = first_due(store).await;
        let mut other = DueMessage { message_id: next.message_id, content: next.content, ..sent.clone() };
        assert!(claim(store, &mut sent, 11, 10).await.unwrap());
        assert!(claim(store, &mut other, 1_001, 10).await.unwrap());
        let sending = async {
            // The extension fails, because the other message has a late end, too.
            alter(store, "CREATE UNIQUE INDEX one_late ON queued_messages ((sending_until > 1000))").await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            alter(store, "DROP INDEX one_late").await;
            while due(store, now_millis() + 30_000).await.is_some() {
                tokio::time::sleep(EVERY).await;
            }
            "sent"
        };
        let outcome = tokio::time::timeout(Duration::from_secs(30), reserved(store, &mut sent, sending, EVERY)).await;
        assert_eq!(outcome, Ok("sent"));
    })
    .await;
}

async fn alter(store: &Store, change: &'static str) {
    let write = store.write(move |db| Box::pin(async move { Ok(sql::query(change).execute(db).await.map(drop)?) }));
    write.await.unwrap();
}

/// A server that was halted for longer than its reservation does not change that of another server.
#[tokio::test]
async fn a_reservation_is_ended_only_by_the_server_that_has_it() {
    on_each_database(async |store| {
        done(store, &Turn { conversation: "c", key: "m", after: None, epoch: 1 }).await;
        assert_eq!(put(store, "ada", "c", new("q1", "One")).await.unwrap(), PutOutcome::Queued);
        let found = first_due(store).await;
        let mut halted = found.clone();
        assert!(claim(store, &mut halted, 60, 10).await.unwrap());
        let mut other = next_due(store, 10, 60).await.unwrap().unwrap();
        assert!(claim(store, &mut other, 120, 60).await.unwrap());

        let check = async |mut late: DueMessage| {
            assert!(!extend(store, &mut late, 500).await.unwrap(), "{late:?}");
            postpone(store, late.clone(), 70).await.unwrap();
            refuse(store, late.clone(), "Too late.").await.unwrap();
            let attempts = next_due(store, 10, 120).await.unwrap().map(|due| due.attempts);
            let refusal = list(store, "ada", "c").await.unwrap().remove(0).refusal;
            assert_eq!((due(store, 119).await, attempts, refusal), (None, Some(0), None), "{late:?}");
        };
        check(halted).await;
        check(found).await;
        assert!(extend(store, &mut other, 130).await.unwrap());
        assert_eq!((due(store, 129).await, due(store, 130).await.as_deref()), (None, Some("q1")));
        postpone(store, other, 140).await.unwrap();
        let before = next_due(store, 10, 140).await.unwrap().unwrap();
        assert_eq!(before.attempts, 1);

        // Without a reservation, the message and the choices of the composer are compared.
        let choices = r#"{"pageId":"other"}"#.to_owned();
        put(store, "ada", "c", NewQueued { choices, ..new("q1", "One") }).await.unwrap();
        refuse(store, before, "Of the other page.").await.unwrap();
        assert_eq!(list(store, "ada", "c").await.unwrap()[0].refusal, None);
    })
    .await;
}

#[test]
fn attempts_have_growing_pauses_and_an_end() {
    let pauses: Vec<_> = (0..).map_while(pause).map(|pause| pause / 1_000).collect();
    assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 600, 600, 600]);
    assert_eq!(pause(i64::MAX - 1), None);
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
