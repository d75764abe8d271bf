use super::states::Record;
use super::*;
use serde_json::json;
use std::collections::HashSet;

fn workflow(steps: Value) -> Workflow {
    serde_json::from_value(json!({ "id": "w", "steps": steps })).unwrap()
}

fn invoice() -> Workflow {
    let agent = |id: &str| json!({ "id": id, "type": "agent", "agentId": "reader", "prompt": "" });
    workflow(json!([
        agent("extract"),
        { "id": "approval", "type": "if", "test": true, "then": [
            { "id": "ask", "type": "human", "title": "?", "roles": ["admin"] },
            { "id": "rejected", "type": "if", "test": true, "then": [{ "id": "refuse", "type": "return" }] }] },
        { "id": "each", "type": "loop", "in": [], "max": 9, "do": [agent("line")] },
        { "id": "post", "type": "endpoint", "endpointId": "post", "onError": [{ "id": "told", "type": "fail", "message": "" }] },
    ]))
}

/// Records are written as `PATH STATE`.
fn progress<'r>(records: &[&'r str], end: Option<Result<(), &'r str>>) -> Progress<'r> {
    let record = |written: &&'r str| {
        let (path, state) = written.split_once(' ').unwrap();
        let state: StepState = serde_json::from_value(json!(state)).unwrap();
        let step_id = path.rsplit('/').next().unwrap();
        Record { step_id, path, state, has_ended: matches!(state, StepState::Done | StepState::Failed) }
    };
    Progress {
        has_ended: end.is_some(),
        is_done: end == Some(Ok(())),
        failed: end.and_then(Result::err).unwrap_or_default(),
        records: records.iter().map(record).collect(),
    }
}

#[test]
fn states_follow_from_the_records() {
    let check = |records: &[&str], end: Option<Result<(), &str>>, expected: &str| {
        let picture = draw(&invoice(), &progress(records, end)).unwrap();
        let said: Vec<_> = picture
            .nodes
            .iter()
            .filter(|node| node.state != StepState::Pending)
            .map(|node| {
                let count = node.count.as_ref().map(|count| format!(" {count}")).unwrap_or_default();
                format!("{} {}{count}", node.id, node.state.name())
            })
            .collect();
        assert_eq!(said.join(", "), expected, "{records:?} {end:?}");
    };
    check(&[], None, "");
    check(&["extract running"], None, "extract running");
    check(&["extract done", "approval/ask waiting"], None, "extract done, approval waiting, ask waiting");
    // Below the limit nobody is asked.
    check(
        &["extract done", "each[0]/line done", "each[1]/line running"],
        None,
        "extract done, approval done, ask skipped, rejected skipped, refuse skipped, each running, line running 1/2",
    );
    check(
        &["extract done", "approval/ask done"],
        Some(Ok(())),
        "extract done, approval done, ask done, rejected skipped, refuse done, each skipped, line skipped, post skipped, told skipped",
    );
    check(
        &["extract done", "post failed"],
        Some(Err("post/onError/told")),
        "extract done, approval done, ask skipped, rejected skipped, refuse skipped, each done, line skipped 0/0, post failed, told failed"
            .replace(" 0/0", "")
            .as_str(),
    );
    check(
        &["extract failed"],
        Some(Err("extract")),
        "extract failed, approval skipped, ask skipped, rejected skipped, refuse skipped, each skipped, line skipped, post skipped, told skipped",
    );
}

#[test]
fn lines_that_the_run_took_are_marked() {
    let check = |records: &[&str], expected: &[&str]| {
        let workflow = workflow(json!([
            { "id": "choice", "type": "if", "test": true, "then": [{ "id": "a", "type": "wait", "seconds": 1 }] },
            { "id": "b", "type": "wait", "seconds": 1 },
        ]));
        let picture = draw(&workflow, &progress(records, None)).unwrap();
        let taken: Vec<_> = picture.edges.iter().filter(|edge| edge.is_taken).map(|edge| edge.label.as_str()).collect();
        assert_eq!(taken, expected, "{records:?}");
    };
    check(&[], &[]);
    check(&["choice/a waiting"], &["then"]);
    check(&["choice/a done", "b waiting"], &["then", "", ""]);
    check(&["b waiting"], &["else", "", ""]);
}

#[test]
fn nodes_say_what_they_are_about() {
    let picture = draw(&invoice(), &Progress::default()).unwrap();
    let line = |node: &PictureNode| {
        format!("{}{} {} {} [{}]", "  ".repeat(node.depth as usize), node.id, node.kind, node.about, node.branch)
    };
    insta::assert_snapshot!(picture.nodes.iter().map(line).collect::<Vec<_>>().join("\n"), @r"
    extract agent reader []
    approval if  []
      ask human approve [then]
      rejected if  []
        refuse return  [then]
    each loop up to 9 []
      line agent reader [each]
    post endpoint post []
      told fail  [on error]
    ");
}

#[test]
fn every_step_has_its_own_place() {
    let check = |steps: Value| {
        let workflow = workflow(steps);
        let mut expected = Vec::new();
        workflow.for_each_step(&mut |step| expected.push(step.id.0.clone()));
        let nodes = draw(&workflow, &Progress::default()).unwrap().nodes;
        assert_eq!(nodes.iter().map(|node| node.id.clone()).collect::<Vec<_>>(), expected);
        let places: HashSet<_> = nodes.iter().map(|node| (node.x, node.y)).collect();
        assert_eq!(places.len(), expected.len(), "{nodes:?}");
    };
    let wait = |id: &str| json!({ "id": id, "type": "wait", "seconds": 1 });
    let ask = |on_lapse: Value| json!({ "id": "ask", "type": "human", "title": "?", "onLapse": on_lapse });
    check(json!([{ "id": "each", "type": "loop", "in": [], "max": 9, "do": [wait("a")] }, wait("b")]));
    check(json!([
        { "id": "each", "type": "loop", "in": [], "max": 9, "do": [wait("a")], "onError": [wait("b")] },
        wait("c"),
    ]));
    check(json!([ask(json!({ "steps": [wait("a")] })), wait("b")]));
    check(json!([ask(json!({ "output": 1 })), wait("b")]));
    // A branch may have any name.
    let branches = json!({ "on error": [wait("a")], "each": [wait("b")] });
    check(json!([{ "id": "both", "type": "parallel", "branches": branches, "onError": [wait("c")] }, wait("d")]));
}

#[test]
fn line_past_the_error_handler_of_a_loop_is_marked() {
    let check = |records: &[&str], expected: &[&str]| {
        let workflow = workflow(json!([
            { "id": "each", "type": "loop", "in": [], "max": 9, "onError": [{ "id": "b", "type": "wait", "seconds": 1 }],
                "do": [{ "id": "a", "type": "wait", "seconds": 1 }] },
            { "id": "c", "type": "wait", "seconds": 1 },
        ]));
        let picture = draw(&workflow, &progress(records, None)).unwrap();
        let taken: Vec<_> = picture.edges.iter().filter(|edge| edge.is_taken).map(|edge| edge.label.as_str()).collect();
        assert_eq!(taken, expected, "{records:?}");
    };
    check(&["each[0]/a done", "c waiting"], &["", "", "", ""]);
    check(&["each[0]/a failed", "each/onError/b done", "c waiting"], &["", "on error", "", ""]);
}
