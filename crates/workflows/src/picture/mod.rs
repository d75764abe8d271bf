//! The picture of a run: the steps of its definition, where they stand, and how far the run is.

mod layout;
mod states;

use crate::definition::{Step, StepKind, Workflow};
use crate::store::{RunRow, StepRow};
use layout::{Branch, HEIGHT, Item, WIDTH, layout};
use serde_json::Value;
use states::{Progress, States};

pub(crate) use states::step_state;

use wire::workflow::{Picture, PictureEdge, PictureNode, StepState};

/// The most steps of a picture. Nobody finds anything in a larger one.
const MAX_STEPS: usize = 400;
/// The longest text about a step in characters.
const MAX_ABOUT: usize = 40;

/// A step in the order of the definition.
struct Listed<'d> {
    step: &'d Step,
    depth: u32,
    branch: String,
    is_in_loop: bool,
}

/// Returns the picture of a run. `None` for a definition with too many steps.
pub(crate) fn picture(workflow: &Workflow, run: &RunRow, records: &[StepRow]) -> Option<Picture> {
    draw(workflow, &Progress::new(run, records))
}

fn draw(workflow: &Workflow, progress: &Progress<'_>) -> Option<Picture> {
    let mut listed = Vec::new();
    let items = items(&workflow.steps, &Place::default(), &mut listed);
    if listed.len() > MAX_STEPS {
        return None;
    }
    let placed = layout(&items);
    let states = States::new(workflow, progress);
    let node = |(listed, (x, y)): (&Listed<'_>, &(u32, u32))| {
        let id = &listed.step.id.0;
        let (path, count) = states.record(id);
        PictureNode {
            id: id.clone(),
            kind: listed.step.type_name().to_owned(),
            about: about(listed.step),
            state: states.state(id),
            count: count.filter(|_| listed.is_in_loop),
            path,
            depth: listed.depth,
            branch: listed.branch.clone(),
            x: *x,
            y: *y,
            width: WIDTH,
            height: HEIGHT,
        }
    };
    let nodes: Vec<_> = listed.iter().zip(&placed.corners).map(node).collect();
    let has_started = |state: StepState| !matches!(state, StepState::Pending | StepState::Skipped);
    let edge = |line: layout::Line| {
        let from = nodes[line.from].state;
        let is_taken = match (line.to, line.branch) {
            (Some(to), _) => has_started(from) && has_started(nodes[to].state),
            // A branch without steps was taken if no other one was.
            (None, Some(branch)) => {
                from == StepState::Done && !states.other_branch_started(listed[line.from].step, branch)
            }
            (None, None) => from == StepState::Done,
        };
        let (label, label_x, label_y) = line.label.unwrap_or_default();
        PictureEdge { line: line.path, label, label_x, label_y, is_taken, is_error: line.is_error }
    };
    let edges = placed.lines.into_iter().map(edge).collect();
    Some(Picture { width: placed.width, height: placed.height, edges, frames: placed.frames, nodes })
}

/// Where a list of steps stands.
#[derive(Clone, Default)]
struct Place {
    depth: u32,
    branch: String,
    is_in_loop: bool,
}

fn items<'d>(steps: &'d [Step], place: &Place, listed: &mut Vec<Listed<'d>>) -> Vec<Item> {
    let mut items = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let branch = if index == 0 { place.branch.clone() } else { String::new() };
        listed.push(Listed { step, depth: place.depth, branch, is_in_loop: place.is_in_loop });
        items.push(item(step, place, listed));
    }
    items
}

fn item<'d>(step: &'d Step, place: &Place, listed: &mut Vec<Listed<'d>>) -> Item {
    let mut item = Item { is_end: matches!(step.kind, StepKind::Return(_) | StepKind::Fail(_)), ..Item::default() };
    for InnerList { label, steps, role } in inner_lists(step) {
        let inner = Place {
            depth: place.depth + 1,
            branch: label.clone(),
            is_in_loop: place.is_in_loop || role == ListRole::Body,
        };
        let items = items(steps, &inner, listed);
        match role {
            ListRole::Body => item.body = items,
            ListRole::Branch => item.branches.push(Branch { label, items, is_error: false }),
            ListRole::ErrorHandler => item.branches.push(Branch { label, items, is_error: true }),
        }
    }
    item
}

/// A list of steps in a step.
struct InnerList<'s> {
    /// May be empty.
    label: String,
    /// If it is empty, the run goes on after the step.
    steps: &'s [Step],
    role: ListRole,
}

/// What a list of steps is to the step that it is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListRole {
    Branch,
    /// The steps of a loop.
    Body,
    ErrorHandler,
}

/// Returns the lists of steps in a step.
fn inner_lists(step: &Step) -> Vec<InnerList<'_>> {
    let branch = |label: String, steps| InnerList { label, steps, role: ListRole::Branch };
    let mut lists: Vec<InnerList<'_>> = match &step.kind {
        StepKind::If(choice) => vec![
            branch("then".to_owned(), choice.then.as_slice()),
            branch("else".to_owned(), choice.otherwise.as_slice()),
        ],
        StepKind::Switch(choice) => {
            let cases = choice.cases.iter().enumerate();
            let cases = cases.map(|(index, case)| branch(format!("case {}", index + 1), case.then.as_slice()));
            cases.chain([branch("default".to_owned(), choice.default.as_slice())]).collect()
        }
        StepKind::Parallel(parallel) => {
            parallel.branches.iter().map(|(name, steps)| branch(name.clone(), steps.as_slice())).collect()
        }
        StepKind::Loop(repeated) => {
            vec![InnerList { label: "each".to_owned(), steps: repeated.body.as_slice(), role: ListRole::Body }]
        }
        _ => Vec::new(),
    };
    let lapse: &[Step] = match &step.kind {
        StepKind::Human(human) => human.on_lapse.as_ref().map_or(&[], |lapse| &lapse.steps),
        _ => &[],
    };
    let has_branches = lists.iter().any(|list| list.role == ListRole::Branch);
    if !has_branches && !(lapse.is_empty() && step.on_error.is_empty()) {
        lists.push(branch(String::new(), &[]));
    }
    if !lapse.is_empty() {
        lists.push(branch("on lapse".to_owned(), lapse));
    }
    if !step.on_error.is_empty() {
        let label = "on error".to_owned();
        lists.push(InnerList { label, steps: &step.on_error, role: ListRole::ErrorHandler });
    }
    lists
}

/// Returns what a step is about: the agent, the endpoint or the like.
fn about(step: &Step) -> String {
    let written = serde_json::to_value(step).unwrap_or_default();
    let keys = ["agentId", "endpointId", "workflowId", "toolName", "tool", "event", "ask"];
    let named = keys.iter().find_map(|key| written.get(*key).and_then(Value::as_str));
    let about = match (&step.kind, named) {
        (_, Some(name)) => name.to_owned(),
        (StepKind::Human(_), None) => "approve".to_owned(),
        (StepKind::Loop(repeated), None) => format!("up to {}", repeated.max),
        (StepKind::Wait(wait), None) => wait.seconds.map(|seconds| format!("{seconds} s")).unwrap_or_default(),
        _ => String::new(),
    };
    match about.char_indices().nth(MAX_ABOUT) {
        Some((end, _)) => format!("{}…", &about[..end]),
        None => about,
    }
}

#[cfg(test)]
mod tests;
