//! Draws the steps where the layout places them, with the states that follow from the records.

use crate::layout::{Branch, HEIGHT, Item, Line, WIDTH, layout};
use crate::outline::{ListRole, OutlineStep};
use crate::states::{RunRecords, States, has_started};
use wire::text::shortened;
use wire::workflow::{Picture, PictureEdge, PictureNode, StepState};

/// The most steps of a picture. A larger one is not readable.
pub const MAX_STEPS: usize = 400;
/// The longest text about a step in characters.
const MAX_ABOUT: usize = 40;

/// A step in the order of the definition.
struct Listed<'o> {
    step: &'o OutlineStep,
    depth: u32,
    branch: &'o str,
    is_in_loop: bool,
}

/// Returns the picture of a run; `None` for more than [`MAX_STEPS`] steps.
pub fn picture(steps: &[OutlineStep], run: &RunRecords<'_>) -> Option<Picture> {
    let mut listed = Vec::new();
    let items = items(steps, &Place::default(), &mut listed);
    if listed.len() > MAX_STEPS {
        return None;
    }
    let placed = layout(&items);
    let states = States::new(steps, run);
    let node = |(listed, (x, y)): (&Listed<'_>, &(u32, u32))| {
        let OutlineStep { id, kind, about, .. } = listed.step;
        let (path, count) = states.record(id);
        PictureNode {
            id: id.clone(),
            kind: kind.clone(),
            about: shortened(about, MAX_ABOUT),
            state: states.state(id),
            count: count.filter(|_| listed.is_in_loop),
            path,
            depth: listed.depth,
            branch: listed.branch.to_owned(),
            x: *x,
            y: *y,
            width: WIDTH,
            height: HEIGHT,
        }
    };
    let nodes: Vec<_> = listed.iter().zip(&placed.corners).map(node).collect();
    let edge = |line: Line| {
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
#[derive(Clone, Copy, Default)]
struct Place<'o> {
    depth: u32,
    branch: &'o str,
    is_in_loop: bool,
}

fn items<'o>(steps: &'o [OutlineStep], place: &Place<'o>, listed: &mut Vec<Listed<'o>>) -> Vec<Item> {
    let mut items = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let branch = if index == 0 { place.branch } else { "" };
        listed.push(Listed { step, depth: place.depth, branch, is_in_loop: place.is_in_loop });
        items.push(item(step, place, listed));
    }
    items
}

fn item<'o>(step: &'o OutlineStep, place: &Place<'o>, listed: &mut Vec<Listed<'o>>) -> Item {
    let mut item = Item { is_end: step.end.is_some(), ..Item::default() };
    for list in &step.lists {
        let inner = Place {
            depth: place.depth + 1,
            branch: &list.label,
            is_in_loop: place.is_in_loop || list.role == ListRole::Body,
        };
        let (label, items) = (list.label.clone(), items(&list.steps, &inner, listed));
        match list.role {
            ListRole::Body => item.body = items,
            ListRole::Branch => item.branches.push(Branch { label, items, is_error: false }),
            ListRole::ErrorHandler => item.branches.push(Branch { label, items, is_error: true }),
        }
    }
    item
}
