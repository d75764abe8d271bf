//! Tests of the planner: single plans, and random definitions beside an interpreter.

mod interpreter;
mod random;
mod simulation;

use super::*;
use insta::assert_snapshot;
use serde_json::json;
use std::sync::Arc;
use workflow_definition::Workflow;

pub(super) fn workflow(steps: Value) -> Workflow {
    serde_json::from_value(json!({ "id": "test", "steps": steps })).unwrap()
}

pub(super) fn facts(input: Value) -> RunFacts {
    RunFacts {
        run_id: "run".to_owned(),
        input,
        user: json!({ "id": "ada" }),
        created_at: 1_000,
        resumed_at: None,
        operators: Arc::default(),
    }
}

fn record(state: StepState, output: Value) -> Record {
    Record { state, output, error: None, attempt: 1, next_at: None, ended_at: 2_000 }
}

fn shown(workflow: &Workflow, input: Value, records: &Records) -> String {
    let Plan { start, due, expired, wakes_at, end } = plan(workflow, &facts(input), records, 5_000);
    let expired = expired.iter().map(|(path, _)| format!("expired {path}"));
    let start = start.iter().map(|start| format!("start {} {} ({})", start.path, start.input, start.attempt));
    let due = due.iter().map(|(path, _)| format!("due {path}"));
    let wakes = wakes_at.map(|at| format!("wakes at {at}"));
    let end = end.map(|end| format!("{end:?}"));
    start.chain(due).chain(expired).chain(wakes).chain(end).collect::<Vec<_>>().join("\n")
}

