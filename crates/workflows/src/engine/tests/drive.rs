//! The engine with each kind of step.

use super::fake::{Server, ada, call, of_config, shown, workflow};
use crate::service::{self, Answer, RetryRequest, Viewer};
use crate::store::{self, TaskState};
use chat::Caller;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use workflow_definition::WorkflowBytes;

async fn run(definition: Value, input: Value) -> (Server, String) {
    let server = Server::open("sqlite::memory:", vec![workflow(definition)], None).await;
    let id = server.start("test", input).await;
    (server, id)
}

#[tokio::test]
async fn run_goes_through_its_steps_and_counts_what_they_use() {
    let agent =
        json!({ "id": "ask", "type": "agent", "agentId": "a", "prompt": { "_template": "Read {{ input.text }}" } });
    let definition = json!({ "id": "test", "steps": [agent, call("post", json!({ "of": "$.ask.got" }))], "output": "$.post.got.of" });
    let (server, id) = run(definition, json!({ "text": "this" })).await;
    let detail = server.ended(&id).await;
    assert_snapshot!(shown(&detail), @r#"
    done "Read this"
    ask Done 1
    post Done 1
    "#);
    assert_eq!((detail.run.used.requests, detail.run.used.total_tokens, detail.run.steps), (1, 10, 2));
    assert!((detail.run.used.cost_usd - 0.02).abs() < 1e-9);
}

#[tokio::test]
async fn steps_are_tried_again_with_the_same_key_and_errors_are_handled() {
    let mut flaky = call("flaky", json!({ "fails": 1 }));
    flaky["retry"] = json!({ "attempts": 2, "delaySeconds": 1 });
    let mut broken = call("broken", json!({ "fails": 9 }));
    broken["onError"] = json!([call("tell", json!({ "why": { "_error": "message" } }))]);
    let (server, id) =
        run(json!({ "id": "test", "steps": [flaky, broken, call("panics", json!({ "panics": true }))] }), json!({}))
            .await;
    let detail = server.ended(&id).await;
    assert_snapshot!(shown(&detail), @"
    failed null failed: The step ended unexpectedly; the server's log has the cause. (panics)
    flaky Done 2
    broken Failed 1
    broken/onError/tell Done 1
    panics Failed 1
    ");
    assert_eq!(*server.host.calls.lock(), ["flaky", "flaky", "broken", "tell", "panics"]);
    let keys = server.host.keys.lock().clone();
    assert_eq!(keys[0], keys[1]);
    let different: BTreeSet<_> = keys.iter().collect();
    assert_eq!(different.len(), 4, "{keys:?}");
}

#[tokio::test]
async fn person_answers_once_and_only_if_asked() {
    let ask = json!({ "id": "ask", "type": "human", "ask": "choose", "choices": ["now", "later"], "title": "When?", "roles": ["manager"] });
    let (server, id) = run(json!({ "id": "test", "steps": [ask], "output": "$.ask.choice" }), json!({})).await;
    let detail = server.rest(&id).await;
    let task = &detail.tasks[0];
    assert_eq!((task.state, task.title.as_str()), (TaskState::Open, "When?"));
    let check = async |caller: Caller, answer: Answer, expected: &str| {
        let seen = service::answer(&server.runs, &caller, &task.id, answer).await;
        let seen =
            seen.map_or_else(|error| format!("{:?} {}", error.code, error.message), |task| format!("{:?}", task.state));
        assert_eq!(seen, expected);
    };
    let choose = |choice: &str| Answer { choice: Some(choice.to_owned()), ..Answer::default() };
    let stranger = Caller::signed_in("eve");
    check(stranger, choose("now"), &format!("NotFound {}", wire::UserError::not_found().message)).await;
    check(ada(), choose("never"), "Invalid Choose one of: now, later.").await;
    check(
        ada(),
        Answer { approved: Some(true), ..Answer::default() },
        "Invalid This question is answered with `choice`.",
    )
    .await;
    check(ada(), choose("later"), "Answered").await;
    check(ada(), choose("now"), "Busy This question is not open any more.").await;
    assert_snapshot!(shown(&server.ended(&id).await), @r#"
    done "later"
    ask Done 1
    "#);
}

#[tokio::test]
async fn question_lapses_and_the_run_goes_on() {
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"], "dueSeconds": 1, "onLapse": { "output": "nobody" } });
    let steps = json!([ask, { "id": "pause", "type": "wait", "seconds": 1 }]);
    let (server, id) = run(json!({ "id": "test", "steps": steps, "output": "$.ask" }), json!({})).await;
    let detail = server.ended(&id).await;
    assert_snapshot!(shown(&detail), @r#"
    done "nobody"
    ask Done 1
    pause Done 1
    "#);
    assert_eq!(detail.tasks[0].state, TaskState::Lapsed);
}

#[tokio::test]
async fn children_give_their_outputs_and_count_for_their_parents() {
    let parent = workflow(json!({ "id": "test", "limits": { "requests": 2 }, "steps": [
        { "id": "each", "type": "loop", "in": "$.input.rows", "max": 5, "do": [
            { "id": "sub", "type": "workflow", "workflowId": "child", "input": { "n": "$.item" } } ] } ] }));
    let child =
        workflow(json!({ "id": "child", "input": { "type": "object", "properties": { "n": { "type": "integer" } } },
        "steps": [{ "id": "ask", "type": "agent", "agentId": "a", "prompt": "Hi" }], "output": "$.input.n" }));
    let server = Server::open("sqlite::memory:", vec![parent, child], None).await;
    let id = server.start("test", json!({ "rows": [1, 2] })).await;
    let detail = server.ended(&id).await;
    assert_snapshot!(shown(&detail), @"
    done [1,2]
    each[0]/sub Done 1
    each[1]/sub Done 1
    ");
    assert_eq!(detail.run.used.requests, 2);
    let id = server.start("test", json!({ "rows": [1, 2, 3] })).await;
    assert_snapshot!(shown(&server.ended(&id).await), @"
    failed null limit: limits.requests: 2 ()
    each[0]/sub Done 1
    each[1]/sub Done 1
    ");
    let id = server.start("test", json!({ "rows": ["one"] })).await;
    assert_snapshot!(shown(&server.ended(&id).await), @r#"
    failed null invalid: "one" is not of type "integer" (each[0]/sub)
    each[0]/sub Failed 1
    "#);
}

#[tokio::test]
async fn stopped_run_stops_its_children_and_closes_its_questions() {
    let parent =
        workflow(json!({ "id": "test", "steps": [{ "id": "sub", "type": "workflow", "workflowId": "child" }] }));
    let child = workflow(
        json!({ "id": "child", "steps": [{ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] }] }),
    );
    let server = Server::open("sqlite::memory:", vec![parent, child], None).await;
    let id = server.start("test", json!({})).await;
    let detail = server.rest(&id).await;
    let child = detail.steps[0].child_id.clone().unwrap();
    server.rest(&child).await;
    service::stop(&server.runs, Viewer::Owner(&ada()), &id, None).await.unwrap();
    assert_snapshot!(shown(&server.ended(&id).await), @"
    stopped null stopped: The run was stopped. ()
    sub Failed 1
    ");
    let detail = server.ended(&child).await;
    assert_eq!(detail.tasks[0].state, TaskState::Cancelled);
    assert!(service::stop(&server.runs, Viewer::Owner(&Caller::signed_in("eve")), &id, None).await.is_err());
}

#[tokio::test]
async fn ended_run_goes_on_from_a_step_also_with_a_mended_definition() {
    let steps = json!([call("one", json!({})), call("two", json!({ "fails": 1 })), call("three", json!({}))]);
    let (server, id) = run(json!({ "id": "test", "steps": steps }), json!({})).await;
    assert_eq!(server.ended(&id).await.run.error.unwrap().message, "it failed the 1. time");
    let retry = async |path: Option<&str>, current: Option<Value>| {
        let use_current_definition = current.is_some();
        let repeat_effects = path.is_some();
        let path = path.map(str::to_owned);
        let request = RetryRequest { path, use_current_definition, repeat_effects, ..RetryRequest::default() };
        let current = of_config(current.map_or_else(Vec::new, |current| vec![workflow(current)]));
        service::retry(&server.runs, Viewer::Admin, &id, request, current, None).await.unwrap();
        server.ended(&id).await
    };
    assert_eq!(retry(None, None).await.run.state.name(), "done");
    assert_eq!(*server.host.calls.lock(), ["one", "two", "two", "three"]);
    let mended = json!({ "id": "test", "steps": steps, "output": "mended" });
    assert_eq!(retry(Some("three"), Some(mended)).await.run.output, "mended");
    assert_eq!(*server.host.calls.lock(), ["one", "two", "two", "three", "three"]);
}

#[tokio::test]
async fn limits_of_time_and_steps_end_a_run() {
    let steps = json!([{ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] }]);
    let (server, id) = run(json!({ "id": "test", "limits": { "timeoutSeconds": 1 }, "steps": steps }), json!({})).await;
    assert_snapshot!(shown(&server.ended(&id).await), @"
    failed null limit: limits.timeoutSeconds: 1 ()
    ask Failed 1
    ");
    let steps = json!([call("a", json!({})), call("b", json!({})), call("c", json!({}))]);
    let (server, id) = run(json!({ "id": "test", "limits": { "steps": 2 }, "steps": steps }), json!({})).await;
    assert_snapshot!(shown(&server.ended(&id).await), @"
    failed null limit: limits.steps: 2 ()
    a Done 1
    b Done 1
    ");
}

/// On PostgreSQL, if it is installed.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_the_runs_of_a_database() {
    let Some(url) = test_postgres::new_database().await else { return };
    let definition = json!({ "id": "test", "steps": [
        { "id": "both", "type": "parallel", "branches": {
            "a": [call("one", json!({ "n": "$.input.n" }))],
            "b": [{ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"], "users": ["ada"] }] } },
        call("two", json!({ "a": "$.both.a.got.n" })),
    ], "output": ["$.two.got.a", "$.both.b.decision"] });
    let first = Server::open(&url, vec![workflow(definition.clone())], None).await;
    let second = Server::open(&url, vec![workflow(definition)], None).await;
    let mut ids = Vec::new();
    for n in 0..6 {
        ids.push(if n % 2 == 0 { &first } else { &second }.start("test", json!({ "n": n })).await);
    }
    for (n, id) in ids.iter().enumerate() {
        let detail = first.rest(id).await;
        let answer = Answer { approved: Some(true), ..Answer::default() };
        service::answer(&second.runs, &ada(), &detail.tasks[0].id, answer).await.unwrap();
        assert_eq!(first.ended(id).await.run.output, json!([n, "approved"]));
    }
    let mut calls = [first.host.calls.lock().clone(), second.host.calls.lock().clone()].concat();
    calls.sort();
    assert_eq!(calls, [["one"; 6], ["two"; 6]].concat());
}

#[tokio::test]
async fn waiting_runs_have_no_task() {
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] });
    let server = Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": [ask] }))], None).await;
    for _ in 0..20 {
        let id = server.start("test", json!({})).await;
        server.rest(&id).await;
    }
    while server.workers.running() > 0 {
        tokio::task::yield_now().await;
    }
    let tasks = store::tasks_for(&server.runs.store, &ada(), "", 100).await.unwrap();
    assert_eq!(tasks.len(), 20);
    assert!(store::tasks_for(&server.runs.store, &Caller::signed_in("eve"), "", 100).await.unwrap().is_empty());
}

#[tokio::test]
async fn calls_that_start_together_cannot_exceed_a_limit_together() {
    let ask = |id: &str| json!([{ "id": id, "type": "agent", "agentId": "a", "prompt": "Hi" }]);
    let steps =
        json!([{ "id": "all", "type": "parallel", "branches": { "a": ask("a1"), "b": ask("b1"), "c": ask("c1") } }]);
    let (server, id) = run(json!({ "id": "test", "limits": { "requests": 2 }, "steps": steps }), json!({})).await;
    let detail = server.ended(&id).await;
    assert_eq!(detail.run.used.requests, 2);
    assert_eq!(detail.run.error.unwrap().message, "limits.requests: 2");
    let shares: Vec<_> = server.host.shares.lock().clone();
    assert_eq!(shares, [Some(1), Some(1)]);
}

#[tokio::test]
async fn children_that_run_together_share_what_is_left() {
    // Checks the limits of each child, in the order in which they start, and the end of the run.
    let check = async |concurrency: u32, limits: Value, expected_limits: Value, expected_end: &str| {
        let sub = json!({ "id": "sub", "type": "workflow", "workflowId": "child" });
        let each =
            json!({ "id": "each", "type": "loop", "in": [1, 2, 3], "max": 3, "concurrency": concurrency, "do": [sub] });
        let parent = workflow(json!({ "id": "test", "limits": limits, "steps": [each], "output": "done" }));
        let ask = json!({ "id": "ask", "type": "agent", "agentId": "a", "prompt": "Hi" });
        let nested = workflow(json!({ "id": "nested", "steps": [ask] }));
        let child =
            workflow(json!({ "id": "child", "steps": [{ "id": "in", "type": "workflow", "workflowId": "nested" }] }));
        let server = Server::open("sqlite::memory:", vec![parent, child, nested], None).await;
        let id = server.start("test", json!({})).await;
        let detail = server.ended(&id).await;
        let mut seen = Vec::new();
        for step in &detail.steps {
            let Some(child) = &step.child_id else { continue };
            let run = server.ended(child).await.run;
            let mut limits = serde_json::to_value(run.limits).unwrap();
            limits.as_object_mut().unwrap().remove("timeoutSeconds");
            seen.push(limits);
        }
        let end = detail.run.error.map_or_else(|| "done".to_owned(), |error| error.message);
        assert_eq!((Value::from(seen), end.as_str()), (expected_limits, expected_end), "{limits}");
        assert!(detail.run.used.requests <= limits["requests"].as_u64().unwrap_or(u64::MAX));
    };
    let each = |requests: u32| json!({ "requests": requests });
    check(3, json!({ "requests": 7 }), json!([each(2), each(2), each(2)]), "done").await;
    // The third one waits until another one has ended, and gets what that one has not used.
    check(3, json!({ "requests": 2 }), json!([each(1), each(1)]), "limits.requests: 2").await;
    check(1, json!({ "requests": 4 }), json!([each(4), each(3), each(2)]), "done").await;
    check(3, json!({ "totalTokens": 90, "toolCalls": 4 }), json!([{ "totalTokens": 30, "toolCalls": 1 }, { "totalTokens": 30, "toolCalls": 1 }, { "totalTokens": 30, "toolCalls": 1 }]), "done").await;
    check(3, json!({}), json!([{}, {}, {}]), "done").await;
}

#[tokio::test]
async fn outputs_have_bounds() {
    let steps =
        json!([call("one", json!({ "text": "$.input.text" })), call("two", json!({})), call("three", json!({}))]);
    let server = Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
    let check = async |bytes: WorkflowBytes, expected: &str| {
        *server.host.bytes.lock() = bytes;
        let id = server.start("test", json!({ "text": "x".repeat(500) })).await;
        let error = server.ended(&id).await.run.error;
        assert_eq!(error.map_or_else(|| "done".to_owned(), |error| error.message), expected, "{bytes:?}");
    };
    check(WorkflowBytes::default(), "done").await;
    check(WorkflowBytes { state: 5_000, output: 400 }, "The output is larger than 400 bytes (`workflowBytes.output`).")
        .await;
    check(WorkflowBytes { state: 600, output: 5_000 }, "workflowBytes.state: 600").await;
}

#[tokio::test]
async fn child_ends_with_the_time_of_its_parent() {
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] });
    let child = workflow(json!({ "id": "child", "steps": [ask] }));
    let steps = json!([{ "id": "sub", "type": "workflow", "workflowId": "child" }]);
    let parent = workflow(json!({ "id": "test", "limits": { "timeoutSeconds": 100 }, "steps": steps }));
    let server = Server::open("sqlite::memory:", vec![parent, child], None).await;
    let id = server.start("test", json!({})).await;
    let child = server.rest(&id).await.steps[0].child_id.clone().unwrap();
    let limit = server.rest(&child).await.run.limits.timeout_seconds.unwrap();
    assert!((50..=101).contains(&limit), "{limit}");
}

#[tokio::test]
async fn limits_of_an_administrator_replace_those_of_the_workflow() {
    let steps = json!([{ "id": "pause", "type": "wait", "seconds": 1 }]);
    let definition = json!({ "id": "test", "limits": { "requests": 2, "steps": 5 }, "steps": steps });
    let server = Server::open("sqlite::memory:", vec![workflow(definition.clone())], None).await;
    let check = async |role: &str, expected: Value| {
        let caller = Caller::signed_in("ada").with_roles(vec![role.to_owned()]);
        let request = serde_json::from_value(json!({ "limits": { "requests": 9 } })).unwrap();
        let run = service::start(&server.runs, &caller, workflow(definition.clone()), request).await.unwrap();
        assert_eq!(serde_json::to_value(run.limits).unwrap(), expected);
    };
    check("manager", json!({ "requests": 2, "steps": 5 })).await;
    check("admin", json!({ "requests": 9, "steps": 5 })).await;
}
