//! The state of a page: the values of its inputs by block id, shared with the agents on it.
//!
//! A person writes with [`PageState::set`], an agent with [`PageState::write_by_agent`]; the latter is shown at the field and
//! can be undone with one click.

use leptos::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use wire::page::{Block, BlockKind, Input, Page};

/// The state of the page around; a cheap handle.
#[derive(Clone, Copy)]
pub struct PageState {
    fields: StoredValue<BTreeMap<String, Field>>,
    announcement: RwSignal<String>,
}

/// One key of the state.
#[derive(Clone)]
struct Field {
    label: String,
    value: ArcRwSignal<Value>,
    agent_write: ArcRwSignal<Option<AgentWrite>>,
}

/// What an agent wrote over.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentWrite {
    /// The value that [`PageState::undo`] brings back.
    pub previous: Value,
    /// Counts an agent's writes to this field, so that each one can be shown anew.
    pub number: u32,
}

impl PageState {
    /// The state that the page begins with: a value for each of its inputs.
    pub fn new(page: &Page) -> Self {
        let mut fields = BTreeMap::new();
        collect_fields(&page.blocks, &mut fields);
        Self { fields: StoredValue::new(fields), announcement: RwSignal::new(String::new()) }
    }

    /// A key's value, `null` for an unknown one. Tracked.
    pub fn get(&self, key: &str) -> Value {
        self.field(key).value.get()
    }

    /// A key's value, `null` for an unknown one. Not tracked.
    pub fn get_untracked(&self, key: &str) -> Value {
        self.field(key).value.get_untracked()
    }

    /// Writes a value for the person at the page. What an agent wrote before is then theirs: nothing is left to undo.
    pub fn set(&self, key: &str, value: Value) {
        let field = self.field(key);
        if field.value.with_untracked(|now| *now == value) {
            return;
        }
        field.value.set(value);
        if field.agent_write.with_untracked(Option::is_some) {
            field.agent_write.set(None);
        }
    }

    /// All keys with their values. Not tracked.
    pub fn snapshot(&self) -> Map<String, Value> {
        let values = |fields: &BTreeMap<String, Field>| {
            fields.iter().map(|(key, field)| (key.clone(), field.value.get_untracked())).collect()
        };
        self.fields.with_value(values)
    }

    /// Writes an agent's values. Each field that changes shows it and can be undone; the change is announced once.
    pub fn write_by_agent(&self, writes: Vec<(String, Value)>) {
        let mut labels = Vec::new();
        for (key, value) in writes {
            let field = self.field(&key);
            let previous = field.value.get_untracked();
            if previous == value {
                continue;
            }
            let number = field.agent_write.with_untracked(|last| last.as_ref().map_or(0, |last| last.number)) + 1;
            field.value.set(value);
            field.agent_write.set(Some(AgentWrite { previous, number }));
            labels.push(field.label);
        }
        if !labels.is_empty() {
            self.announcement.set(format!("The agent changed {}.", join(&labels)));
        }
    }

    /// What an agent wrote over, until it is undone or the person edits the field. Tracked.
    pub fn agent_write(&self, key: &str) -> Option<AgentWrite> {
        self.field(key).agent_write.get()
    }

    /// The keys that hold a value of an agent which can be undone. Tracked.
    pub fn agent_writes(&self) -> Vec<String> {
        let written = |fields: &BTreeMap<String, Field>| {
            let written = fields.iter().filter(|(_, field)| field.agent_write.with(Option::is_some));
            written.map(|(key, _)| key.clone()).collect()
        };
        self.fields.with_value(written)
    }

    /// Brings back the value that the agent wrote over.
    pub fn undo(&self, key: &str) {
        let field = self.field(key);
        if let Some(write) = field.agent_write.get_untracked() {
            field.value.set(write.previous);
            field.agent_write.set(None);
            self.announcement.set(format!("{} is as it was.", field.label));
        }
    }

    /// Brings back all that the agent wrote over.
    pub fn undo_all(&self) {
        let written = untrack(|| self.agent_writes());
        let count = written.len();
        written.iter().for_each(|key| self.undo(key));
        if count > 1 {
            self.announcement.set(format!("{count} fields are as they were."));
        }
    }

    /// Accepts all that the agent wrote: nothing is left to undo.
    pub fn keep_all(&self) {
        for key in untrack(|| self.agent_writes()) {
            self.field(&key).agent_write.set(None);
        }
    }

    /// What a screen reader should say about the last change. Tracked.
    pub fn announcement(&self) -> String {
        self.announcement.get()
    }

    /// The key's field. One that no block declares is made when it is first used, so that an agent may write before a block reads.
    fn field(&self, key: &str) -> Field {
        if let Some(field) = self.fields.with_value(|fields| fields.get(key).cloned()) {
            return field;
        }
        let field = Field::new(words(key), Value::Null);
        self.fields.update_value(|fields| {
            fields.insert(key.to_owned(), field.clone());
        });
        field
    }
}

impl Field {
    fn new(label: String, value: Value) -> Self {
        Self { label, value: ArcRwSignal::new(value), agent_write: ArcRwSignal::new(None) }
    }
}

/// The state of the page around.
pub fn use_page_state() -> PageState {
    expect_context()
}

/// An input's label: its own, or its id in words.
pub fn label(id: &str, input: &Input) -> String {
    input.label.clone().unwrap_or_else(|| words(id))
}

