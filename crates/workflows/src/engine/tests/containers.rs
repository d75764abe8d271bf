//! Time limits of steps of steps.

use super::fake::{Server, ada, call, shown, workflow};
use crate::service::{self, RetryRequest, Viewer};
use crate::store::TaskState;
use serde_json::{Value, json};
use test_postgres::database_files_of_each_kind;

fn slow(kind: Value) -> Value {
    let mut step = kind;
    step["id"] = "box".into();
    step["timeoutSeconds"] = 1.into();
    step
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_in_a_step_end_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let branches = json!({
            "done": [call("quick", json!({}))],
            "call": [call("long", json!({ "untilStopped": true }))],
            "ask": [{ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] }],
            "event": [{ "id": "paid", "type": "wait", "event": "order.paid" }],
            "child": [{ "id": "below", "type": "workflow", "workflowId": "child" }],
        });
        let mut both = slow(json!({ "type": "parallel", "branches": branches }));
        both["onError"] = json!([call("tell", json!({ "kind": { "_error": "kind" }, "step": { "_error": "step" } }))]);
        let child = workflow(json!({ "id": "child", "steps": [{ "id": "nap", "type": "wait", "seconds": 1000 }] }));
        let server = Server::open(&url, vec![workflow(json!({ "id": "test", "steps": [both] })), child], None).await;
        let id = server.start("test", json!({})).await;
        let detail = server.ended(&id).await;
        assert_eq!(detail.run.output["got"], json!({ "kind": "timeout", "step": "box" }));
        let mut steps: Vec<_> = detail.steps.iter().map(|step| format!("{} {:?}", step.path, step.state)).collect();
        steps.sort();
        let expected = [
            "box Failed",
            "box.ask/ask Failed",
            "box.call/long Failed",
            "box.child/below Failed",
            "box.done/quick Done",
            "box.event/paid Failed",
            "box/onError/tell Done",
        ];
        assert_eq!(steps, expected);
        assert_eq!(detail.tasks[0].state, TaskState::Cancelled);
        let below = detail.steps.iter().find_map(|step| step.child_id.clone()).unwrap();
        assert_eq!(server.ended(&below).await.run.state.name(), "stopped");
        let long = detail.steps.iter().find(|step| step.path == "box.call/long").unwrap();
        // The cancelled call counts as far as it went, unless the run ended before.
        let counted = 0.02 + long.used.cost_usd;
        assert!((detail.run.used.cost_usd - counted).abs() < 1e-9, "{:?}", detail.run.used);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_steps_of_steps_has_a_time_limit() {
    let check = async |kind: Value, expected: &str| {
        let steps = json!([slow(kind)]);
        let server =
            Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
        let id = server.start("test", json!({})).await;
        assert_eq!(shown(&server.ended(&id).await), expected);
    };
    let nap = json!([{ "id": "nap", "type": "wait", "seconds": 1000 }]);
    let failed = "failed null timeout: The steps did not end within 1 s. (box)";
    check(json!({ "type": "if", "test": true, "then": nap }), &format!("{failed}\nbox/nap Failed 1\nbox Failed 1"))
        .await;
    let cases = json!([{ "test": true, "then": nap }]);
    check(json!({ "type": "switch", "cases": cases }), &format!("{failed}\nbox/nap Failed 1\nbox Failed 1")).await;
    let each = json!({ "type": "loop", "in": [1, 2], "max": 2, "do": nap });
    check(each, &format!("{failed}\nbox[0]/nap Failed 1\nbox Failed 1")).await;
    // A step that ends in time has the same result as without a limit.
    let quick = json!({ "type": "if", "test": true, "then": [call("one", json!({}))] });
    let server =
        Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": [slow(quick)] }))], None).await;
    let id = server.start("test", json!({})).await;
    assert_eq!(server.ended(&id).await.run.state.name(), "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_gives_the_steps_their_time_again() {
    let mut held = slow(json!({ "type": "if", "test": true, "then": [
        call("quick", json!({})),
        { "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] },
    ] }));
    // Long enough for an answer.
    held["timeoutSeconds"] = 3.into();
    let steps = json!([held]);
    let server = Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
    let id = server.start("test", json!({})).await;
    assert_eq!(server.ended(&id).await.run.state.name(), "failed");
    server.retry(Viewer::Owner(&ada()), &id, RetryRequest::default()).await.unwrap();
    let detail = server.rest(&id).await;
    assert_eq!(detail.run.state.name(), "waiting", "{}", shown(&detail));
    let open = detail.tasks.iter().find(|task| task.state == TaskState::Open).unwrap();
    let answer = service::Answer { approved: Some(true), ..service::Answer::default() };
    service::answer(&server.runs, &ada(), &open.id, answer).await.unwrap();
    assert_eq!(server.ended(&id).await.run.output["decision"], "approved");
    assert_eq!(*server.host.calls.lock(), ["quick"], "what was done is not repeated");
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_repeats_what_had_failed_before_the_time_was_over() {
    let branches = json!({
        "call": [call("post", json!({ "fails": 1 }))],
        "nap": [{ "id": "nap", "type": "wait", "seconds": 1000 }],
    });
    let steps = json!([slow(json!({ "type": "parallel", "branches": branches }))]);
    let server = Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
    let id = server.start("test", json!({})).await;
    assert_eq!(server.ended(&id).await.run.error.unwrap().kind, "timeout");
    server.retry(Viewer::Owner(&ada()), &id, RetryRequest::default()).await.unwrap();
    let again = server.ended(&id).await;
    let post = again.steps.iter().find(|step| step.path == "box.call/post").unwrap();
    assert_eq!(*server.host.calls.lock(), ["post", "post"]);
    assert_eq!(format!("{:?}", post.state), "Done");
}
