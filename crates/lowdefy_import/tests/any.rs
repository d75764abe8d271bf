//! Property tests: for any app, the import ends, and its result is a valid config.

use config::{Language, load_embedded, render};
use lowdefy_import::import_embedded;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::LazyLock;

static LANGUAGE: LazyLock<Language> = LazyLock::new(Language::default);

/// Imports a text. The result must be a valid config.
fn import(text: &str) {
    let Ok(import) = import_embedded(&[("lowdefy.yaml", text)], &LANGUAGE) else { return };
    let env: HashMap<String, String> = import.secrets.iter().cloned().collect();
    let files: Vec<(&str, &str)> = import.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    if let Err(problems) = load_embedded(&files, &env) {
        panic!("{}\n{}", render(&problems), import.files[0].text);
    }
}

/// Keys and words of apps, so that what is generated reaches the conversions.
const WORDS: &[&str] = &[
    "id",
    "type",
    "properties",
    "blocks",
    "events",
    "params",
    "routine",
    "tools",
    "auth",
    "_ref",
    "_var",
    "_state",
    "_step",
    "_secret",
    "_request",
    "_js",
    "_if",
    "_string.concat",
    "onClick",
    "onMount",
    ":if",
    ":then",
    ":for",
    ":in",
    ":do",
    ":return",
    ":parallel",
    ":switch",
    ":case",
    "AgentChat",
    "Box",
    "Title",
    "Selector",
    "TextInput",
    "Request",
    "CallAPI",
    "SetState",
    "AxiosHttp",
    "KnexRaw",
    "Knex",
    "ClaudeAgent",
    "Anthropic",
    "a",
    "b",
    "c.d",
    "layout",
    "span",
    "slots",
    "content",
    "requests",
    "payload",
    "connectionId",
    "endpointId",
    "agentId",
    "visible",
    "skip",
    "title",
    "label",
    "key",
    "default",
    "model",
    "headers",
    " a",
    "a: b",
    "# c",
    "true",
    "1",
    "",
    "é\u{2028}x",
    "line\nline\n",
    "{{ a }}",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![9 => prop::sample::select(WORDS).prop_map(str::to_owned), 1 => "\\PC{0,12}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5_i64..30).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// An entry of a section, with some keys that it needs.
fn entry(kinds: &'static [&'static str]) -> impl Strategy<Value = Value> {
    (word(), prop::sample::select(kinds), value(), prop::collection::vec((word(), value()), 0..4)).prop_map(
        |(id, kind, properties, others)| {
            let mut entry = Map::from_iter([("id".to_owned(), json!(id)), ("type".to_owned(), json!(kind))]);
            entry.insert("connectionId".to_owned(), json!("a"));
            entry.insert("properties".to_owned(), properties);
            entry.extend(others);
            Value::Object(entry)
        },
    )
}

fn app() -> impl Strategy<Value = Value> {
    let list = |kinds| prop::collection::vec(entry(kinds), 0..3);
    let steps =
        prop::collection::vec(prop_oneof![entry(&["AxiosHttp", "KnexRaw", "CallApi", "MongoDBFind"]), value()], 0..4);
    let blocks = prop::collection::vec(
        entry(&["AgentChat", "Box", "Tabs", "Title", "Selector", "TextInput", "Button", "Html", "AgGridAlpine"]),
        0..4,
    );
    let actions =
        prop::collection::vec(entry(&["Request", "CallAPI", "SetState", "Link", "Validate", "Wait", "Throw"]), 0..4);
    (
        list(&["Anthropic", "AxiosHttp", "Knex", "Mcp", "MongoDBCollection"]),
        list(&["ClaudeAgent", "Agent"]),
        steps,
        blocks,
        actions,
        value(),
    )
        .prop_map(|(connections, agents, steps, blocks, actions, auth)| {
            json!({
                "connections": connections,
                "agents": agents,
                "api": [{ "id": "a", "routine": steps.clone() }],
                "auth": { "pages": auth },
                "pages": [{ "id": "p", "requests": steps, "blocks": blocks, "events": { "onMount": actions } }],
            })
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_text_ends(text in "\\PC{0,200}") {
        import(&text);
    }

    #[test]
    fn any_value_becomes_a_valid_config(value in value()) {
        import(&value.to_string());
    }

    #[test]
    fn any_app_becomes_a_valid_config(app in app()) {
        import(&app.to_string());
    }
}
