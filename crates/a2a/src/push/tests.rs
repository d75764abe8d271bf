//! Tests of the stored notifications, on each kind of database.

use super::Deliveries;
use super::store::{self, MAX_CONFIGS, PushRow};
use crate::store::TABLES;
use crate::store::tests::turn;
use ::jobs::{JobFilter, Jobs};
use ::store::{Schema, Store, StoreError};
use std::time::Duration;
use wire::EndReason;

fn row(owner: &str, task: &str, id: &str) -> PushRow {
    PushRow {
        task_id: task.to_owned(),
        id: id.to_owned(),
        owner: owner.to_owned(),
        agent_id: "helper".to_owned(),
        url: "https://client.test/".to_owned(),
        sealed: "sealed".to_owned(),
        origin: String::new(),
        sent_at: 0,
    }
}

/// Returns which are due, in a conversation or in all.
async fn due(store: &Store, conversation: &str) -> Vec<String> {
    let due = store::due(store, conversation).await.unwrap();
    due.into_iter().map(|(task, id, owner)| format!("{task} {id} {owner}")).collect()
}

/// Returns the keys and owners of the jobs. No worker runs here, so they stay in the queue.
async fn enqueued(deliveries: &Deliveries) -> Vec<String> {
    let jobs = deliveries.jobs.list(JobFilter::default(), 100).await.unwrap();
    let mut jobs: Vec<_> = jobs
        .into_iter()
        .map(|job| format!("{} {}", job.key.unwrap_or_default(), job.owner.unwrap_or_default()))
        .collect();
    jobs.sort();
    jobs
}

async fn record(store: &Store, row: &PushRow, at: i64, is_open: bool) {
    let record = store::sent(row, at, is_open);
    let recorded = store.write(move |db| Box::pin(async move { Ok(record.execute(db).await.map(drop)?) }));
    Result::<(), StoreError>::unwrap(recorded.await);
}

#[tokio::test]
async fn clients_are_told_each_state_once() {
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(&[TABLES]).open(&url, "", Duration::ZERO).await.unwrap();
        let deliveries = Deliveries { store: store.clone(), jobs: Jobs::new(store.clone()) };
        turn(&store, "ada", "c", "m1", None, Some(EndReason::Waiting), 10).await;
        turn(&store, "ada", "d", "m2", None, None, 20).await;
        let waits = row("ada", "a-m1", "one");
        for kept in [waits.clone(), row("ada", "a-m2", "two")] {
            assert!(deliveries.keep(kept, 1).await.unwrap());
        }
        // The job is enqueued at once, also for the task that the agent works on: its end may be stored at the same time.
        assert_eq!(enqueued(&deliveries).await, ["a-m1 one ada", "a-m2 two ada"]);
        // The other one is being worked on.
        assert_eq!(due(&store, "").await, ["a-m1 one ada"]);
        assert_eq!(due(&store, "d").await, [""; 0]);
        record(&store, &waits, 11, true).await;
        assert_eq!(due(&store, "").await, [""; 0]);
        // It is told again at another address, and by somebody else it cannot be replaced.
        let moved = PushRow { url: "https://elsewhere.test/".to_owned(), ..waits.clone() };
        assert!(deliveries.keep(moved.clone(), 2).await.unwrap());
        assert!(!deliveries.keep(PushRow { owner: "eve".to_owned(), ..waits.clone() }, 3).await.unwrap());
        assert_eq!(enqueued(&deliveries).await, ["a-m1 one ada", "a-m2 two ada"]);
        record(&store, &waits, 11, true).await;
        assert_eq!(due(&store, "c").await, ["a-m1 one ada"], "the old address was told");
        record(&store, &moved, 11, false).await;
        assert_eq!(store::open(&store, "a-m1", "one").await.unwrap(), None);

        let ids = |rows: Vec<PushRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
        assert_eq!(ids(store::of_task(&store, "ada", "a-m1").await.unwrap()), ["one"]);
        assert_eq!(store::of_task(&store, "eve", "a-m1").await.unwrap(), []);
        assert!(!store::delete(&store, "eve", "a-m1", "one").await.unwrap());
        assert!(store::delete(&store, "ada", "a-m1", "one").await.unwrap());
        for number in 0..MAX_CONFIGS {
            assert!(deliveries.keep(row("ada", "a-m1", &format!("n{number}")), 4).await.unwrap());
        }
        assert!(!deliveries.keep(row("ada", "a-m1", "more"), 5).await.unwrap());
        assert!(!enqueued(&deliveries).await.contains(&"a-m1 more ada".to_owned()));
        store.close().await;
    }
}
