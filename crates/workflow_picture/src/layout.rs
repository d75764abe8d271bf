//! Places the steps of a workflow in layers from top to bottom: a list of steps is a column, the
//! branches of a step stand side by side below it and meet again, and a loop has a frame around its
//! steps. The structure of a definition makes this exact: no two lines cross.

use wire::workflow::PictureFrame;

/// The width of a step.
pub(crate) const WIDTH: u32 = 176;
/// The height of a step.
pub(crate) const HEIGHT: u32 = 52;
/// The space between layers, which holds the labels of branches.
const LAYER: u32 = 40;
/// The space between columns.
const COLUMN: u32 = 24;
/// The space between a frame and what is in it.
const PAD: u32 = 16;
/// The width of a branch without steps.
const EMPTY: u32 = 64;
/// The space around the picture, for borders and arrows.
const MARGIN: u32 = 8;

/// A step with what is in it. Steps are counted in the order of the definition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    /// The steps of a loop; empty for other steps.
    pub(crate) body: Vec<Self>,
    /// The branches side by side below it; empty for most steps.
    pub(crate) branches: Vec<Branch>,
    /// Whether the run ends with it.
    pub(crate) is_end: bool,
}

/// A branch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Branch {
    /// Its label; may be empty.
    pub(crate) label: String,
    /// Its steps.
    pub(crate) items: Vec<Item>,
    /// Whether its steps handle an error.
    pub(crate) is_error: bool,
}

/// Where everything stands.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The left upper corners of the steps, in the order of the definition.
    pub(crate) corners: Vec<(u32, u32)>,
    pub(crate) lines: Vec<Line>,
    pub(crate) frames: Vec<PictureFrame>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The path of an SVG.
    pub(crate) path: String,
    /// The step from which it comes, and the one to which it leads; none where branches meet.
    pub(crate) from: usize,
    pub(crate) to: Option<usize>,
    /// The branch of the step `from` that begins with it, or that it leaves.
    pub(crate) branch: Option<usize>,
    /// The label and the middle of its lower border.
    pub(crate) label: Option<(String, u32, u32)>,
    pub(crate) is_error: bool,
}

/// Places the steps.
pub(crate) fn layout(items: &[Item]) -> Layout {
    let mut layout = Layout::default();
    let size = list_size(items, false);
    layout.place_list(items, (MARGIN + size.0 / 2, MARGIN), false);
    layout.width = size.0 + 2 * MARGIN;
    layout.height = size.1 + 2 * MARGIN;
    layout
}

/// The step and the branch of it by which the lines leave a list.
type Exit = Option<(usize, (u32, u32))>;

/// Returns the width and the height of a column. `follows` says whether something comes after it.
fn list_size(items: &[Item], follows: bool) -> (u32, u32) {
    let last = items.len().saturating_sub(1);
    let sizes = items.iter().enumerate().map(|(index, item)| item_size(item, follows || index < last));
    let (width, height) = sizes.fold((0, 0), |(width, height), (wide, high)| (wide.max(width), height + high + LAYER));
    (if items.is_empty() { EMPTY } else { width }, height.saturating_sub(LAYER))
}

/// Returns the size of a step alone, or of a loop with its frame.
fn head_size(item: &Item) -> (u32, u32) {
    if item.body.is_empty() {
        return (WIDTH, HEIGHT);
    }
    let (width, height) = list_size(&item.body, false);
    (width.max(WIDTH) + 2 * PAD, HEIGHT + LAYER + height + 2 * PAD)
}

fn item_size(item: &Item, follows: bool) -> (u32, u32) {
    let head = head_size(item);
    if item.branches.is_empty() {
        return head;
    }
    let (width, height) = branches_size(&item.branches, follows);
    (head.0.max(width), head.1 + LAYER + height + if follows { LAYER } else { 0 })
}

fn branches_size(branches: &[Branch], follows: bool) -> (u32, u32) {
    let sizes = branches.iter().map(|branch| list_size(&branch.items, follows));
    let (width, height) = sizes.fold((0, 0), |(width, height), (wide, high)| (width + wide + COLUMN, high.max(height)));
    (width.saturating_sub(COLUMN), height)
}

