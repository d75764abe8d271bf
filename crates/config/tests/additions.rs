//! Operators and types of blocks that a program adds, as authors of a config see them.

use config::{Language, LoadResult};
use insta::assert_snapshot;
use operators::{Definition, Kind, Operators, Parameters, required};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use wire::page::{AddedBlock, BlockType};

static SHARE: Definition = Definition::custom(
    "_share",
    Parameters::Named(&[required("part", Kind::Number), required("of", Kind::Number)]),
    |_| Ok(Value::Null),
    "A share.",
);

/// Shows a level.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the type is the schema of the properties")]
struct Gauge {
    /// The level.
    #[schemars(range(max = 100))]
    value: f64,
    /// Texts below it.
    #[serde(default)]
    notes: Vec<String>,
}

const GAUGE: AddedBlock = AddedBlock {
    name: "Gauge",
    events: &["onFull"],
    holds_blocks: false,
    schema: |generator| generator.subschema_for::<Gauge>(),
    check: |properties: &Map<String, Value>| match properties.get("notes") {
        Some(Value::Array(notes)) if notes.is_empty() => vec![("notes", "a list without notes".to_owned())],
        _ => Vec::new(),
    },
};

const PANEL: AddedBlock = AddedBlock { name: "Panel", holds_blocks: true, ..GAUGE };

fn language() -> Language {
    let operators = Arc::new(Operators::with(vec![&SHARE]).unwrap());
    Language::default().with_operators(operators).with_blocks(&[GAUGE, PANEL]).unwrap()
}

fn load(text: &str) -> LoadResult {
    let connections = "connections: [{ id: demo, type: Demo }]\n";
    let text = format!("{connections}{text}");
    language().read_text(&text)
}

