//! The values that a step may read.

use operators::Operators;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// The facts about a run that its steps may read.
#[derive(Clone, Debug)]
pub(crate) struct RunFacts {
    /// Its id.
    pub(crate) run_id: String,
    /// `_input`
    pub(crate) input: Value,
    /// `_user`
    pub(crate) user: Value,
    /// When it was created.
    pub(crate) created_at: i64,
    /// When it went on after its end: times that are over then count from there.
    pub(crate) resumed_at: Option<i64>,
    /// The operators of the program.
    pub(crate) operators: Arc<Operators>,
}

/// The results that are visible to the steps of one list: those of earlier steps of the list, and
/// those that were visible where the list begins.
#[derive(Debug, Default)]
pub(crate) struct Frame<'p> {
    parent: Option<&'p Frame<'p>>,
    results: Vec<(&'p str, Cow<'p, Value>)>,
    /// The name and the value of a loop's item, if it has items, and the index.
    iteration: Option<(Option<(&'p str, &'p Value)>, Value)>,
    error: Option<Value>,
}

impl<'p> Frame<'p> {
    /// The frame of a list of steps within another list.
    pub(super) fn within(parent: &'p Frame<'p>) -> Self {
        Self { parent: Some(parent), ..Self::default() }
    }

    /// The frame of an iteration.
    pub(super) fn iteration(parent: &'p Frame<'p>, item: Option<(&'p str, &'p Value)>, index: usize) -> Self {
        Self { iteration: Some((item, json!(index))), ..Self::within(parent) }
    }

    /// The frame of the steps that handle an error.
    pub(super) fn handler(parent: &'p Frame<'p>, error: Value) -> Self {
        Self { error: Some(error), ..Self::within(parent) }
    }

    pub(super) fn push(&mut self, id: &'p str, result: Cow<'p, Value>) {
        self.results.push((id, result));
    }

    fn chain(&self) -> impl Iterator<Item = &Frame<'p>> {
        std::iter::successors(Some(self), |frame| frame.parent)
    }

    /// Returns the result of a step.
    pub(crate) fn result(&self, id: &str) -> Option<&Value> {
        self.results().find(|(known, _)| *known == id).map(|(_, result)| result)
    }

    /// Returns all results.
    pub(crate) fn results(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.chain().flat_map(|frame| &frame.results).map(|(id, result)| (*id, &**result))
    }

    /// Returns the item of a loop by its name, or the index of the innermost loop.
    pub(crate) fn item(&self, name: &str) -> Option<&Value> {
        self.chain().filter_map(|frame| frame.iteration.as_ref()).find_map(|(item, index)| match (name, item) {
            ("index", _) => Some(index),
            (name, Some((known, item))) if name == *known => Some(*item),
            _ => None,
        })
    }

    /// Returns the items of all loops around, and the index of the innermost one.
    pub(crate) fn items(&self) -> Map<String, Value> {
        let mut items = Map::new();
        for (item, index) in self.chain().filter_map(|frame| frame.iteration.as_ref()) {
            if let Some((name, item)) = item {
                items.entry(*name).or_insert_with(|| (*item).clone());
            }
            items.entry("index").or_insert_with(|| index.clone());
        }
        items
    }

    /// Returns the error that is handled.
    pub(crate) fn error(&self) -> Option<&Value> {
        self.chain().find_map(|frame| frame.error.as_ref())
    }
}