#[test]
fn steps_follow_each_other_and_read_earlier_results() {
    let steps = json!([
        { "id": "find", "type": "endpoint", "endpointId": "find", "payload": { "n": { "_input": "n" } } },
        { "id": "post", "type": "endpoint", "endpointId": "post",
          "payload": { "a": "$.find.rows[0].id", "b": { "_step": "find.rows" }, "c": { "_expr": "step.find.rows | length" } } },
    ]);
    let workflow = workflow(steps);
    let mut records = Records::new();
    assert_snapshot!(shown(&workflow, json!({ "n": 3 }), &records), @r#"start find {"n":3} (1)"#);
    records.insert("find".to_owned(), record(StepState::Running, Value::Null));
    assert_snapshot!(shown(&workflow, json!({ "n": 3 }), &records), @"");
    records.insert("find".to_owned(), record(StepState::Done, json!({ "rows": [{ "id": 7 }] })));
    assert_snapshot!(shown(&workflow, json!({ "n": 3 }), &records), @r#"start post {"a":7,"b":[{"id":7}],"c":1} (1)"#);
    records.insert("post".to_owned(), record(StepState::Done, json!("ok")));
    assert_snapshot!(shown(&workflow, json!({ "n": 3 }), &records), @r#"Done(String("ok"))"#);
}

#[test]
fn time_of_steps_of_steps_is_over_or_is_looked_at_again() {
    let boxed = |outer: u32, inner: u32| {
        let call = json!({ "id": "call", "type": "endpoint", "endpointId": "e" });
        let inner =
            json!({ "id": "inner", "type": "loop", "in": [1], "max": 1, "timeoutSeconds": inner, "do": [call] });
        workflow(json!([{ "id": "outer", "type": "if", "test": true, "timeoutSeconds": outer, "then": [inner] }]))
    };
    let running = Records::from([("outer/inner[0]/call".to_owned(), record(StepState::Running, Value::Null))]);
    let check = |outer: u32, inner: u32, records: &Records, expected: &str| {
        assert_eq!(shown(&boxed(outer, inner), Value::Null, records), expected, "{outer} {inner}");
    };
    // The run was created at 1 s, and it is 5 s.
    check(60, 30, &running, "wakes at 31000");
    check(4, 30, &running, "expired outer\nwakes at 31000");
    check(60, 3, &running, "expired outer/inner\nwakes at 61000");
    check(3, 3, &running, "expired outer/inner\nexpired outer");
    // A step that has ended counts, even if it is found late.
    let done = Records::from([("outer/inner[0]/call".to_owned(), record(StepState::Done, json!(7)))]);
    check(1, 1, &done, "Done(Array [Number(7)])");
    // The record of the end counts, whatever the steps have done since.
    let mut over = done.clone();
    over.insert(
        "outer".to_owned(),
        Record { error: Some(StepError::new("timeout", "late", "outer")), ..record(StepState::Failed, Value::Null) },
    );
    let failed = r#"Failed(StepError { kind: "timeout", message: "late", step: "outer" })"#;
    check(60, 60, &over, failed);
}

#[test]
fn results_are_not_taken_for_paths_or_operators() {
    let steps = json!([
        { "id": "find", "type": "endpoint", "endpointId": "find" },
        { "id": "post", "type": "endpoint", "endpointId": "post", "payload": { "a": "$.find", "b": { "_step": "find" } } },
    ]);
    let trap = json!(["$.input.secret", { "_input": "secret" }]);
    let records = Records::from([("find".to_owned(), record(StepState::Done, trap))]);
    assert_snapshot!(shown(&workflow(steps), json!({ "secret": 1 }), &records),
        @r#"start post {"a":["$.input.secret",{"_input":"secret"}],"b":["$.input.secret",{"_input":"secret"}]} (1)"#);
}

#[test]
fn loops_start_as_many_iterations_as_they_may() {
    let steps = |concurrency: u32| {
        let post = json!({ "id": "post", "type": "endpoint", "endpointId": "post", "payload": ["$.row", { "_item": "index" }] });
        json!([{ "id": "each", "type": "loop", "in": "$.input.rows", "item": "row", "max": 5, "concurrency": concurrency, "do": [post] }])
    };
    let rows = json!({ "rows": ["a", "b", "c"] });
    assert_snapshot!(shown(&workflow(steps(1)), rows.clone(), &Records::new()), @r#"start each[0]/post ["a",0] (1)"#);
    assert_snapshot!(shown(&workflow(steps(2)), rows.clone(), &Records::new()), @r#"
    start each[0]/post ["a",0] (1)
    start each[1]/post ["b",1] (1)
    "#);
    let done = |path: &str| (path.to_owned(), record(StepState::Done, json!(path)));
    let records = Records::from([done("each[0]/post")]);
    assert_snapshot!(shown(&workflow(steps(1)), rows.clone(), &records), @r#"start each[1]/post ["b",1] (1)"#);
    let records = Records::from(["each[0]/post", "each[1]/post", "each[2]/post"].map(done));
    assert_snapshot!(shown(&workflow(steps(2)), rows, &records),
        @r#"Done(Array [String("each[0]/post"), String("each[1]/post"), String("each[2]/post")])"#);
    let many = json!({ "rows": [1, 2, 3, 4, 5, 6] });
    assert_snapshot!(shown(&workflow(steps(1)), many, &Records::new()),
        @r#"Failed(StepError { kind: "limit", message: "the list has 6 items; the loop has at most 5", step: "each" })"#);
}

#[test]
fn waits_and_retries_are_due_at_their_times() {
    let steps = json!([
        { "id": "pause", "type": "wait", "seconds": 60 },
        { "id": "post", "type": "endpoint", "endpointId": "post" },
    ]);
    let workflow = workflow(steps);
    assert_snapshot!(shown(&workflow, json!({}), &Records::new()), @r#"start pause {"until":61000} (1)"#);
    let at = |state: StepState, next_at: i64| Record { next_at: Some(next_at), ..record(state, Value::Null) };
    let records = Records::from([("pause".to_owned(), at(StepState::Waiting, 61_000))]);
    assert_snapshot!(shown(&workflow, json!({}), &records), @"wakes at 61000");
    let records = Records::from([("pause".to_owned(), at(StepState::Waiting, 5_000))]);
    assert_snapshot!(shown(&workflow, json!({}), &records), @"due pause");
    let pause = ("pause".to_owned(), record(StepState::Done, Value::Null));
    let records = Records::from([pause.clone(), ("post".to_owned(), at(StepState::Retrying, 6_000))]);
    assert_snapshot!(shown(&workflow, json!({}), &records), @"wakes at 6000");
    let records = Records::from([pause, ("post".to_owned(), at(StepState::Retrying, 5_000))]);
    assert_snapshot!(shown(&workflow, json!({}), &records), @"start post {} (2)");
}

#[test]
fn errors_are_handled_or_end_the_run() {
    let steps = json!([
        { "id": "post", "type": "endpoint", "endpointId": "post", "onError": [
            { "id": "tell", "type": "endpoint", "endpointId": "tell", "payload": { "_error": true } } ] },
        { "id": "stop", "type": "fail", "message": { "_template": "told {{ step.post }}" } },
    ]);
    let workflow = workflow(steps);
    let failed = Record {
        error: Some(StepError::new("failed", "no such table", "post")),
        ..record(StepState::Failed, Value::Null)
    };
    let mut records = Records::from([("post".to_owned(), failed)]);
    assert_snapshot!(shown(&workflow, json!({}), &records),
        @r#"start post/onError/tell {"kind":"failed","message":"no such table","step":"post"} (1)"#);
    records.insert("post/onError/tell".to_owned(), record(StepState::Done, json!("Ada")));
    assert_snapshot!(shown(&workflow, json!({}), &records),
        @r#"Failed(StepError { kind: "failed", message: "told Ada", step: "stop" })"#);
}

#[test]
fn endless_work_is_cut_off() {
    let inner = json!({ "id": "b", "type": "loop", "until": false, "max": 1000, "do": [{ "id": "c", "type": "if", "test": true }] });
    let steps = json!([{ "id": "a", "type": "loop", "in": (0..1000).collect::<Vec<_>>(), "max": 1000,
        "do": [{ "id": "d", "type": "if", "test": true, "onError": [], "then": [inner], "else": [] }] }]);
    // The inner loop fails at its maximum, which ends the run: the handler makes it continue.
    let mut steps = steps;
    steps[0]["do"][0]["onError"] = json!([{ "id": "e", "type": "if", "test": true }]);
    assert_snapshot!(shown(&workflow(steps), json!({}), &Records::new()),
        @r#"Failed(StepError { kind: "limit", message: "the run goes through more than 100000 steps", step: "" })"#);
}
