use super::*;
use std::collections::HashSet;
use wire::workflow::{PictureNode, StepState};

fn step(id: &str, kind: &str) -> OutlineStep {
    OutlineStep { id: id.to_owned(), kind: kind.to_owned(), ..OutlineStep::default() }
}

fn agent(id: &str) -> OutlineStep {
    OutlineStep { about: "reader".to_owned(), ..step(id, "agent") }
}

fn end(id: &str, end: StepEnd) -> OutlineStep {
    OutlineStep { end: Some(end), ..step(id, "end") }
}

impl OutlineStep {
    fn list(mut self, role: ListRole, label: &str, steps: Vec<Self>) -> Self {
        self.lists.push(OutlineList { label: label.to_owned(), steps, role });
        self
    }

    fn branch(self, label: &str, steps: Vec<Self>) -> Self {
        self.list(ListRole::Branch, label, steps)
    }

    fn body(self, steps: Vec<Self>) -> Self {
        self.list(ListRole::Body, "each", steps)
    }

    fn on_error(self, steps: Vec<Self>) -> Self {
        self.branch("", Vec::new()).list(ListRole::ErrorHandler, "on error", steps)
    }
}

fn choice(id: &str, then: Vec<OutlineStep>) -> OutlineStep {
    step(id, "if").branch("then", then).branch("else", Vec::new())
}

fn invoice() -> Vec<OutlineStep> {
    vec![
        agent("extract"),
        choice("approval", vec![step("ask", "human"), choice("rejected", vec![end("refuse", StepEnd::Return)])]),
        step("each", "loop").body(vec![agent("line")]),
        step("post", "endpoint").on_error(vec![end("told", StepEnd::Fail)]),
    ]
}

/// Records are written as `PATH STATE`.
fn run_records<'r>(records: &[&'r str], end: Option<Result<(), &'r str>>) -> RunRecords<'r> {
    let states = [StepState::Done, StepState::Running, StepState::Waiting, StepState::Failed];
    let record = |written: &&'r str| {
        let (path, name) = written.split_once(' ').unwrap();
        let state = states.into_iter().find(|state| state.name() == name).unwrap();
        let step_id = path.rsplit('/').next().unwrap();
        Record { step_id, path, state, has_ended: matches!(state, StepState::Done | StepState::Failed) }
    };
    RunRecords {
        has_ended: end.is_some(),
        is_done: end == Some(Ok(())),
        failed: end.and_then(Result::err).unwrap_or_default(),
        records: records.iter().map(record).collect(),
    }
}

#[test]
fn states_follow_from_the_records() {
    let check = |records: &[&str], end: Option<Result<(), &str>>, expected: &str| {
        let picture = picture(&invoice(), &run_records(records, end)).unwrap();
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
    // Below the limit no approval is needed.
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
        "extract done, approval done, ask skipped, rejected skipped, refuse skipped, each done, line skipped, post failed, told failed",
    );
    check(
        &["extract failed"],
        Some(Err("extract")),
        "extract failed, approval skipped, ask skipped, rejected skipped, refuse skipped, each skipped, line skipped, post skipped, told skipped",
    );
}

#[test]
fn lines_that_the_run_took_are_marked() {
    let check = |steps: &[OutlineStep], records: &[&str], expected: &[&str]| {
        let picture = picture(steps, &run_records(records, None)).unwrap();
        let taken: Vec<_> = picture.edges.iter().filter(|edge| edge.is_taken).map(|edge| edge.label.as_str()).collect();
        assert_eq!(taken, expected, "{records:?}");
    };
    let choice = [choice("choice", vec![step("a", "wait")]), step("b", "wait")];
    check(&choice, &[], &[]);
    check(&choice, &["choice/a waiting"], &["then"]);
    check(&choice, &["choice/a done", "b waiting"], &["then", "", ""]);
    check(&choice, &["b waiting"], &["else", "", ""]);
    // The steps of a loop are no branch beside that of its error handler.
    let repeated = step("each", "loop").body(vec![step("a", "wait")]).on_error(vec![step("b", "wait")]);
    let repeated = [repeated, step("c", "wait")];
    check(&repeated, &["each[0]/a done", "c waiting"], &["", "", "", ""]);
    check(&repeated, &["each[0]/a failed", "each/onError/b done", "c waiting"], &["", "on error", "", ""]);
}

#[test]
fn every_step_has_its_own_place() {
    let check = |steps: &[OutlineStep], expected: &[&str]| {
        let nodes = picture(steps, &RunRecords::default()).unwrap().nodes;
        assert_eq!(nodes.iter().map(|node| node.id.as_str()).collect::<Vec<_>>(), expected);
        let places: HashSet<_> = nodes.iter().map(|node| (node.x, node.y)).collect();
        assert_eq!(places.len(), expected.len(), "{nodes:?}");
    };
    let repeated = || step("each", "loop").body(vec![agent("a")]);
    check(&[repeated(), agent("b")], &["each", "a", "b"]);
    check(&[repeated().on_error(vec![agent("b")]), agent("c")], &["each", "a", "b", "c"]);
    check(&[choice("if", vec![agent("a"), repeated_in_branch()]), agent("d")], &["if", "a", "inner", "b", "c", "d"]);
}

fn repeated_in_branch() -> OutlineStep {
    step("inner", "loop").body(vec![agent("b")]).on_error(vec![agent("c")])
}

#[test]
fn nodes_say_what_they_are_about() {
    let picture = picture(&invoice(), &RunRecords::default()).unwrap();
    let line = |node: &PictureNode| {
        format!("{}{} {} {} [{}]", "  ".repeat(node.depth as usize), node.id, node.kind, node.about, node.branch)
    };
    insta::assert_snapshot!(picture.nodes.iter().map(line).collect::<Vec<_>>().join("\n"), @r"
    extract agent reader []
    approval if  []
      ask human  [then]
      rejected if  []
        refuse end  [then]
    each loop  []
      line agent reader [each]
    post endpoint  []
      told end  [on error]
    ");
}

#[test]
fn long_texts_and_large_definitions_are_bounded() {
    let named = |about: &str| OutlineStep { about: about.to_owned(), ..step("a", "agent") };
    let check = |about: &str, expected: &str| {
        assert_eq!(picture(&[named(about)], &RunRecords::default()).unwrap().nodes[0].about, expected);
    };
    check(&"é".repeat(40), &"é".repeat(40));
    check(&"é".repeat(41), &format!("{}…", "é".repeat(40)));
    let steps = |count: usize| -> Vec<_> { (0..count).map(|at| step(&format!("s{at}"), "wait")).collect() };
    assert!(picture(&steps(MAX_STEPS), &RunRecords::default()).is_some());
    assert!(picture(&steps(MAX_STEPS + 1), &RunRecords::default()).is_none());
}
