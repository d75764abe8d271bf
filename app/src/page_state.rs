//! The state of a page: the values of its inputs by block id, shared with the agents on it.
//!
//! A person writes with [`PageState::set`], an agent with [`PageState::write_by_agent`]; the latter is shown at the field and
//! can be undone with one click.

mod form;

use crate::prelude::*;
use crate::texts::{self, Text, fill};
use litemap::LiteMap;
use serde_json::{Map, Value};
use std::sync::Arc;
use wire::page::{Block, Page};

/// Says what is wrong with a value.
type Check = Arc<dyn Fn(&Value) -> Option<String> + Send + Sync>;

/// The state of the page around; a cheap handle.
#[derive(Clone, Copy)]
pub struct PageState {
    fields: StoredValue<LiteMap<String, Field>>,
    /// The inputs that are on the page and what they demand, in the order of the page.
    checks: StoredValue<Vec<(String, Check)>>,
    /// Rises with every write.
    writes: RwSignal<u32>,
    values: Memo<Value>,
    announcement: RwSignal<String>,
    /// The input that should be seen now.
    wanted: RwSignal<Option<String>>,
    /// Inputs whose values are the person's, and may be of another conversation: they are asked
    /// about them.
    left_over: RwSignal<Vec<String>>,
}

/// One key of the state.
#[derive(Clone)]
struct Field {
    label: String,
    initial: Value,
    value: ArcRwSignal<Value>,
    agent_write: ArcRwSignal<Option<AgentWrite>>,
    problem: ArcRwSignal<Option<String>>,
}

/// What an agent wrote over.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentWrite {
    /// The value that [`PageState::undo`] brings back.
    pub previous: Value,
    /// What was there before the first of several writes.
    pub origin: Value,
    /// Counts an agent's writes to this field, so that each one can be shown anew.
    pub number: u32,
}

