//! Clocks that are set while runs wait, and definitions that change meanwhile.

use super::fake::{Server, ada, shown, workflow};
use crate::service::{self, Answer};
use crate::store::TaskState;
use ::store::sql;
use serde_json::{Value, json};
use std::time::Duration;
use test_postgres::database_files_of_each_kind;

async fn change(server: &Server, statements: &'static [&'static str]) {
    let write = server.runs.store.write(move |db| {
        Box::pin(async move {
            for statement in statements {
                sql::query(*statement).execute(&mut *db).await?;
            }
            Ok(())
        })
    });
    write.await.unwrap();
}

async fn close(server: Server) {
    server.workers.shutdown(Duration::from_secs(5)).await;
    server.runs.store.close().await;
}

/// Waiting steps look as if they had begun when the clock was three hours ahead.
const SET_BACK: &[&str] = &[
    "UPDATE workflow_steps SET next_at = next_at + 10800000, started_at = started_at + 10800000",
    "UPDATE workflow_tasks SET due_at = due_at + 10800000",
    "UPDATE jobs SET due_at = due_at + 10800000, delayed_at = delayed_at + 10800000 WHERE delayed_at IS NOT NULL",
];

#[tokio::test(flavor = "multi_thread")]
async fn delays_of_steps_end_although_the_clock_was_set_back() {
    let flaky = json!({ "id": "flaky", "type": "endpoint", "endpointId": "e", "payload": { "fails": 1 },
        "retry": { "attempts": 2, "delaySeconds": 2 } });
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"], "dueSeconds": 2,
        "onLapse": { "output": "nobody" } });
    let event = json!({ "id": "event", "type": "wait", "event": "never", "timeoutSeconds": 2 });
    let cases = [
        (json!({ "id": "pause", "type": "wait", "seconds": 2 }), "done \"ended\"\npause Done 1"),
        (flaky, "done \"ended\"\nflaky Done 2"),
        (ask, "done \"ended\"\nask Done 1"),
        (event, "failed null timeout: The event `never` did not happen in time. (event)\nevent Failed 1"),
    ];
    let definition = |step: &Value| workflow(json!({ "id": step["id"], "steps": [step], "output": "ended" }));
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        // All wait at once, since a worker notices a clock that was set only after a while.
        let server = Server::open(&url, cases.iter().map(|(step, _)| definition(step)).collect(), None).await;
        let mut started = Vec::new();
        for (step, expected) in &cases {
            started.push((server.start(step["id"].as_str().unwrap(), json!({})).await, expected));
        }
        for (id, _) in &started {
            server.rest(id).await;
        }
        change(&server, SET_BACK).await;
        for (id, expected) in started {
            assert_eq!(shown(&server.ended(&id).await), *expected, "{url}");
        }
        close(server).await;
    }
}

/// A time that the workflow names is not a delay.
#[tokio::test(flavor = "multi_thread")]
async fn wait_until_a_time_stays_when_the_clock_is_set() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let until = json!({ "id": "until", "type": "wait", "until": "2100-01-01T00:00:00Z" });
        let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] });
        let both = json!({ "id": "both", "type": "parallel", "branches": { "a": [until], "b": [ask] } });
        let server = Server::open(&url, vec![workflow(json!({ "id": "test", "steps": [both] }))], None).await;
        let id = server.start("test", json!({})).await;
        let task = server.rest(&id).await.tasks.remove(0);
        // The answer makes the run continue by a clock that is 40 years ahead of that of the steps.
        change(&server, &["UPDATE workflow_steps SET started_at = started_at - 1300000000000"]).await;
        let answer = Answer { approved: Some(true), ..Answer::default() };
        service::answer(&server.runs, &ada(), &task.id, answer).await.unwrap();
        let detail = server.rest(&id).await;
        let waits: Vec<_> = detail.steps.iter().map(|step| (step.step_id.as_str(), step.next_at)).collect();
        assert!(waits.contains(&("until", Some(4_102_444_800_000))), "{waits:?}");
        close(server).await;
    }
}

/// The definition changes while the run waits, also for the next server: the run keeps to its version.
#[tokio::test(flavor = "multi_thread")]
async fn run_keeps_to_its_version_when_the_definition_changes() {
    let definition = |output: &str, last: &str| {
        workflow(json!({ "id": "test", "steps": [
            { "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] },
            { "id": last, "type": "endpoint", "endpointId": "e", "payload": {} },
        ], "output": output }))
    };
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let first = Server::open(&url, vec![definition("old", "before")], None).await;
        let old = first.start("test", json!({})).await;
        first.rest(&old).await;
        close(first).await;
        let second = Server::open(&url, vec![definition("new", "after")], None).await;
        let new = second.start("test", json!({})).await;
        for (id, output, last) in [(old, "old", "before"), (new, "new", "after")] {
            let task = second.rest(&id).await.tasks.remove(0);
            assert_eq!(task.state, TaskState::Open);
            let answer = Answer { approved: Some(true), ..Answer::default() };
            service::answer(&second.runs, &ada(), &task.id, answer).await.unwrap();
            assert_eq!(shown(&second.ended(&id).await), format!("done \"{output}\"\nask Done 1\n{last} Done 1"));
        }
        close(second).await;
    }
}
