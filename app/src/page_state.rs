//! The state of a page: the values of its inputs by block id, shared with the agents on the page.
//!
//! The user writes with [`PageState::set`], an agent with [`PageState::write_by_agent`]. A field
//! shows that an agent changed it, and the change can be undone with one click.

mod field;
mod form;
mod path;
#[cfg(test)]
mod tests;

pub use field::AgentWrite;
pub(crate) use wire::form::label_from_id;

use crate::prelude::*;
use crate::texts::{self, Text, fill};
use field::{FieldState, collect_fields, join_labels, snapshot};
use litemap::LiteMap;
use serde_json::{Map, Value};
use std::sync::Arc;
use wire::page::Page;

/// Checks a value and returns the error message for an invalid one.
type Check = Arc<dyn Fn(&Value) -> Option<String> + Send + Sync>;

/// The state of the page; a cheap handle.
#[derive(Clone, Copy)]
pub struct PageState {
    fields: StoredValue<LiteMap<String, FieldState>>,
    /// The checks of the inputs that are on the page, in the order of the page.
    checks: StoredValue<Vec<(String, Check)>>,
    /// Counts the writes.
    writes: RwSignal<u32>,
    values: Memo<Value>,
    announcement: RwSignal<String>,
    /// The input that should be brought into view.
    requested_input: RwSignal<Option<String>>,
    /// Inputs with values that the user entered, perhaps for another conversation: the page asks
    /// whether to keep them.
    leftover_entries: RwSignal<Vec<String>>,
}

impl PageState {
    /// Creates the initial state, with a value for each input of the page. `evaluate` evaluates
    /// initial values that are operators.
    pub fn new(page: &Page, evaluate: impl Fn(&Value) -> Value) -> Self {
        let mut fields = LiteMap::new();
        collect_fields(&page.blocks, &evaluate, &mut fields);
        let fields = StoredValue::new(fields);
        let writes = RwSignal::new(0);
        let values = Memo::new(move |_| {
            writes.track();
            Value::Object(snapshot(fields))
        });
        Self {
            fields,
            checks: StoredValue::new(Vec::new()),
            writes,
            values,
            announcement: RwSignal::new(String::new()),
            requested_input: RwSignal::new(None),
            leftover_entries: RwSignal::new(Vec::new()),
        }
    }

    /// Declares a key for an input of a page written in Rust. A key that already exists stays as it
    /// is.
    pub fn declare(&self, key: &str, label: Option<String>, initial: Value) {
        if !self.has(key) {
            let field = FieldState::new(label.unwrap_or_else(|| label_from_id(key)), initial);
            self.fields.update_value(|fields| drop(fields.insert(key.to_owned(), field)));
            self.count_write();
        }
    }

    /// Returns the value of a key, `null` for an unknown one. Tracked.
    pub fn get(&self, key: &str) -> Value {
        self.field(key).value.get()
    }

    /// Returns the value of a key, `null` for an unknown one. Not tracked.
    pub fn get_untracked(&self, key: &str) -> Value {
        self.field(key).value.get_untracked()
    }

    /// Writes a value for the user. This accepts an earlier write by an agent: it can no longer be
    /// undone.
    pub fn set(&self, key: &str, value: Value) {
        let field = self.field(key);
        if field.value.with_untracked(|now| *now == value) {
            return;
        }
        self.write(key, &field, value);
        if field.agent_write.with_untracked(Option::is_some) {
            field.agent_write.set(None);
        }
    }

    /// Returns all keys with their values. Not tracked.
    pub fn snapshot(&self) -> Map<String, Value> {
        snapshot(self.fields)
    }

    /// Reads all keys with their values, as an object. Tracked.
    pub fn with_values<T>(&self, read: impl FnOnce(&Value) -> T) -> T {
        self.values.with(read)
    }