impl PageState {
    /// The state that the page begins with: a value for each of its inputs. `evaluate` is for initial values that are operators.
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
            wanted: RwSignal::new(None),
            left_over: RwSignal::new(Vec::new()),
        }
    }

    /// Makes a key known that no page declares: an input of a page in Rust. One that is known already stays as it is.
    pub fn declare(&self, key: &str, label: Option<String>, initial: Value) {
        let is_new = self.fields.with_value(|fields| !fields.contains_key(key));
        if is_new {
            let field = Field::new(label.unwrap_or_else(|| words(key)), initial);
            self.fields.update_value(|fields| drop(fields.insert(key.to_owned(), field)));
            self.bump();
        }
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
        self.put(key, &field, value);
        if field.agent_write.with_untracked(Option::is_some) {
            field.agent_write.set(None);
        }
    }

    /// All keys with their values. Not tracked.
    pub fn snapshot(&self) -> Map<String, Value> {
        snapshot(self.fields)
    }

    /// Reads all keys with their values, as an object. Tracked.
    pub fn with_values<T>(&self, read: impl FnOnce(&Value) -> T) -> T {
        self.values.with(read)
    }

    /// Puts keys back to what they held at first; without a list, all.
    pub fn reset(&self, keys: Option<&[String]>) {
        let all = || self.fields.with_value(|fields| fields.keys().cloned().collect::<Vec<_>>());
        for key in keys.map_or_else(all, <[String]>::to_vec) {
            let field = self.field(&key);
            self.put(&key, &field, field.initial.clone());
            field.agent_write.set(None);
            field.problem.set(None);
        }
    }

    /// What an input demands of its value, until the component around goes.
    pub(crate) fn demand(&self, key: &str, check: impl Fn(&Value) -> Option<String> + Send + Sync + 'static) {
        let own: Check = Arc::new(check);
        self.checks.update_value(|checks| checks.push((key.to_owned(), own.clone())));
        let checks = self.checks;
        let known = StoredValue::new(own);
        on_cleanup(move || {
            // The page may have gone as a whole.
            checks.try_update_value(|checks| {
                known.with_value(|own| checks.retain(|(_, check)| !Arc::ptr_eq(check, own)))
            });
        });
    }

    /// Checks one input and shows what is wrong with it.
    pub(crate) fn check(&self, key: &str) {
        self.validate(Some(&[key.to_owned()]));
    }

    /// Checks inputs, all without a list, and shows at each what is wrong with it. Answers the keys of those that are wrong.
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
            if field.problem.with_untracked(|shown| *shown != problem) {
                field.problem.set(problem);
            }
        }
        wrong
    }

    /// What is wrong with the value of an input, once it was checked. Tracked.
    pub fn problem(&self, key: &str) -> Option<String> {
        self.field(key).problem.get()
    }

    /// What is wrong with inputs, of all without a list, as it was shown last. Tracked.
    pub(crate) fn problems(&self, keys: Option<&[String]>) -> String {
        let all = self.fields.with_value(|fields| fields.keys().cloned().collect::<Vec<_>>());
        let all = all.into_iter().filter(|key| keys.is_none_or(|keys| keys.contains(key)));
        let wrong = all.filter_map(|key| self.problem(&key).map(|problem| format!(" {key}: {problem}")));
        wrong.fold("The page's inputs are not right.".to_owned(), |said, problem| said + &problem)
    }

    /// Checks inputs, all without a list. When one is wrong, says so and brings it into view; answers whether all are right.
    pub fn demand_valid(&self, keys: Option<&[String]>) -> bool {
        let wrong = self.validate(keys);
        if !wrong.is_empty() {
            self.ask_to_correct(&wrong);
        }
        wrong.is_empty()
    }

    fn ask_to_correct(&self, wrong: &[String]) {
        let labels: Vec<_> = wrong.iter().map(|key| self.field(key).label).collect();
        self.announcement.set(fill(Text::PleaseCorrect, &[&join(&labels)]));
        if let Some(first) = wrong.first() {
            self.wanted.set(Some(first.clone()));
        }
    }

    /// The input that should be seen now: whoever hides it shows it. Tracked.
    pub(crate) fn wanted(&self) -> Option<String> {
        self.wanted.get()
    }

    /// Whether the page is no longer there.
    pub(crate) fn is_gone(&self) -> bool {
        self.announcement.is_disposed()
    }

    fn bump(&self) {
        self.writes.update(|count| *count = count.wrapping_add(1));
    }

    /// Writes a value; what was said to be wrong is looked at again.
    fn put(&self, key: &str, field: &Field, value: Value) {
        field.value.set(value);
        self.bump();
        if field.problem.with_untracked(Option::is_some) {
            self.check(key);
        }
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
            let last = field.agent_write.get_untracked();
            let number = last.as_ref().map_or(0, |last| last.number) + 1;
            let origin = last.map_or_else(|| previous.clone(), |last| last.origin);
            self.put(&key, &field, value);
            field.agent_write.set(Some(AgentWrite { previous, origin, number }));
            labels.push(field.label);
        }
        if !labels.is_empty() {
            self.announcement.set(fill(Text::AgentChanged, &[&join(&labels)]));
        }
    }

    /// What an agent wrote over, until it is undone or the person edits the field. Tracked.
    pub fn agent_write(&self, key: &str) -> Option<AgentWrite> {
        self.field(key).agent_write.get()
    }

    /// The keys that hold a value of an agent which can be undone. Tracked.
    pub fn agent_writes(&self) -> Vec<String> {
        let written = |fields: &LiteMap<String, Field>| {
            let written = fields.iter().filter(|(_, field)| field.agent_write.with(Option::is_some));
            written.map(|(key, _)| key.clone()).collect()
        };
        self.fields.with_value(written)
    }

    /// Brings back the value that the agent wrote over.
    pub fn undo(&self, key: &str) {
        let field = self.field(key);
        if let Some(write) = field.agent_write.get_untracked() {
            self.put(key, &field, write.previous);
            field.agent_write.set(None);
            self.announcement.set(fill(Text::FieldAsItWas, &[&field.label]));
        }
    }

    /// Brings back all that the agent wrote over.
    pub fn undo_all(&self) {
        let written = untrack(|| self.agent_writes());
        let count = written.len();
        written.iter().for_each(|key| self.undo(key));
        if count > 1 {
            self.announcement.set(texts::count(Text::FieldsAsTheyWere, count));
        }
    }

    /// Accepts all that the agent wrote: nothing is left to undo.
    pub fn keep_all(&self) {
        for key in untrack(|| self.agent_writes()) {
            self.field(&key).agent_write.set(None);
        }
    }

    /// Lets a screen reader say something.
    pub(crate) fn announce(&self, sentence: String) {
        self.announcement.set(sentence);
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
        Self {
            label,
            initial: value.clone(),
            value: ArcRwSignal::new(value),
            agent_write: ArcRwSignal::new(None),
            problem: ArcRwSignal::new(None),
        }
    }
}

