//! Calls that the server refuses before anything was done, and servers that shut down.

use super::fake::{Server, call, shown, workflow};
use crate::plan::StepState;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use test_postgres::database_files_of_each_kind;
use tokio::sync::Semaphore;

/// A refusal is no attempt and no step, so neither the missing `retry` nor the limit of steps ends the run.
#[tokio::test(flavor = "multi_thread")]
async fn steps_wait_while_the_server_is_full() {
    let steps = [call("work", json!({ "sleepMs": 100 }))];
    let each =
        json!({ "id": "each", "type": "loop", "in": [1, 2, 3, 4, 5, 6], "max": 6, "concurrency": 6, "do": steps });
    let definition =
        workflow(json!({ "id": "test", "limits": { "steps": 6, "requests": 5 }, "steps": [each], "output": "done" }));
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open_with_places(&url, vec![definition.clone()], Arc::new(Semaphore::new(2))).await;
        let ids = [server.start("test", json!({})).await, server.start("test", json!({})).await];
        for id in &ids {
            let steps: String = (0..6).map(|index| format!("\neach[{index}]/work Done 1")).collect();
            assert_eq!(shown(&server.ended(id).await), format!("done \"done\"{steps}"), "{url}");
        }
        assert_eq!(server.host.calls.lock().len(), 12, "{url}");
        server.close().await;
    }
}

#[tokio::test]
async fn refused_step_says_why_it_waits() {
    let steps = [call("work", json!({}))];
    let definition = workflow(json!({ "id": "test", "steps": steps }));
    let places = Arc::new(Semaphore::new(0));
    let server = Server::open_with_places("sqlite::memory:", vec![definition], places.clone()).await;
    let id = server.start("test", json!({})).await;
    let detail = server.rest(&id).await;
    let step = &detail.steps[0];
    assert_eq!(
        (step.state, step.attempt, step.error.as_ref().unwrap().kind.as_str()),
        (StepState::Retrying, 0, "busy")
    );
    places.add_permits(1);
    assert_eq!(server.ended(&id).await.steps[0].attempt, 1);
}

/// Before it closes, a server lets calls end, but starts no further steps. The next one continues with the run, and
/// nobody has to decide about anything.
#[tokio::test(flavor = "multi_thread")]
async fn run_goes_on_after_a_deploy_without_a_decision() {
    let steps = [call("long", json!({ "sleepMs": 700 })), call("next", json!({ "sleepMs": 3_600_000 }))];
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let definition = |last: Value| workflow(json!({ "id": "test", "steps": [steps[0], last] }));
        let first = Server::open(&url, vec![definition(steps[1].clone())], None).await;
        let id = first.start("test", json!({})).await;
        first.called("long").await;
        let host = first.host.clone();
        // A guard against hanging: the second step would take an hour.
        let closed = tokio::time::timeout(Duration::from_secs(60), first.close()).await;
        assert!(closed.is_ok(), "it waits for a step that it should not have started");
        assert_eq!(*host.calls.lock(), ["long"]);
        let second = Server::open(&url, vec![definition(steps[1].clone())], None).await;
        second.called("next").await;
        let states: Vec<_> =
            second.detail(&id).await.steps.iter().map(|step| (step.path.clone(), step.state)).collect();
        let expected = [("long".to_owned(), StepState::Done), ("next".to_owned(), StepState::Running)];
        assert_eq!(states, expected, "{url}");
        second.stop(&id).await;
        second.close().await;
    }
}
