//! Opening a run once, ending it once, and recovery after a crash.

use crate::support::{begin, branch, end, on_each_database, submission, turn};
use store::{BeginRun, BeginRunOutcome, FinishRun, NewMessage, OpenRun, Store, StoreError};
use wire::api::Outcome;
use wire::{Role, UiMessage};

/// The same submission, sent fifty times concurrently, starts one run, and all callers get its id.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_equal_submissions_start_one_run() {
    on_each_database(async |store| {
        let tasks = (0..50).map(|number| {
            let store = store.clone();
            let begin = BeginRun { run_id: format!("run-{number}"), ..submission("c", "m", None, 1) };
            tokio::spawn(async move { (begin.run_id.clone(), store.begin_run("ada", begin).await.unwrap()) })
        });
        let (mut started, mut duplicates) = (Vec::new(), Vec::new());
        for done in futures::future::join_all(tasks).await {
            match done.unwrap() {
                (run_id, BeginRunOutcome::Started { epoch: 1 }) => started.push(run_id),
                (_, BeginRunOutcome::Duplicate { run_id, message_id, active: true }) if message_id == "a-m" => {
                    duplicates.push(run_id)
                }
                begun => panic!("{begun:?}"),
            }
        }
        assert_eq!((started.len(), duplicates.len()), (1, 49));
        assert!(duplicates.iter().all(|run_id| *run_id == started[0]));
        assert_eq!(store.messages("ada", "c").await.unwrap().len(), 2);
        assert_eq!(store.open_runs().await.unwrap().len(), 1);
    })
    .await;
}

/// Fifty different submissions, sent concurrently in one conversation, start one run, and 49
/// callers get the id of the active run.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conversation_has_at_most_one_active_run() {
    on_each_database(async |store| {
        let tasks = (0..50).map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                store.begin_run("ada", submission("c", &format!("m{number}"), None, 1)).await.unwrap()
            })
        });
        let begun: Vec<_> = futures::future::join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        let active = store.conversation("ada", "c").await.unwrap().unwrap().active_run.unwrap().id;
        assert_eq!(begun.iter().filter(|begun| matches!(begun, BeginRunOutcome::Started { .. })).count(), 1);
        assert_eq!(
            begun.iter().filter(|begun| **begun == BeginRunOutcome::Busy { run_id: active.clone() }).count(),
            49
        );
        assert_eq!(store.messages("ada", "c").await.unwrap().len(), 2, "the refused ones left nothing");
    })
    .await;
}

#[tokio::test]
async fn each_run_of_a_conversation_has_a_higher_epoch() {
    on_each_database(async |store| {
        assert_eq!(begin(store, "c", "m1", None, 1).await, 1);
        store.finish_run(end("m1", 1, 1)).await.unwrap();
        assert_eq!(begin(store, "c", "m2", Some("a-m1"), 2).await, 2);
        assert_eq!(begin(store, "d", "m3", None, 2).await, 1);
        // A submission that was answered before is still recognized.
        let again = store.begin_run("ada", submission("c", "m1", None, 3)).await.unwrap();
        assert_eq!(
            again,
            BeginRunOutcome::Duplicate { run_id: "r-m1".to_owned(), message_id: "a-m1".to_owned(), active: false }
        );
        // The same key in another conversation is another submission.
        let mut other = submission("e", "m1", None, 3);
        other.run_id = "r-other".to_owned();
        assert_eq!(store.begin_run("ada", other).await.unwrap(), BeginRunOutcome::Started { epoch: 1 });
    })
    .await;
}

/// A submission that contradicts the stored messages is refused as a whole.
#[tokio::test]
async fn contradictory_submission_stores_nothing() {
    on_each_database(async |store| {
        turn(store, "c", "m1", None, 1).await;
        turn(store, "d", "elsewhere", None, 1).await;
        let before = store.conversations("ada", wire::organize::ListFilter::default(), 10, None).await.unwrap();
        let check = async |what: &str, change: fn(&mut BeginRun), expected: StoreError| {
            let mut begin = submission("c", "m2", Some("a-m1"), 9);
            change(&mut begin);
            assert_eq!(store.begin_run("ada", begin).await, Err(expected), "{what}");
            assert_eq!(branch(store, "c").await, "m1=text of m1 | a-m1=done m1", "{what}");
            assert_eq!(
                store.conversations("ada", wire::organize::ListFilter::default(), 10, None).await.unwrap(),
                before,
                "{what}"
            );
        };
        let foreign = StoreError::Invalid("a message refers to one that is not in this conversation");
        let in_use = StoreError::Invalid("the id is already in use");
        check("unknown parent", |b| b.insert[0].parent_id = Some("nothing".to_owned()), foreign.clone()).await;
        check("parent elsewhere", |b| b.insert[0].parent_id = Some("elsewhere".to_owned()), foreign.clone()).await;
        check(
            "own parent",
            |b| b.insert[0].parent_id = Some("m2".to_owned()),
            StoreError::Invalid("a value contradicts the schema"),
        )
        .await;
        check("child first", |b| b.insert.reverse(), foreign.clone()).await;
        check("message id in use", |b| b.insert[1].message.id = "m1".to_owned(), in_use.clone()).await;
        check("run id in use", |b| b.run_id = "r-elsewhere".to_owned(), in_use).await;
        check("unknown answer", |b| b.message_id = "nothing".to_owned(), foreign).await;
        check("unknown update", |b| b.update.push(UiMessage::user("nothing", "x")), StoreError::NotFound).await;
    })
    .await;
}

