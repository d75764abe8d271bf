//! The tool ledger: a call is recorded before its effect, completed after it, and never recorded
//! twice.

use crate::support::{begin, end, on_each_database, submission};
use serde_json::json;
use store::{StoreError, ToolCallState, ToolOutcome};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn call_starts_once() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 1).await;
        let tasks = (0..20).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.tool_started("ada", "r-m", "call", "pay", &json!({"sum": 1}), 5).await })
        });
        let results: Vec<_> = futures::future::join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert_eq!(results.iter().filter(|result| **result == Err(StoreError::AlreadyStarted)).count(), 19);
        assert_eq!(store.tool_call_state("ada", "c", "call").await.unwrap(), Some(ToolCallState::Started));
        // A later run of the conversation cannot start it again either.
        store.finish_run(end("m", 1, 2)).await.unwrap();
        begin(store, "c", "m2", Some("a-m"), 3).await;
        let again = store.tool_started("ada", "r-m2", "call", "pay", &json!({}), 6).await;
        assert_eq!(again, Err(StoreError::AlreadyStarted));
        // Another conversation has its own calls.
        begin(store, "d", "m3", None, 3).await;
        store.tool_started("ada", "r-m3", "call", "pay", &json!({}), 6).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn call_is_completed_once() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 1).await;
        let state = async |call: &str| store.tool_call_state("ada", "c", call).await.unwrap();
        for (call, outcome) in [("good", ToolOutcome::Ok), ("bad", ToolOutcome::Error)] {
            assert_eq!(state(call).await, None);
            store.tool_started("ada", "r-m", call, "tool", &json!(null), 5).await.unwrap();
            assert_eq!(state(call).await, Some(ToolCallState::Started));
            store.tool_finished("ada", "r-m", call, outcome, 6, None).await.unwrap();
            assert_eq!(state(call).await, Some(ToolCallState::Finished(outcome)));
        }
        store.tool_finished("ada", "r-m", "good", ToolOutcome::Error, 7, None).await.unwrap();
        assert_eq!(state("good").await, Some(ToolCallState::Finished(ToolOutcome::Ok)), "the first report counts");
        let unknown = store.tool_finished("ada", "r-m", "nothing", ToolOutcome::Ok, 7, None).await;
        assert_eq!(unknown, Err(StoreError::NotFound));
    })
    .await;
}

/// After the end of a run no call starts; a call that had started can still be completed.
#[tokio::test]
async fn ended_run_starts_no_call() {
    on_each_database(async |store| {
        store.begin_run("ada", submission("c", "m", None, 1)).await.unwrap();
        store.tool_started("ada", "r-m", "slow", "tool", &json!({}), 5).await.unwrap();
        store.finish_run(end("m", 1, 2)).await.unwrap();
        let late = store.tool_started("ada", "r-m", "late", "tool", &json!({}), 6).await;
        assert_eq!(late, Err(StoreError::Fenced));
        assert_eq!(store.tool_call_state("ada", "c", "late").await.unwrap(), None);
        store.tool_finished("ada", "r-m", "slow", ToolOutcome::Ok, 7, None).await.unwrap();
        let state = store.tool_call_state("ada", "c", "slow").await.unwrap();
        assert_eq!(state, Some(ToolCallState::Finished(ToolOutcome::Ok)));
    })
    .await;
}
