//! The tree with a number for each value and key instead of its position, so that a diagnostic
//! tells exactly which one it is about.

use crate::tree::{Tree, Value};
use config::{MapEntry, Node, NodeKind, Span};
use std::collections::{HashMap, HashSet};

/// A step of a path into the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Where a value or a key is: in the tree, and in the app.
pub(super) struct Position {
    pub(super) path: Vec<Step>,
    pub(super) at: Span,
}

/// Converts the tree. The number is in the column of a span; it counts from 1.
pub(super) fn number(tree: &Tree) -> Node {
    node(tree, &mut 0)
}

fn next(number: &mut u32) -> Span {
    *number += 1;
    Span { file: 0, line: 0, column: *number, width: 1 }
}

fn node(tree: &Tree, number: &mut u32) -> Node {
    let at = next(number);
    let kind = match &tree.value {
        Value::Null | Value::Removed => NodeKind::Null,
        Value::Bool(value) => NodeKind::Bool(*value),
        Value::Number(value) => NodeKind::Number(value.clone()),
        Value::Text(text) => NodeKind::Text(text.clone()),
        Value::List(items) => NodeKind::List(items.iter().map(|item| node(item, number)).collect()),
        Value::Map(entries) => {
            let mut map = Vec::with_capacity(entries.len());
            for entry in entries {
                let key_at = next(number);
                map.push(MapEntry { key: entry.key.clone(), key_at, value: node(&entry.value, number) });
            }
            NodeKind::Map(map)
        }
    };
    Node { at, kind }
}

/// Returns the positions of some numbers.
pub(super) fn positions(tree: &Tree, numbers: &HashSet<u32>) -> HashMap<u32, Position> {
    let mut search = Search { numbers, path: Vec::new(), number: 0, found: HashMap::new() };
    search.visit(tree);
    search.found
}

struct Search<'n> {
    numbers: &'n HashSet<u32>,
    path: Vec<Step>,
    number: u32,
    found: HashMap<u32, Position>,
}

impl Search<'_> {
    fn count(&mut self, at: Span) {
        self.number += 1;
        if self.numbers.contains(&self.number) {
            self.found.insert(self.number, Position { path: self.path.clone(), at });
        }
    }

    fn visit(&mut self, tree: &Tree) {
        self.count(tree.at);
        for (index, item) in tree.items().iter().enumerate() {
            self.path.push(Step::Index(index));
            self.visit(item);
            self.path.pop();
        }
        for entry in tree.entries() {
            self.path.push(Step::Key(entry.key.clone()));
            self.count(entry.key_at);
            self.visit(&entry.value);
            self.path.pop();
        }
    }
}

/// Returns the value at a path.
pub(super) fn find<'t>(tree: &'t mut Tree, path: &[Step]) -> Option<&'t mut Tree> {
    path.iter().try_fold(tree, |tree, step| match step {
        Step::Key(key) => tree.get_mut(key),
        Step::Index(index) => tree.items_mut().get_mut(*index),
    })
}

/// Returns the value at a path.
pub(super) fn look<'t>(tree: &'t Tree, path: &[Step]) -> Option<&'t Tree> {
    path.iter().try_fold(tree, |tree, step| match step {
        Step::Key(key) => tree.get(key),
        Step::Index(index) => tree.items().get(*index),
    })
}