#[tokio::test]
async fn submission_can_insert_history_and_replace_bodies() {
    on_each_database(async |store| {
        let mut begin = submission("c", "m1", Some("h2"), 1);
        let history =
            [UiMessage::user("h1", "before"), UiMessage { role: Role::Assistant, ..UiMessage::user("h2", "yes") }];
        begin.insert.insert(0, NewMessage { parent_id: None, message: history[0].clone() });
        begin.insert.insert(1, NewMessage { parent_id: Some("h1".to_owned()), message: history[1].clone() });
        assert_eq!(store.begin_run("ada", begin).await.unwrap(), BeginRunOutcome::Started { epoch: 1 });
        assert_eq!(branch(store, "c").await, "h1=before | h2=yes | m1=text of m1 | a-m1");
        store.finish_run(end("m1", 1, 2)).await.unwrap();
        // A continuation writes into an existing message.
        let mut go_on = submission("c", "go-on", None, 3);
        go_on.insert.clear();
        go_on.message_id = "a-m1".to_owned();
        go_on.update = vec![UiMessage { role: Role::Assistant, ..UiMessage::user("a-m1", "decided") }];
        assert_eq!(store.begin_run("ada", go_on).await.unwrap(), BeginRunOutcome::Started { epoch: 2 });
        assert_eq!(branch(store, "c").await, "h1=before | h2=yes | m1=text of m1 | a-m1=decided");
    })
    .await;
}

#[tokio::test]
async fn run_ends_once() {
    on_each_database(async |store| {
        for status in [Outcome::Waiting, Outcome::Stopped, Outcome::Limit, Outcome::Failed, Outcome::Interrupted] {
            let id = format!("{status:?}");
            let epoch = begin(store, &id, &id, None, 1).await;
            let finish = FinishRun { status, error: Some("cause".to_owned()), ..end(&id, epoch, 2) };
            let stale = FinishRun { epoch: epoch + 1, ..finish.clone() };
            assert_eq!(store.finish_run(stale).await, Err(StoreError::Fenced), "{id}: another epoch");
            let other = FinishRun { message: UiMessage::user(&id, "hijacked"), ..finish.clone() };
            assert!(matches!(store.finish_run(other).await, Err(StoreError::Invalid(_))), "{id}: another message");
            store.finish_run(finish.clone()).await.unwrap();
            store.finish_run(finish).await.unwrap_or_else(|error| panic!("{id}: told again: {error}"));
            let late = FinishRun { status: Outcome::Done, ..end(&id, epoch, 3) };
            assert_eq!(store.finish_run(late).await, Err(StoreError::Fenced), "{id}: ended otherwise");
            assert_eq!(branch(store, &id).await, format!("{id}=text of {id} | a-{id}=done {id}"));
        }
        let unknown = store.finish_run(end("nothing", 1, 1)).await;
        assert_eq!(unknown, Err(StoreError::Fenced));
    })
    .await;
}

#[tokio::test]
async fn open_runs_are_listed_for_recovery() {
    on_each_database(async |store| {
        begin(store, "c1", "m1", None, 100).await;
        turn(store, "c2", "m2", None, 100).await;
        let bobs = submission("c3", "m3", None, 200);
        store.begin_run("bob", bobs).await.unwrap();
        store.renew_leases(vec!["r-m1".to_owned(), "r-m2".to_owned(), "nothing".to_owned()], 777).await.unwrap();
        let mut open = store.open_runs().await.unwrap();
        open.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        let run = |owner: &str, conversation: &str, key: &str, lease_until| OpenRun {
            owner: owner.to_owned(),
            conversation_id: conversation.to_owned(),
            agent_id: "agent".to_owned(),
            run_id: format!("r-{key}"),
            epoch: 1,
            message_id: format!("a-{key}"),
            lease_until,
        };
        assert_eq!(open, [run("ada", "c1", "m1", 777), run("bob", "c3", "m3", 15_200)]);
        store.renew_leases(Vec::new(), 999).await.unwrap();
    })
    .await;
}

async fn text(store: &Store) -> String {
    store.messages("ada", "c").await.unwrap()[1].message.text()
}

#[tokio::test]
async fn body_is_not_replaced_during_a_run() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 1).await;
        let message = UiMessage { role: Role::Assistant, ..UiMessage::user("a-m", "one decision") };
        assert_eq!(store.update_message("ada", "c", message.clone(), Vec::new()).await, Err(StoreError::Busy));
        store.finish_run(end("m", epoch, 2)).await.unwrap();
        assert_eq!(text(store).await, "done m");
        store.update_message("ada", "c", message, Vec::new()).await.unwrap();
        assert_eq!(text(store).await, "one decision");
        let unknown = UiMessage::user("nothing", "x");
        assert_eq!(store.update_message("ada", "c", unknown, Vec::new()).await, Err(StoreError::NotFound));
    })
    .await;
}
