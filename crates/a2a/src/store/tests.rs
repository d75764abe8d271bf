//! Tests of the tables.

use super::*;
use ::store::{BeginRun, BeginRunOutcome, Deletion, FinishRun, Schema, SetBranch};
use std::time::Duration;
use wire::api::Outcome;
use wire::{EndReason, Role, UiMessage};

const ALL_TABLES: [CapabilityTables; 1] = [TABLES];

/// Stores a turn that begins at `now`, and the task of its answer; it ends one later, unless it is still running.
pub(crate) async fn turn(
    store: &Store,
    owner: &str,
    conversation: &str,
    id: &str,
    parent: Option<&str>,
    end: Option<EndReason>,
    now: i64,
) {
    let answer = UiMessage::new(format!("a-{id}"), Role::Assistant);
    let parent = parent.map(|parent| format!("a-{parent}"));
    let run_id = format!("r-{conversation}-{id}");
    let begin_run = BeginRun {
        page_id: String::new(),
        submission_key: format!("message:{id}"),
        now,
        lease_until: now + 1_000,
        ..test_store::begin_run(conversation, parent.as_deref(), UiMessage::user(id, "Hi"), (&answer.id, &run_id))
    };
    let begun = store.begin_run(owner, begin_run).await.unwrap();
    let BeginRunOutcome::Started { epoch } = begun else { panic!("{id}") };
    let new = NewTask { id: answer.id.clone(), conversation_id: conversation.to_owned(), message_id: id.to_owned() };
    for new in [new.clone(), new] {
        begin(store, owner, "helper", new, now).await.unwrap();
    }
    let Some(reason) = end else { return };
    let finish = FinishRun {
        run_id,
        epoch,
        status: reason.outcome(),
        reason,
        message: answer,
        usage: None,
        error: None,
        now: now + 1,
        title: None,
        audit: Vec::new(),
        steps: Vec::new(),
    };
    assert_ne!(finish.status, Outcome::Interrupted);
    store.finish_run(finish).await.unwrap();
}

fn all() -> Filter {
    Filter { conversation_id: None, state: None, updated_since: 0 }
}

/// Returns the ids and states of tasks in the list, and how many there are.
async fn listed(store: &Store, owner: &str, filter: Filter, after: Option<Cursor>, most: i64) -> String {
    let (rows, count) = page(store, owner, "helper", filter, after, most).await.unwrap();
    let rows: Vec<_> = rows.iter().map(|row| format!("{} {} {}", row.id, name(&row.state), row.updated_at)).collect();
    format!("{} of {count}", rows.join(", "))
}

#[tokio::test]
async fn tasks_are_found_by_their_owner_and_agent() {
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
        turn(&store, "ada", "c", "m1", None, Some(EndReason::Done), 10).await;
        turn(&store, "ada", "c", "m2", Some("m1"), Some(EndReason::Waiting), 20).await;
        turn(&store, "ada", "d", "m3", None, Some(EndReason::MaxSteps), 30).await;
        turn(&store, "ada", "d", "m4", Some("m3"), None, 31).await;
        turn(&store, "eve", "e", "e1", None, Some(EndReason::StoppedByUser), 50).await;

        assert_eq!(
            listed(&store, "ada", all(), None, 9).await,
            "a-m4 working 31, a-m3 failed 31, a-m2 waiting 21, a-m1 done 11 of 4"
        );
        assert_eq!(listed(&store, "eve", all(), None, 9).await, "a-e1 stopped 51 of 1");
        assert_eq!(listed(&store, "ada", all(), None, 1).await, "a-m4 working 31 of 4");
        let after = Some(Cursor { updated_at: 31, id: "a-m4".to_owned() });
        assert_eq!(listed(&store, "ada", all(), after, 2).await, "a-m3 failed 31, a-m2 waiting 21 of 4");
        let check = async |filter: Filter, expected: &str| {
            assert_eq!(listed(&store, "ada", filter, None, 9).await, expected);
        };
        check(Filter { conversation_id: Some("c".to_owned()), ..all() }, "a-m2 waiting 21, a-m1 done 11 of 2").await;
        check(Filter { state: Some(TaskState::Completed), ..all() }, "a-m1 done 11 of 1").await;
        check(Filter { state: Some(TaskState::Rejected), ..all() }, " of 0").await;
        check(Filter { updated_since: 31, ..all() }, "a-m4 working 31, a-m3 failed 31 of 2").await;

        let found = async |owner: &str, agent: &str, id: &str| one(&store, owner, agent, id).await.unwrap().is_some();
        assert!(found("ada", "helper", "a-m1").await);
        for (owner, agent, id) in [("eve", "helper", "a-m2"), ("ada", "other", "a-m1"), ("ada", "helper", "m1")] {
            assert!(!found(owner, agent, id).await, "{owner} {agent} {id}");
        }
        let known = async |owner: &str, id: &str| message(&store, owner, "helper", id).await.unwrap();
        let begun = |task: &str| Some(KnownMessage { task_id: task.to_owned(), answers: None });
        assert_eq!((known("ada", "m2").await, known("eve", "m2").await), (begun("a-m2"), None));
        let answered = |id: &str| KnownMessage { task_id: "a-m2".to_owned(), answers: Some(vec![id.to_owned()]) };
        for id in ["q1", "q2"] {
            answer(&store, "ada", "helper", "yes", answered(id)).await.unwrap();
        }
        assert_eq!(known("ada", "yes").await, Some(answered("q1")));

        // A deleted message is not found, with all that follows it, until it is restored.
        let change = async |deletion: Deletion| {
            let branch = SetBranch { deletion: Some(deletion), ..SetBranch::default() };
            store.set_branch("ada", "c", branch).await.unwrap();
        };
        change(Deletion::Delete { message_id: "m2".to_owned(), now: 60 }).await;
        assert!(found("ada", "helper", "a-m1").await && !found("ada", "helper", "a-m2").await);
        change(Deletion::Restore { message_id: "m2".to_owned() }).await;
        assert!(found("ada", "helper", "a-m2").await);
        change(Deletion::Delete { message_id: "m2".to_owned(), now: 60 }).await;
        store.purge_deleted(i64::MAX).await.unwrap();
        assert_eq!((known("ada", "m2").await, known("ada", "yes").await), (None, None));
        assert!(known("ada", "m1").await.is_some());
    }
}

#[test]
fn cursors_are_parsed() {
    let check = |text: &str, fits: bool| {
        let cursor = Cursor::parse(text);
        assert_eq!(cursor.as_ref().map(Cursor::to_string).as_deref(), fits.then_some(text));
    };
    check("5.a-1", true);
    check("-5.a", true);
    check("5.", false);
    check("x.a", false);
    check("5.a b", false);
    check("5", false);
}
