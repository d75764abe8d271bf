//! The picture of a run: what the crate `workflow_picture` needs of the definition and the records.

use crate::plan;
use crate::store::{RunRow, RunState, StepRow};
use wire::workflow::{Picture, StepState};
use workflow_definition::{Step, StepKind, Workflow};
use workflow_picture::{ListRole, OutlineList, OutlineStep, Record, RunRecords, StepEnd};

/// Returns the picture of a run. `None` for a definition with too many steps.
pub(crate) fn picture(workflow: &Workflow, run: &RunRow, records: &[StepRow]) -> Option<Picture> {
    workflow_picture::picture(&outline(&workflow.steps), &run_records(run, records))
}

fn run_records<'r>(run: &'r RunRow, records: &'r [StepRow]) -> RunRecords<'r> {
    let record = |row: &'r StepRow| Record {
        step_id: &row.step_id,
        path: &row.path,
        state: step_state(row.state),
        has_ended: row.ended_at.is_some(),
    };
    RunRecords {
        has_ended: run.ended_at.is_some(),
        is_done: run.state == RunState::Done,
        failed: run.error.as_ref().map_or("", |error| error.step.as_str()),
        records: records.iter().map(record).collect(),
    }
}

/// Converts the state of a record.
pub(crate) fn step_state(state: plan::StepState) -> StepState {
    match state {
        plan::StepState::Running => StepState::Running,
        plan::StepState::Unknown => StepState::Unknown,
        plan::StepState::Retrying => StepState::Retrying,
        plan::StepState::Waiting => StepState::Waiting,
        plan::StepState::Done => StepState::Done,
        plan::StepState::Failed => StepState::Failed,
    }
}

fn outline(steps: &[Step]) -> Vec<OutlineStep> {
    let step = |step: &Step| OutlineStep {
        id: step.id.0.clone(),
        kind: step.type_name().to_owned(),
        about: about(step),
        lists: lists(step),
        end: match &step.kind {
            StepKind::Return(_) => Some(StepEnd::Return),
            StepKind::Fail(_) => Some(StepEnd::Fail),
            _ => None,
        },
    };
    steps.iter().map(step).collect()
}

/// Returns the lists of steps in a step. A branch without steps stands for going on.
fn lists(step: &Step) -> Vec<OutlineList> {
    let list = |label: &str, steps: &[Step], role| OutlineList { label: label.to_owned(), steps: outline(steps), role };
    let branch = |label: &str, steps: &[Step]| list(label, steps, ListRole::Branch);
    let mut lists = match &step.kind {
        StepKind::If(choice) => vec![branch("then", &choice.then), branch("else", &choice.otherwise)],
        StepKind::Switch(choice) => {
            let cases = choice.cases.iter().enumerate();
            let cases = cases.map(|(index, case)| branch(&format!("case {}", index + 1), &case.then));
            cases.chain([branch("default", &choice.default)]).collect()
        }
        StepKind::Parallel(parallel) => parallel.branches.iter().map(|(name, steps)| branch(name, steps)).collect(),
        StepKind::Loop(repeated) => vec![list("each", &repeated.body, ListRole::Body)],
        _ => Vec::new(),
    };
    let lapse: &[Step] = match &step.kind {
        StepKind::Human(human) => human.on_lapse.as_ref().map_or(&[], |lapse| &lapse.steps),
        _ => &[],
    };
    let has_branches = lists.iter().any(|list| list.role == ListRole::Branch);
    let has_exits = !lapse.is_empty() || !step.on_error.is_empty();
    if !has_branches && has_exits {
        lists.push(branch("", &[]));
    }
    if !lapse.is_empty() {
        lists.push(branch("on lapse", lapse));
    }
    if !step.on_error.is_empty() {
        lists.push(list("on error", &step.on_error, ListRole::ErrorHandler));
    }
    lists
}