impl Layout {
    /// Places a column. `top` is the middle of its upper border.
    fn place_list(&mut self, items: &[Item], top: (u32, u32), follows: bool) -> Exit {
        let (x, mut y) = top;
        let mut exit: Exit = None;
        for (index, item) in items.iter().enumerate() {
            let node = self.corners.len();
            if let Some((from, (from_x, from_y))) = exit {
                let path = format!("M{from_x} {from_y}V{y}");
                self.lines.push(Line { path, from, to: Some(node), branch: None, label: None, is_error: false });
            }
            let is_followed = follows || index + 1 < items.len();
            exit = self.place_item(item, (x, y), is_followed);
            y += item_size(item, is_followed).1 + LAYER;
        }
        exit
    }

    fn place_item(&mut self, item: &Item, (x, y): (u32, u32), follows: bool) -> Exit {
        let node = self.corners.len();
        let (head_width, head_height) = head_size(item);
        let corner_y = if item.body.is_empty() { y } else { y + PAD };
        self.corners.push((x - WIDTH / 2, corner_y));
        if !item.body.is_empty() {
            let frame = PictureFrame { x: x - head_width / 2, y, width: head_width, height: head_height };
            self.frames.push(frame);
            let (from, to) = (corner_y + HEIGHT, corner_y + HEIGHT + LAYER);
            let line = Line {
                path: format!("M{x} {from}V{to}"),
                from: node,
                to: Some(self.corners.len()),
                branch: None,
                label: None,
                is_error: false,
            };
            self.lines.push(line);
            self.place_list(&item.body, (x, to), false);
        }
        let bottom = y + head_height;
        if item.branches.is_empty() {
            return (!item.is_end).then_some((node, (x, bottom)));
        }
        self.place_branches(node, item, (x, bottom), follows)
    }

    fn place_branches(&mut self, node: usize, item: &Item, (x, y): (u32, u32), follows: bool) -> Exit {
        let (width, height) = branches_size(&item.branches, follows);
        let (top, meet) = (y + LAYER, y + LAYER + height + LAYER);
        let (mut left, mut goes_on) = (x - width / 2, false);
        for (index, branch) in item.branches.iter().enumerate() {
            let (wide, _) = list_size(&branch.items, follows);
            let branch_x = left + wide / 2;
            left += wide + COLUMN;
            let is_empty = branch.items.is_empty();
            // A branch without steps leads nowhere if nothing follows.
            if is_empty && !follows {
                continue;
            }
            let label = (!branch.label.is_empty()).then(|| (branch.label.clone(), branch_x, top - 10));
            let enter = curve((x, y), (branch_x, top));
            let (to, is_error) = ((!is_empty).then_some(self.corners.len()), branch.is_error);
            let enter = Line { path: enter, from: node, to, branch: Some(index), label, is_error };
            self.lines.push(enter);
            let exit = if is_empty {
                Some((node, (branch_x, top)))
            } else {
                self.place_list(&branch.items, (branch_x, top), follows)
            };
            if let Some((from, (exit_x, exit_y))) = exit.filter(|_| follows) {
                goes_on = true;
                let bend = meet - LAYER;
                let down = if exit_y < bend { format!("M{exit_x} {exit_y}V{bend}") } else { String::new() };
                let path = down + &curve((exit_x, bend.max(exit_y)), (x, meet));
                self.lines.push(Line {
                    path,
                    from,
                    to: None,
                    branch: is_empty.then_some(index),
                    label: None,
                    is_error,
                });
            }
        }
        goes_on.then_some((node, (x, meet)))
    }
}