/// `legal_name` and `legalName` as `Legal name`.
pub(crate) fn words(id: &str) -> String {
    let mut words = String::with_capacity(id.len() + 4);
    for letter in id.chars() {
        match letter {
            '_' | '-' | '.' => words.push(' '),
            letter if letter.is_ascii_uppercase() && words.ends_with(|last: char| last.is_ascii_lowercase()) => {
                words.push(' ');
                words.push(letter.to_ascii_lowercase());
            }
            letter if words.is_empty() => words.push(letter.to_ascii_uppercase()),
            letter => words.push(letter),
        }
    }
    words
}

fn collect_fields(blocks: &[Block], fields: &mut BTreeMap<String, Field>) {
    for block in blocks {
        if let Some((input, empty)) = input(&block.kind) {
            let value = input.initial.clone().unwrap_or(empty);
            fields.insert(block.id.clone(), Field::new(label(&block.id, input), value));
        }
        collect_fields(&block.blocks, fields);
    }
}

/// An input block's properties and its value without an initial one.
fn input(kind: &BlockKind) -> Option<(&Input, Value)> {
    match kind {
        BlockKind::TextInput(input)
        | BlockKind::TextArea(input)
        | BlockKind::NumberInput(input)
        | BlockKind::Select(input)
        | BlockKind::DatePicker(input) => Some((input, Value::Null)),
        BlockKind::Switch(input) => Some((input, Value::Bool(false))),
        BlockKind::Box(_)
        | BlockKind::Columns(_)
        | BlockKind::Card(_)
        | BlockKind::Title(_)
        | BlockKind::Markdown(_)
        | BlockKind::AgentChat(_)
        | BlockKind::AgentConversations(_) => None,
    }
}

/// Two labels by name; of more, the first and how many others.
fn join(labels: &[String]) -> String {
    match labels {
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, rest @ ..] => format!("{one} and {} other fields", rest.len()),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page() -> Page {
        let blocks = json!([
            {"id": "form", "type": "Card", "properties": {"title": "Intake"}, "blocks": [
                {"id": "legal_name", "type": "TextInput", "properties": {}},
                {"id": "urgent", "type": "Switch", "properties": {"label": "Is it urgent?"}},
                {"id": "seats", "type": "NumberInput", "properties": {"initial": 3}},
            ]},
        ]);
        serde_json::from_value(json!({"id": "demo", "blocks": blocks})).unwrap()
    }

    fn with_state(test: impl FnOnce(PageState)) {
        Owner::new().with(|| test(PageState::new(&page())));
    }

    #[test]
    fn begins_with_a_value_for_each_input() {
        with_state(|state| {
            assert_eq!(Value::Object(state.snapshot()), json!({"legal_name": null, "seats": 3, "urgent": false}));
        });
    }

    #[test]
    fn an_agents_write_can_be_undone() {
        with_state(|state| {
            state.set("legal_name", json!("Ada"));
            state.write_by_agent(vec![("legal_name".into(), json!("Ada Lovelace")), ("seats".into(), json!(3))]);
            assert_eq!(state.get_untracked("legal_name"), json!("Ada Lovelace"));
            assert_eq!(state.agent_writes(), ["legal_name"], "an equal value is no change");
            assert_eq!(state.announcement(), "The agent changed Legal name.");
            state.undo("legal_name");
            assert_eq!(state.get_untracked("legal_name"), json!("Ada"));
            assert_eq!(state.agent_write("legal_name"), None);
        });
    }

    #[test]
    fn the_second_write_undoes_to_the_first() {
        with_state(|state| {
            state.write_by_agent(vec![("seats".into(), json!(4))]);
            state.write_by_agent(vec![("seats".into(), json!(5))]);
            assert_eq!(state.agent_write("seats"), Some(AgentWrite { previous: json!(4), number: 2 }));
        });
    }

    #[test]
    fn all_writes_can_be_undone_or_kept_at_once() {
        let writes = || vec![("seats".into(), json!(4)), ("urgent".into(), json!(true))];
        with_state(|state| {
            state.write_by_agent(writes());
            state.undo_all();
            assert_eq!(Value::Object(state.snapshot()), json!({"legal_name": null, "seats": 3, "urgent": false}));
            assert_eq!(state.announcement(), "2 fields are as they were.");
            state.write_by_agent(writes());
            state.keep_all();
            assert_eq!(Value::Object(state.snapshot()), json!({"legal_name": null, "seats": 4, "urgent": true}));
            assert!(state.agent_writes().is_empty());
        });
    }

    #[test]
    fn an_edit_keeps_the_value_and_ends_the_undo() {
        with_state(|state| {
            state.write_by_agent(vec![
                ("seats".into(), json!(4)),
                ("urgent".into(), json!(true)),
                ("legal_name".into(), json!("A")),
            ]);
            assert_eq!(state.announcement(), "The agent changed Seats and 2 other fields.");
            state.set("seats", json!(9));
            assert_eq!(state.agent_writes(), ["legal_name", "urgent"]);
            assert_eq!(state.get_untracked("seats"), json!(9));
        });
    }

    #[test]
    fn labels_are_ids_in_words() {
        for (id, expected) in
            [("legal_name", "Legal name"), ("legalName", "Legal name"), ("VAT", "VAT"), ("e-mail", "E mail")]
        {
            assert_eq!(words(id), expected);
        }
    }
}