    /// Resets keys, or all keys without a list, to their initial values.
    pub fn reset(&self, keys: Option<&[String]>) {
        let all = || self.fields.with_value(|fields| fields.keys().cloned().collect::<Vec<_>>());
        for key in keys.map_or_else(all, <[String]>::to_vec) {
            let field = self.field(&key);
            self.write(&key, &field, field.initial.clone());
            field.agent_write.set(None);
            field.error.set(None);
        }
    }

    /// Adds a check for the value of an input, until the owner of the component is disposed.
    pub(crate) fn add_check(&self, key: &str, check: impl Fn(&Value) -> Option<String> + Send + Sync + 'static) {
        let own: Check = Arc::new(check);
        self.checks.update_value(|checks| checks.push((key.to_owned(), own.clone())));
        let checks = self.checks;
        let known = StoredValue::new(own);
        on_cleanup(move || {
            // The whole page may be gone already.
            checks.try_update_value(|checks| {
                known.with_value(|own| checks.retain(|(_, check)| !Arc::ptr_eq(check, own)))
            });
        });
    }

    /// Checks one input and shows its error.
    pub(crate) fn validate_one(&self, key: &str) {
        self.validate(Some(&[key.to_owned()]));
    }

    /// Checks the given inputs, or all without a list, and shows their errors. Returns the keys of
    /// the invalid ones.
    pub fn validate(&self, keys: Option<&[String]>) -> Vec<String> {
        let mut wrong = Vec::new();
        for (key, check) in self.checks.get_value() {
            if keys.is_some_and(|keys| !keys.contains(&key)) {
                continue;
            }
            let field = self.field(&key);
            let problem = untrack(|| check(&field.value.get_untracked()));
            if problem.is_some() {
                wrong.push(key);
            }
            if field.error.with_untracked(|shown| *shown != problem) {
                field.error.set(problem);
            }
        }
        wrong
    }

    /// Returns the error of an input, as of its last check. Tracked.
    pub fn validation_error(&self, key: &str) -> Option<String> {
        self.field(key).error.get()
    }

    /// Describes the errors of the given inputs, or of all without a list, as of their last check.
    /// Tracked.
    pub(crate) fn validation_summary(&self, keys: Option<&[String]>) -> String {
        let all = self.fields.with_value(|fields| fields.keys().cloned().collect::<Vec<_>>());
        let all = all.into_iter().filter(|key| keys.is_none_or(|keys| keys.contains(key)));
        let wrong = all.filter_map(|key| self.validation_error(&key).map(|problem| format!(" {key}: {problem}")));
        wrong.fold("Some inputs of the page are invalid.".to_owned(), |said, problem| said + &problem)
    }

    /// Checks the given inputs, or all without a list. If any is invalid, announces that and brings
    /// the first one into view. Returns whether all are valid.
    pub fn require_valid(&self, keys: Option<&[String]>) -> bool {
        let wrong = self.validate(keys);
        if !wrong.is_empty() {
            self.report_invalid(&wrong);
        }
        wrong.is_empty()
    }

    fn report_invalid(&self, wrong: &[String]) {
        let labels: Vec<_> = wrong.iter().map(|key| self.field(key).label).collect();
        self.announcement.set(fill(Text::PleaseCorrect, &[&join_labels(&labels)]));
        if let Some(first) = wrong.first() {
            self.requested_input.set(Some(first.clone()));
        }
    }

    /// Returns the input that should be brought into view, for components that may hide it.
    /// Tracked.
    pub(crate) fn requested_input(&self) -> Option<String> {
        self.requested_input.get()
    }

    /// Returns whether the page has been disposed.
    pub(crate) fn is_disposed(&self) -> bool {
        self.announcement.is_disposed()
    }

    fn count_write(&self) {
        self.writes.update(|count| *count = count.wrapping_add(1));
    }

    /// Writes a value, and checks it again if an error is shown.
    fn write(&self, key: &str, field: &FieldState, value: Value) {
        field.value.set(value);
        self.count_write();
        if field.error.with_untracked(Option::is_some) {
            self.validate_one(key);
        }
    }

