//! One field of the page state: its value, what an agent's write to it replaced, and its label.

use crate::prelude::*;
use crate::texts::{Text, fill};
use litemap::LiteMap;
use serde_json::{Map, Value};
use wire::form::label_from_id;
use wire::page::Block;

/// One key of the state.
#[derive(Clone)]
pub(super) struct FieldState {
    pub(super) label: String,
    /// Whether an input shows the value, with its agent's change.
    pub(super) is_input: bool,
    pub(super) initial: Value,
    pub(super) value: ArcRwSignal<Value>,
    pub(super) agent_write: ArcRwSignal<Option<AgentWrite>>,
    pub(super) error: ArcRwSignal<Option<String>>,
}

/// The value that an agent's write replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentWrite {
    /// The value that [`PageState::undo`] restores.
    pub previous: Value,
    /// The value before the first of several writes by agents.
    pub original: Value,
    /// Counts the agent's writes to this field, so that each one can be highlighted again.
    pub count: u32,
}

impl FieldState {
    pub(super) fn new(label: String, value: Value) -> Self {
        Self {
            label,
            is_input: true,
            initial: value.clone(),
            value: ArcRwSignal::new(value),
            agent_write: ArcRwSignal::new(None),
            error: ArcRwSignal::new(None),
        }
    }
}

/// Returns all keys with their values. Not tracked.
pub(super) fn snapshot(fields: StoredValue<LiteMap<String, FieldState>>) -> Map<String, Value> {
    fields.with_value(|fields| fields.iter().map(|(key, field)| (key.clone(), field.value.get_untracked())).collect())
}

/// Collects the fields of all inputs in these blocks and the blocks within them.
pub(super) fn collect_fields(
    blocks: &[Block],
    evaluate: &impl Fn(&Value) -> Value,
    fields: &mut LiteMap<String, FieldState>,
) {
    for block in blocks {
        if block.kind.field_type(&block.properties).is_some() {
            let label = block.properties.get("label").and_then(Value::as_str).map(str::to_owned);
            let initial = block.properties.get("initial").map(evaluate).filter(|initial| !initial.is_null());
            let value = initial.unwrap_or_else(|| block.kind.empty_value());
            fields.insert(block.id.clone(), FieldState::new(label.unwrap_or_else(|| label_from_id(&block.id)), value));
        }
        collect_fields(&block.blocks, evaluate, fields);
    }
}

/// Joins labels: one or two by name, more as the first one and the number of the others.
pub(super) fn join_labels(labels: &[String]) -> String {
    match labels {
        [one] => one.clone(),
        [one, two] => fill(Text::And, &[one, two]),
        [one, rest @ ..] => fill(Text::AndOtherFields, &[one, &rest.len().to_string()]),
        [] => String::new(),
    }
}