/// Returns the errors of a config and what helps, without the excerpts of the text.
fn problems(text: &str) -> String {
    let rendered = config::render(&load(text).err().unwrap_or_default());
    let told = rendered.lines().filter(|line| line.starts_with("chatwright.yaml") || line.contains("= help:"));
    told.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Returns a page with these blocks.
fn page(blocks: &str) -> String {
    format!("pages:\n  - id: home\n    blocks:\n      - {blocks}\n")
}

#[test]
fn an_added_block_stands_beside_those_of_the_product() {
    let events = "events: { onFull: [{ type: Reset }] }";
    let blocks = format!(
        "{{ id: n, type: NumberInput }}\n      - {{ id: g, type: Gauge, properties: {{ value: {{ _state: n }} }}, {events} }}\n      \
         - {{ id: p, type: Panel, properties: {{ value: 1 }}, blocks: [{{ id: t, type: Title, properties: {{ title: T }} }}] }}"
    );
    let (config, warnings) = load(&page(&blocks)).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let blocks = &config.pages[0].definition.blocks;
    assert_eq!((blocks[1].kind, blocks[1].added.as_str()), (BlockType::Added, "Gauge"));
    assert_eq!(Value::Object(blocks[1].properties.clone()), json!({ "value": { "_state": "n" } }));
    assert_eq!((blocks[1].events.len(), blocks[2].blocks.len()), (1, 1));
    // As the browser gets it.
    let sent = serde_json::to_value(&blocks[2]).unwrap();
    assert_eq!(serde_json::from_value::<wire::page::Block>(sent).unwrap(), blocks[2]);
}

#[test]
fn mistakes_in_added_blocks_are_reported_with_their_position() {
    assert_snapshot!(problems(&page("{ id: g, type: Gage }")), @r"
    chatwright.yaml:5:24: error: there is no block type `Gage`
    = help: did you mean `Gauge`?
    ");
    assert_snapshot!(problems(&page("{ id: g, type: Gauge, properties: { value: 101, colour: red } }")), @r"
    chatwright.yaml:5:52: error: expected a number of at most 100, found the number 101
    chatwright.yaml:5:57: error: there is no key `colour` here
    = help: one of `value` and `notes`
    ");
    assert_snapshot!(problems(&page("{ id: g, type: Gauge }")), @r"
    chatwright.yaml:5:9: error: `properties` is missing here
    = help: `properties` holds `value`
    ");
    assert_snapshot!(problems(&page("{ id: g, type: Gauge, properties: { value: 1, notes: [] } }")), @r"chatwright.yaml:5:62: error: a list without notes");
    assert_snapshot!(problems(&page("{ id: g, type: Gauge, properties: { value: { _stat: n } } }")), @r"
    chatwright.yaml:5:54: error: there is no operator `_stat`
    = help: did you mean `_state`?
    ");
    assert_snapshot!(problems(&page("{ id: g, type: Gauge, properties: { value: 1 }, events: { onFul: [] } }")), @r"
    chatwright.yaml:5:67: error: a block of the type Gauge has no event `onFul`
    = help: did you mean `onFull`?
    ");
    assert_snapshot!(problems(&page("{ id: g, type: Gauge, properties: { value: 1 }, blocks: [{ id: b, type: Box }] }")), @r"
    chatwright.yaml:5:57: error: a block of the type Gauge cannot hold others
    = help: use one of `Box`, `Columns`, `Card`, `Tabs` and `Panel`
    ");
    // The name that the browser gets is no type of the config.
    assert_snapshot!(problems(&page("{ id: g, type: Added, added: Gauge }")), @r"
    chatwright.yaml:5:24: error: there is no block type `Added`
    = help: one of `Box`, `Columns`, `Card`, `Tabs`, `Title`, `Markdown`, `TextInput`, `TextArea`, `NumberInput`, `Select`, `MultiSelect`, `Switch`, `Checkbox`, `DatePicker`, `Button`, `Table`, `Alert`, `AgentChat`, `AgentConversations`, `WorkflowTasks`, `WorkflowRuns`, `Libraries`, `Gauge` and `Panel`
    ");
}

#[test]
fn added_operators_are_allowed_where_the_server_evaluates() {
    let endpoint = |value: &str| {
        let properties = "{ model: demo, instructions: { _share: [1, 2] } }";
        format!(
            "agents: [{{ id: a, type: Agent, connectionId: demo, properties: {properties} }}]\n\
             api: [{{ id: e, description: E, routine: [{{ ':return': {value} }}] }}]\n"
        )
    };
    assert!(load(&endpoint("{ _share: { part: { _payload: n }, of: 2 } }")).is_ok());
    assert_snapshot!(problems(&endpoint("{ _share: { part: 1, off: 2 } }")), @r"
    chatwright.yaml:3:57: error: `_share` needs `of`, a number
    chatwright.yaml:3:76: error: `_share` has no parameter `off`
    = help: did you mean `of`?
    ");
    assert_snapshot!(problems(&endpoint("{ _shar: [1, 2] }")), @r"
    chatwright.yaml:3:57: error: there is no operator `_shar`
    = help: did you mean `_share`?
    ");
}

#[test]
fn added_operators_are_refused_on_pages() {
    assert_snapshot!(problems(&page("{ id: t, type: Title, properties: { title: { _share: [1, 2] } } }")), @r"
    chatwright.yaml:5:54: error: the operator `_share` is evaluated by the server alone
    = help: compute it in an endpoint, which an action of the page calls, and show the state that it sets
    ");
    let action = "{ type: SetState, params: { n: { _share: [1, 2] } } }";
    assert_snapshot!(problems(&page(&format!("{{ id: b, type: Button, properties: {{ title: B }}, events: {{ onClick: [{action}] }} }}"))), @r"
    chatwright.yaml:5:111: error: the operator `_share` is evaluated by the server alone
    = help: compute it in an endpoint, which an action of the page calls, and show the state that it sets
    ");
}

#[test]
fn the_schema_describes_what_was_added() {
    let schema = language().schema();
    let types = schema["$defs"]["Block"]["oneOf"].as_array().unwrap();
    let gauge = types.iter().find(|one| one["properties"]["type"]["const"] == "Gauge").unwrap();
    assert_eq!(gauge["description"], "Shows a level.");
    assert_eq!(schema["$defs"]["TurnOperator"]["properties"]["_share"]["description"], "A share.");
    assert!(schema["$defs"]["Operator"]["properties"].get("_share").is_none());
    let reference = language().reference();
    assert!(reference.contains("| `value` | number") && reference.contains("The level."), "{reference}");
}

#[test]
fn a_name_is_added_once() {
    let check = |blocks: &[AddedBlock], expected: &str| {
        assert_eq!(Language::default().with_blocks(blocks).err().as_deref(), Some(expected));
    };
    check(&[GAUGE, GAUGE], "the block type `Gauge` cannot be added: there is one with this name already");
    let button = AddedBlock { name: "Button", ..GAUGE };
    check(&[button], "the block type `Button` cannot be added: there is one with this name already");
}