/// A line that bends from one column to another.
fn curve((x, y): (u32, u32), (to_x, to_y): (u32, u32)) -> String {
    if x == to_x {
        return format!("M{x} {y}V{to_y}");
    }
    let middle = u32::midpoint(y, to_y);
    format!("M{x} {y}C{x} {middle} {to_x} {middle} {to_x} {to_y}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step() -> Item {
        Item::default()
    }

    fn branch(label: &str, items: Vec<Item>) -> Branch {
        Branch { label: label.to_owned(), items, is_error: false }
    }

    fn check(items: &[Item], expected: &str) {
        let Layout { width, height, corners, lines, frames } = layout(items);
        let mut said = format!("{width}x{height} {corners:?}");
        for Line { path, from, to, label, .. } in &lines {
            said += &format!("\n{from}-{} {path}", to.map_or_else(String::new, |to| to.to_string()));
            said += &label.as_ref().map(|(label, x, y)| format!(" {label} {x},{y}")).unwrap_or_default();
        }
        for PictureFrame { x, y, width, height } in &frames {
            said += &format!("\nframe {x},{y} {width}x{height}");
        }
        assert_eq!(said, expected.trim());
    }

    #[test]
    fn lists_are_columns() {
        check(&[], "80x16 []");
        check(&[step(), step()], "192x160 [(8, 8), (8, 100)]\n0-1 M96 60V100");
    }

    #[test]
    fn branches_stand_side_by_side_and_meet() {
        let choice = Item { branches: vec![branch("then", vec![step()]), branch("else", vec![])], ..step() };
        check(
            &[choice.clone(), step()],
            "280x292 [(52, 8), (8, 100), (52, 232)]
0-1 M140 60C140 80 96 80 96 100 then 96,90
1- M96 152C96 172 140 172 140 192
0- M140 60C140 80 240 80 240 100 else 240,90
0- M240 100V152M240 152C240 172 140 172 140 192
0-2 M140 192V232",
        );
        // Without a next step the branches do not meet, and an empty one is not drawn.
        check(&[choice], "280x160 [(52, 8), (8, 100)]\n0-1 M140 60C140 80 96 80 96 100 then 96,90");
    }

    #[test]
    fn steps_that_end_the_run_lead_nowhere() {
        let end = Item { is_end: true, ..step() };
        let choice = Item { branches: vec![branch("", vec![end.clone()]), branch("", vec![end])], ..step() };
        let lines = layout(&[choice, step()]).lines;
        assert!(lines.iter().all(|line| line.to != Some(3)), "{lines:?}");
    }

    #[test]
    fn loops_have_a_frame() {
        let repeated = Item { body: vec![step()], ..step() };
        check(
            &[repeated, step()],
            "224x284 [(24, 24), (24, 116), (24, 224)]
0-1 M112 76V116
0-2 M112 184V224
frame 8,8 208x176",
        );
    }

    fn items() -> impl Strategy<Value = Vec<Item>> {
        let leaf = any::<bool>().prop_map(|is_end| Item { is_end, ..Item::default() });
        let item = leaf.prop_recursive(4, 40, 4, |inner| {
            let list = prop::collection::vec(inner, 0..4);
            let branches = prop::collection::vec(list.clone().prop_map(|items| branch("b", items)), 0..4);
            (list, branches).prop_map(|(body, branches)| Item { body, branches, is_end: false })
        });
        prop::collection::vec(item, 0..4)
    }

    fn count(items: &[Item]) -> usize {
        let inner = |item: &Item| {
            1 + count(&item.body) + item.branches.iter().map(|branch| count(&branch.items)).sum::<usize>()
        };
        items.iter().map(inner).sum()
    }

    proptest! {
        #[test]
        fn steps_never_overlap_and_lie_in_the_picture(items in items()) {
            let Layout { width, height, corners, .. } = layout(&items);
            prop_assert_eq!(corners.len(), count(&items));
            for (index, (x, y)) in corners.iter().enumerate() {
                prop_assert!(x + WIDTH <= width && y + HEIGHT <= height, "{x},{y} in {width}x{height}");
                for (other_x, other_y) in &corners[index + 1..] {
                    let apart = x.abs_diff(*other_x) >= WIDTH || y.abs_diff(*other_y) >= HEIGHT;
                    prop_assert!(apart, "{x},{y} and {other_x},{other_y}");
                }
            }
        }
    }
}
