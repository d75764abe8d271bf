//! Runs that continue after their end.

use super::fake::{Server, ada, call, from_step, shown, workflow};
use crate::service::{self, Answer, RetryRequest, RunDetail, Viewer};
use crate::store::RunFilter;
use ::store::sql;
use chat::Caller;
use serde_json::{Value, json};
use test_postgres::database_files_of_each_kind;
use workflow_definition::RunLimits;

async fn retry(server: &Server, caller: &Caller, id: &str, request: RetryRequest) -> RunDetail {
    server.retry(Viewer::Owner(caller), id, request).await.unwrap();
    server.ended(id).await
}

/// Runs a workflow whose last step fails at first, and returns the calls of the retry.
async fn repeated(steps: Value) -> Vec<String> {
    let server = Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
    let id = server.start("test", json!({})).await;
    assert_eq!(server.ended(&id).await.run.state.name(), "failed");
    server.host.calls.lock().clear();
    let detail = retry(&server, &ada(), &id, RetryRequest::default()).await;
    let calls = server.host.calls.lock().clone();
    // The counts of failures began anew with the list of calls, so what is repeated fails again.
    assert_eq!(detail.run.state.name(), "failed");
    calls
}

#[tokio::test]
async fn only_failures_that_ended_the_run_are_repeated() {
    let refund = json!([call("refund", json!({}))]);
    let mut post = call("post", json!({ "fails": 9 }));
    post["onError"] = refund.clone();
    let broken = |id: &str| call(id, json!({ "fails": 9 }));
    assert_eq!(repeated(json!([post, broken("last")])).await, ["last"]);
    // The question has lapsed, and the steps for that case ran.
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"], "dueSeconds": 1,
        "onLapse": { "steps": refund } });
    assert_eq!(repeated(json!([ask, broken("last")])).await, ["last"]);
    // Where the handler fails, it is the cause.
    post["onError"] = json!([broken("refund")]);
    assert_eq!(repeated(json!([post])).await, ["refund"]);
    // All branches that have failed.
    let branches = json!({ "a": [broken("one")], "b": [broken("two")], "c": [call("three", json!({}))] });
    let mut both = json!({ "id": "both", "type": "parallel", "branches": branches });
    let mut calls = repeated(json!([both])).await;
    calls.sort();
    assert_eq!(calls, ["one", "two"]);
    // The error of the whole was handled.
    both["onError"] = json!([call("tell", json!({}))]);
    assert_eq!(repeated(json!([both, broken("last")])).await, ["last"]);
    // A failure stops the iterations of a loop.
    let each = json!({ "id": "each", "type": "loop", "in": [1, 2], "max": 2, "do": [broken("inner")] });
    assert_eq!(repeated(json!([each])).await, ["inner"]);
}

#[tokio::test]
async fn steps_that_the_end_cut_off_are_repeated() {
    let mut post = call("post", json!({ "fails": 1 }));
    post["onError"] = json!([call("refund", json!({}))]);
    let steps = json!([post, call("long", json!({ "untilStopped": true }))]);
    let server = Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
    let id = server.start("test", json!({})).await;
    server.called("long").await;
    server.stop(&id).await;
    server.ended(&id).await;
    server.host.calls.lock().clear();
    server.retry(Viewer::Owner(&ada()), &id, RetryRequest::default()).await.unwrap();
    server.called("long").await;
    assert_eq!(*server.host.calls.lock(), ["long"]);
    server.stop(&id).await;
}