    /// Writes values for an agent. Each field that changes is highlighted and can be undone; the
    /// change is announced once.
    pub fn write_by_agent(&self, writes: Vec<(String, Value)>) {
        let mut labels = Vec::new();
        for (key, value) in writes {
            let field = self.field(&key);
            let previous = field.value.get_untracked();
            if previous == value {
                continue;
            }
            let last = field.agent_write.get_untracked();
            let number = last.as_ref().map_or(0, |last| last.count) + 1;
            let origin = last.map_or_else(|| previous.clone(), |last| last.original);
            self.write(&key, &field, value);
            field.agent_write.set(Some(AgentWrite { previous, original: origin, count: number }));
            labels.push(field.label);
        }
        if !labels.is_empty() {
            self.announcement.set(fill(Text::AgentChanged, &[&join_labels(&labels)]));
        }
    }

    /// Returns the value that an agent's write replaced, until it is undone or the user edits the field. Tracked.
    pub fn agent_write(&self, key: &str) -> Option<AgentWrite> {
        self.field(key).agent_write.get()
    }

    /// Returns the keys with an agent's value that can be undone. Tracked.
    pub fn agent_writes(&self) -> Vec<String> {
        let written = |fields: &LiteMap<String, FieldState>| {
            let written = fields.iter().filter(|(_, field)| field.agent_write.with(Option::is_some));
            written.map(|(key, _)| key.clone()).collect()
        };
        self.writes.track();
        self.fields.with_value(written)
    }

    /// Returns whether an agent wrote a key that no input shows. Tracked.
    pub(crate) fn has_agent_write_without_input(&self) -> bool {
        // The key may be new.
        self.writes.track();
        self.fields.with_value(|fields| {
            fields.values().any(|field| !field.is_input && field.agent_write.with(Option::is_some))
        })
    }

    /// Restores the value that the agent's last write replaced.
    pub fn undo(&self, key: &str) {
        let field = self.field(key);
        if let Some(write) = field.agent_write.get_untracked() {
            self.write(key, &field, write.previous);
            field.agent_write.set(None);
            self.announcement.set(fill(Text::FieldAsItWas, &[&field.label]));
        }
    }

    /// Undoes the agent's last write to each field.
    pub fn undo_all(&self) {
        let written = untrack(|| self.agent_writes());
        let count = written.len();
        written.iter().for_each(|key| self.undo(key));
        if count > 1 {
            self.announcement.set(texts::fill_count(Text::FieldsAsTheyWere, count));
        }
    }

    /// Accepts everything that the agent wrote: it can no longer be undone.
    pub fn accept_all(&self) {
        for key in untrack(|| self.agent_writes()) {
            self.field(&key).agent_write.set(None);
        }
    }

    /// Announces a sentence to screen readers.
    pub(crate) fn announce(&self, sentence: String) {
        self.announcement.set(sentence);
    }

    /// Returns the text that screen readers should announce. Tracked.
    pub fn announcement(&self) -> String {
        self.announcement.get()
    }

    /// Returns whether the key belongs to an input.
    pub(crate) fn is_input(&self, key: &str) -> bool {
        self.fields.with_value(|fields| fields.get(key).is_some_and(|field| field.is_input))
    }

    /// Returns whether the state has a key.
    fn has(&self, key: &str) -> bool {
        self.fields.with_value(|fields| fields.contains_key(key))
    }

    /// Returns the field of a key. The field of an undeclared key is created on first use, so that
    /// an agent may write before a block reads.
    fn field(&self, key: &str) -> FieldState {
        if let Some(field) = self.fields.with_value(|fields| fields.get(key).cloned()) {
            return field;
        }
        let field = FieldState { is_input: false, ..FieldState::new(label_from_id(key), Value::Null) };
        self.fields.update_value(|fields| {
            fields.insert(key.to_owned(), field.clone());
        });
        field
    }
}

/// Returns the state of the page.
pub fn use_page_state() -> PageState {
    expect_context()
}