/// Returns what a step is about: the agent, the endpoint or the like.
fn about(step: &Step) -> String {
    match &step.kind {
        StepKind::Agent(step) => step.agent_id.0.clone(),
        StepKind::Tool(step) => step.agent_id.0.clone(),
        StepKind::Endpoint(step) => step.endpoint_id.0.clone(),
        StepKind::Workflow(step) => step.workflow_id.0.clone(),
        StepKind::Human(step) => step.ask.name().to_owned(),
        StepKind::Loop(step) => format!("up to {}", step.max),
        StepKind::Wait(step) => match (&step.event, step.seconds) {
            (Some(event), _) => event.0.clone(),
            (None, Some(seconds)) => format!("{seconds} s"),
            (None, None) => String::new(),
        },
        StepKind::If(_) | StepKind::Switch(_) | StepKind::Parallel(_) | StepKind::Return(_) | StepKind::Fail(_) => {
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::fmt::Write;

    fn write_steps(steps: &[OutlineStep], depth: usize, out: &mut String) {
        for OutlineStep { id, kind, about, lists, end } in steps {
            let end = end.map_or(String::new(), |end| format!(" ends: {end:?}"));
            writeln!(out, "{}{id} {kind} [{about}]{end}", "  ".repeat(depth)).unwrap();
            for OutlineList { label, steps, role } in lists {
                writeln!(out, "{}{role:?} [{label}]", "  ".repeat(depth + 1)).unwrap();
                write_steps(steps, depth + 2, out);
            }
        }
    }

    fn written(steps: Value) -> String {
        let workflow: Workflow = serde_json::from_value(json!({ "id": "w", "steps": steps })).unwrap();
        let (mut written, outlined) = (String::new(), outline(&workflow.steps));
        write_steps(&outlined, 0, &mut written);
        let mut ids = Vec::new();
        workflow.for_each_step(&mut |step| ids.push(step.id.0.clone()));
        let picture = workflow_picture::picture(&outlined, &RunRecords::default()).unwrap();
        assert_eq!(picture.nodes.into_iter().map(|node| node.id).collect::<Vec<_>>(), ids, "each step is shown");
        written
    }

    #[test]
    fn outline_has_all_steps_with_what_they_are_about() {
        let wait = |id: &str| json!([{ "id": id, "type": "wait", "seconds": 1 }]);
        let fail = json!([{ "id": "told", "type": "fail", "message": "" }]);
        let written = written(json!([
            { "id": "extract", "type": "agent", "agentId": "reader", "prompt": "" },
            { "id": "call", "type": "tool", "agentId": "clerk", "toolName": "book" },
            { "id": "approval", "type": "if", "test": true, "then": [
                { "id": "ask", "type": "human", "title": "?", "roles": ["admin"], "ask": "choose",
                    "onLapse": { "steps": wait("late") } },
                { "id": "refuse", "type": "return" }] },
            { "id": "route", "type": "switch", "cases": [{ "test": 1, "then": wait("a") }], "default": wait("b") },
            // A branch may have any name.
            { "id": "both", "type": "parallel", "branches": { "on error": wait("c"), "each": [] }, "onError": fail },
            { "id": "each", "type": "loop", "in": [], "max": 9, "do": wait("d"), "onError": wait("e") },
            { "id": "post", "type": "endpoint", "endpointId": "post", "onError": wait("f") },
            { "id": "paid", "type": "wait", "event": "invoice.paid" },
            { "id": "child", "type": "workflow", "workflowId": "other" },
        ]));
        insta::assert_snapshot!(written, @r"
        extract agent [reader]
        call tool [clerk]
        approval if []
          Branch [then]
            ask human [choose]
              Branch []
              Branch [on lapse]
                late wait [1 s]
            refuse return [] ends: Return
          Branch [else]
        route switch []
          Branch [case 1]
            a wait [1 s]
          Branch [default]
            b wait [1 s]
        both parallel []
          Branch [on error]
            c wait [1 s]
          Branch [each]
          ErrorHandler [on error]
            told fail [] ends: Fail
        each loop [up to 9]
          Body [each]
            d wait [1 s]
          Branch []
          ErrorHandler [on error]
            e wait [1 s]
        post endpoint [post]
          Branch []
          ErrorHandler [on error]
            f wait [1 s]
        paid wait [invoice.paid]
        child workflow [other]
        ");
    }
}