/// The limits count from the retry; those of an administrator may be wider.
#[tokio::test(flavor = "multi_thread")]
async fn run_that_reached_a_limit_goes_on() {
    let ask = |id: &str| json!({ "id": id, "type": "agent", "agentId": "a", "prompt": "Hi" });
    let steps: Vec<_> = ["a", "b", "c", "d"].iter().map(|id| ask(id)).collect();
    let admin = ada().with_roles(vec!["admin".to_owned()]);
    let limits = |requests: u32| RunLimits { requests: Some(requests), ..RunLimits::default() };
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let check = async |limit: Value, caller: &Caller, limits: RunLimits, expected: &str| {
            let definition = json!({ "id": "test", "limits": limit, "steps": steps, "output": "done" });
            let server = Server::open(&url, vec![workflow(definition)], None).await;
            let id = server.start("test", json!({})).await;
            assert!(server.ended(&id).await.run.error.is_some());
            let detail = retry(&server, caller, &id, RetryRequest { limits, ..RetryRequest::default() }).await;
            let end = detail.run.error.map_or_else(|| "done".to_owned(), |error| error.message);
            let text = format!("{end}, {} requests in all", detail.run.used.requests);
            assert_eq!(text, expected, "{url} {limit}");
            assert!(detail.run.resumed_at.is_some());
            server.close().await;
        };
        let none = RunLimits::default();
        check(json!({ "requests": 2 }), &ada(), none, "done, 4 requests in all").await;
        check(json!({ "requests": 1 }), &ada(), none, "limits.requests: 1, 2 requests in all").await;
        check(json!({ "requests": 1 }), &ada(), limits(9), "limits.requests: 1, 2 requests in all").await;
        check(json!({ "requests": 1 }), &admin, limits(9), "done, 4 requests in all").await;
        check(json!({ "totalTokens": 20 }), &ada(), none, "done, 4 requests in all").await;
        check(json!({ "costUsd": 0.02 }), &ada(), none, "done, 4 requests in all").await;
        check(json!({ "steps": 2 }), &ada(), none, "done, 4 requests in all").await;
    }
}

#[tokio::test]
async fn run_goes_on_after_its_time() {
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] });
    let definition =
        json!({ "id": "test", "limits": { "timeoutSeconds": 100 }, "steps": [ask], "output": "$.ask.decision" });
    let server = Server::open("sqlite::memory:", vec![workflow(definition)], None).await;
    let id = server.start("test", json!({})).await;
    server.rest(&id).await;
    // As if it had begun a day ago.
    let earlier = "UPDATE workflow_runs SET created_at = created_at - 86400000";
    let write = server.runs.store.write(move |db| Box::pin(async move { Ok(sql::query(earlier).execute(db).await?) }));
    write.await.unwrap();
    server.wake(&id).await;
    assert_eq!(server.ended(&id).await.run.error.unwrap().message, "limits.timeoutSeconds: 100");
    server.retry(Viewer::Owner(&ada()), &id, RetryRequest::default()).await.unwrap();
    let tasks = server.rest(&id).await.tasks;
    let task = tasks.iter().find(|task| task.state == crate::store::TaskState::Open).unwrap();
    let answer = Answer { approved: Some(true), ..Answer::default() };
    service::answer(&server.runs, &ada(), &task.id, answer).await.unwrap();
    assert_eq!(server.ended(&id).await.run.output, "approved");
}