/// The state of the page around.
pub fn use_page_state() -> PageState {
    expect_context()
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

fn snapshot(fields: StoredValue<LiteMap<String, Field>>) -> Map<String, Value> {
    fields.with_value(|fields| fields.iter().map(|(key, field)| (key.clone(), field.value.get_untracked())).collect())
}

fn collect_fields(blocks: &[Block], evaluate: &impl Fn(&Value) -> Value, fields: &mut LiteMap<String, Field>) {
    for block in blocks {
        if block.kind.field_type(&block.properties).is_some() {
            let label = block.properties.get("label").and_then(Value::as_str).map(str::to_owned);
            let initial = block.properties.get("initial").map(evaluate).filter(|initial| !initial.is_null());
            let value = initial.unwrap_or_else(|| block.kind.empty_value());
            fields.insert(block.id.clone(), Field::new(label.unwrap_or_else(|| words(&block.id)), value));
        }
        collect_fields(&block.blocks, evaluate, fields);
    }
}

/// Two labels by name; of more, the first and how many others.
fn join(labels: &[String]) -> String {
    match labels {
        [one] => one.clone(),
        [one, two] => fill(Text::And, &[one, two]),
        [one, rest @ ..] => fill(Text::AndOtherFields, &[one, &rest.len().to_string()]),
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
        Owner::new().with(|| test(PageState::new(&page(), Value::clone)));
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
            assert_eq!(
                state.agent_write("seats"),
                Some(AgentWrite { previous: json!(4), origin: json!(3), number: 2 })
            );
        });
    }

    #[test]
    fn all_writes_can_be_undone_or_kept_at_once() {
        let writes = || vec![("seats".into(), json!(4)), ("urgent".into(), json!(true))];
        with_state(|state| {
            state.write_by_agent(writes());
            state.undo_all();
            assert_eq!(Value::Object(state.snapshot()), json!({"legal_name": null, "seats": 3, "urgent": false}));
            assert_eq!(state.announcement(), "2 fields were restored.");
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
    fn what_is_demanded_is_checked_when_asked_and_then_with_every_change() {
        with_state(|state| {
            state.demand("legal_name", |value| value.is_null().then(|| "Needed.".to_owned()));
            assert_eq!(state.problem("legal_name"), None);
            assert_eq!(state.validate(Some(&["seats".to_owned()])), Vec::<String>::new());
            assert_eq!(state.validate(None), ["legal_name"]);
            assert_eq!(state.problem("legal_name").as_deref(), Some("Needed."));
            state.set("legal_name", json!("Ada"));
            assert_eq!(state.problem("legal_name"), None);
            state.set("legal_name", json!(null));
            assert_eq!(state.problem("legal_name"), None, "nobody has asked");
        });
    }

    #[test]
    fn a_reset_brings_back_the_beginning() {
        with_state(|state| {
            state.set("legal_name", json!("Ada"));
            state.write_by_agent(vec![("seats".into(), json!(4))]);
            state.set("free", json!([1]));
            state.reset(Some(&["seats".to_owned()]));
            assert_eq!(
                state.with_values(Value::clone),
                json!({"free": [1], "legal_name": "Ada", "seats": 3, "urgent": false})
            );
            assert!(state.agent_writes().is_empty());
            state.reset(None);
            assert_eq!(
                state.with_values(Value::clone),
                json!({"free": null, "legal_name": null, "seats": 3, "urgent": false})
            );
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