/// The run of a child that has failed continues where it failed: by itself, and when its parent is retried.
#[tokio::test(flavor = "multi_thread")]
async fn child_goes_on_where_it_failed() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        for is_retried_by_itself in [true, false] {
            let retry_rule = json!({ "attempts": 2, "delaySeconds": 1 });
            let mut sub = json!({ "id": "sub", "type": "workflow", "workflowId": "child" });
            if is_retried_by_itself {
                sub["retry"] = retry_rule;
            }
            let parent = workflow(json!({ "id": "test", "steps": [sub] }));
            let inner = json!({ "id": "in", "type": "workflow", "workflowId": "inner" });
            let child = workflow(json!({ "id": "child", "steps": [call("first", json!({})), inner] }));
            let inner = workflow(json!({ "id": "inner", "steps": [
                call("paid", json!({})), call("flaky", json!({ "fails": 1 })) ], "output": "done" }));
            let server = Server::open(&url, vec![parent, child, inner], None).await;
            let id = server.start("test", json!({})).await;
            let mut detail = server.ended(&id).await;
            if !is_retried_by_itself {
                assert_eq!(shown(&detail), "failed null failed: it failed the 1. time (sub)\nsub Failed 1", "{url}");
                detail = retry(&server, &ada(), &id, RetryRequest::default()).await;
            }
            assert_eq!(detail.run.output, "done", "{url} {:?}", detail.run.error);
            assert_eq!(*server.host.calls.lock(), ["first", "paid", "flaky", "flaky"]);
            let keys = server.host.keys.lock().clone();
            assert_eq!(keys[2], keys[3]);
            assert!(keys[0] != keys[1] && keys[1] != keys[2], "{keys:?}");
            let runs =
                crate::store::list(&server.runs.store, crate::AFTER_ALL, RunFilter::default(), 10).await.unwrap();
            assert_eq!(runs.iter().filter(|run| run.id >= id).count(), 3, "no further runs");
            server.close().await;
        }
    }
}

/// The runs that alerts count: those at the top that have failed, and those with a step whose outcome is unknown.
#[tokio::test(flavor = "multi_thread")]
async fn failed_and_undecided_runs_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let sub = json!({ "id": "sub", "type": "workflow", "workflowId": "child" });
        let parent = workflow(json!({ "id": "test", "steps": [sub] }));
        let child = workflow(json!({ "id": "child", "steps": [call("broken", json!({ "fails": 9 }))] }));
        let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] });
        let asks = workflow(json!({ "id": "asks", "steps": [ask] }));
        let server = Server::open(&url, vec![parent, child, asks], None).await;
        let store = server.runs.store.clone();
        let failed =
            async |after: i64, workflow: Option<&str>| crate::count_failed(&store, after, workflow).await.unwrap();
        assert_eq!((failed(0, None).await, crate::count_undecided(&store).await.unwrap()), (0, 0));
        let id = server.start("test", json!({})).await;
        server.ended(&id).await;
        let asked = server.start("asks", json!({})).await;
        server.rest(&asked).await;
        let lost = "UPDATE workflow_steps SET state = 'unknown' WHERE step_id = 'ask'";
        store.write(move |db| Box::pin(async move { Ok(sql::query(lost).execute(db).await?) })).await.unwrap();
        let seen = [failed(0, None).await, failed(0, Some("test")).await, failed(0, Some("child")).await];
        assert_eq!((seen, failed(i64::MAX, None).await), ([1, 1, 0], 0), "{url}");
        assert_eq!(crate::count_undecided(&store).await.unwrap(), 1);
        let filter = RunFilter { state: Some("undecided"), ..RunFilter::default() };
        let listed = crate::store::list(&store, crate::AFTER_ALL, filter, 10).await.unwrap();
        assert_eq!(listed.iter().map(|run| &run.id).collect::<Vec<_>>(), [&asked]);
        server.close().await;
    }
}

/// With a path, the step of a child begins again, and its steps have the keys that they had before.
#[tokio::test]
async fn child_that_begins_anew_keeps_its_keys() {
    let sub = json!({ "id": "sub", "type": "workflow", "workflowId": "child" });
    let parent = workflow(json!({ "id": "test", "steps": [sub] }));
    let child = workflow(json!({ "id": "child", "steps": [call("paid", json!({}))] }));
    let server = Server::open("sqlite::memory:", vec![parent, child], None).await;
    let id = server.start("test", json!({})).await;
    let first = server.ended(&id).await.steps[0].child_id.clone();
    let admin = ada().with_roles(vec!["admin".to_owned()]);
    let request = RetryRequest { repeat_effects: true, ..from_step("sub") };
    let second = retry(&server, &admin, &id, request).await.steps[0].child_id.clone();
    assert_ne!(first, second);
    let keys = server.host.keys.lock().clone();
    assert_eq!((keys.len(), &keys[0]), (2, &keys[1]));
}
