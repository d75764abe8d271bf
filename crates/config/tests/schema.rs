//! Checks that the published JSON Schema agrees with the loader.

use config::{Env, Language, Section, SectionType};
use jsonschema::Validator;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::LazyLock;

/// A valid config that uses most sections.
fn good() -> Value {
    json!({
        "connections": [
            { "id": "demo", "type": "Demo" },
            { "id": "kb", "type": "Sql", "properties": { "url": "sqlite::memory:", "init": { "_ref": "tables.sql" } } },
            { "id": "claude", "type": "Anthropic", "properties": { "apiKey": { "_secret": "KEY" } } },
        ],
        "agents": [{
            "id": "a", "type": "Agent", "connectionId": "demo",
            "properties": { "model": "m", "maxSteps": 3, "toolChoice": "auto", "timeout": 5000, "stopOnToolCall": ["find"] },
            "tools": ["e/f", { "endpointId": "e/f", "name": "find", "confirm": true, "visibleParameters": ["q"] }],
        }],
        "api": [{
            "id": "e/f", "description": "Find", "payloadSchema": { "type": "object" },
            "routine": [
                { "id": "s", "type": "SqlQuery", "connectionId": "kb", "properties": { "query": "select 1" } },
                { ":if": { "_step": "s" }, ":then": [{ ":return": 1 }] },
            ],
        }, {
            "id": "e", "description": "E",
            "payloadSchema": { "type": "object", "properties": { "q": { "type": "string", "description": "Q" } } },
            "routine": [{ ":return": 1 }],
        }, { "id": "h", "routine": [{ ":return": 1 }] }],
        "pages": [{ "id": "p", "blocks": [
            { "id": "c", "type": "Columns", "properties": { "widths": [1] }, "blocks": [{ "id": "n", "type": "TextInput" }] },
            { "id": "chat", "type": "AgentChat", "properties": { "agentId": "a", "sharedState": { "n": { "_state": "n" } } } },
        ] }],
        "limits": { "turnMs": 1000 },
        "auth": { "mode": "local" },
        "embed": { "origins": ["https://a.test"] },
        "serveAsRemoteAgent": {
            "endpoints": ["e/f", { "endpointId": "e", "confirm": true, "visibleParameters": ["q"] }],
            "apiKey": { "_secret": "KEY" },
            "resource": "e/f",
        },
    })
}

/// Changes one value of the valid config and returns whether the schema and the loader accept it.
fn verdicts(pointer: &str, value: Value) -> (bool, bool) {
    verdicts_of(good(), pointer, value)
}

/// The published schema, compiled once: that takes longer than all checks.
#[expect(clippy::disallowed_methods, reason = "the schema is our own and exceeds the limits for untrusted schemas")]
static SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&Language::default().schema()).unwrap());

fn verdicts_of(mut config: Value, pointer: &str, value: Value) -> (bool, bool) {
    match pointer.rsplit_once('/') {
        Some((parent, key)) if config.pointer(pointer).is_none() => config.pointer_mut(parent).unwrap()[key] = value,
        _ => *config.pointer_mut(pointer).unwrap() = value,
    }
    let env = std::collections::HashMap::from([("KEY".to_owned(), "key".to_owned())]);
    let text = config.to_string();
    let files = [("chatwright.yaml", text.as_str()), ("tables.sql", "create table a (b)")];
    (SCHEMA.is_valid(&config), config::load_embedded(&files, &env).is_ok())
}

#[test]
fn models_take_the_place_of_connection_and_model() {
    let mut config = good();
    config["models"] = json!([{ "id": "m", "connectionId": "demo", "model": "x" }]);
    config["agents"][0] = json!({ "id": "a", "type": "Agent", "models": ["m"], "tools": ["e/f"] });
    assert_eq!(verdicts_of(config.clone(), "/agents/0/models", json!(["m"])), (true, true));
    assert_eq!(verdicts_of(config.clone(), "/agents/0/models", json!("m")), (false, false));
    assert_eq!(verdicts_of(config, "/models/0/whenThinking", json!({ "maxSteps": 1 })), (false, false));
}

#[test]
fn published_schema_agrees_with_the_loader() {
    let check = |pointer: &str, value: Value, expected: bool| {
        assert_eq!(verdicts(pointer, value.clone()), (expected, expected), "{pointer} = {value}");
    };
    for (property, value, expected) in [
        ("temperature", json!({ "_user": "warmth" }), true),
        ("model", json!({ "_payload": "urlQuery.model" }), true),
        ("limits", json!({ "requests": { "_user": "requests" }, "toolCalls": 3 }), true),
        ("activeTools", json!(["find", { "_user": "tool" }]), true),
        ("askUser", json!({ "_user": "may" }), false),
        ("temperature", json!({ "user": "warmth" }), false),
    ] {
        check(&format!("/agents/0/properties/{property}"), value, expected);
    }
    // Each with what the other lacks.
    let models = json!([{ "id": "m", "connectionId": "demo", "model": "x" }]);
    check("/models", models, true);
    check("/agents/0", json!({ "id": "a", "type": "Agent", "models": [] }), false);
    check("/auth/mode", json!("local"), true);
    check("/auth", json!({ "mode": "password", "openSignUp": true, "sessionIdleHours": 8 }), true);
    check("/auth", json!({ "mode": "password", "sessionIdleHours": 0 }), false);
    check("/auth", json!({ "mode": "anonymous", "publicUrls": ["https://a.test"] }), true);
    check("/auth", json!({ "mode": "proxy", "trustedProxies": ["10.0.0.1"] }), true);
    check("/auth", json!({ "mode": "proxy", "trustedProxies": [] }), false);
    let jwt = |key: &str, value: Value| {
        let mut jwt = json!({ "mode": "jwt", "issuer": "i", "audience": "a", "jwksUrl": "https://a.test/keys" });
        jwt[key] = value;
        jwt
    };
    check("/auth", jwt("audience", json!(["a", "b"])), true);
    check("/auth", jwt("audience", json!(7)), false);
    check("/auth", jwt("claims", json!({ "userId": "email" })), true);
    check("/auth", jwt("claims", json!({ "id": "email" })), false);
    check("/auth", jwt("trustedProxies", json!(["10.0.0.1"])), false);
    check("/embed", json!({ "origins": [] }), false);
    check("/embed", json!({ "origin": "https://a.test" }), false);
    check("/agents/0/properties/temperature", json!(1.5), true);
    check("/agents/0/properties/temperature", json!(2.5), false);
    check("/agents/0/properties/model", json!(""), false);
    check("/agents/0/properties/colour", json!("red"), false);
    check("/agents/0/properties/toolChoice", json!("maybe"), false);
    check("/agents/0/properties/instructions", json!({ "_ref": "tables.sql" }), true);
    check("/agents/0/colour", json!("red"), false);
    check("/agents/0/type", json!("RedAgent"), false);
    check("/agents/0/id", json!("a b"), false);
    check("/agents/0/mcp", json!([{ "command": "npx" }]), true);
    check("/agents/0/mcp", json!([{ "comand": "npx" }]), false);
    check("/agents/0/agents", json!([7]), false);
    check("/connections/0/type", json!("Demi"), false);
    check("/connections/0/type", json!("RemoteAgnt"), false);
    check("/connections/0/properties", json!({ "delayMs": 20 }), true);
    check("/connections/0/properties", json!({ "delay": 20 }), false);
    check("/connections/1/colour", json!("red"), false);
    check("/connections/2/properties/apiKey", json!({ "_secret": "K E Y" }), false);
    check("/pages/0/blocks/0/blocks/0/type", json!("TextInpt"), false);
    check("/pages/0/blocks/0/blocks/0/colour", json!("red"), false);
    check("/pages/0/blocks/1/properties/agentId", json!(null), false);
    check("/api/0/routine/0/properties/query", json!(7), false);
    for entry in ["agents/0", "api/2", "pages/0"] {
        let at = format!("/{entry}/auth");
        for good in [json!("public"), json!("protected"), json!({ "public": true }), json!({ "roles": ["admin"] })] {
            check(&at, good, true);
        }
        for wrong in [
            json!("open"),
            json!(true),
            json!({}),
            json!({ "roles": [] }),
            json!({ "roles": [""] }),
            json!({ "public": false }),
        ] {
            check(&at, wrong, false);
        }
        check(&at, json!({ "public": true, "roles": ["admin"] }), false);
    }
    check("/api/2/type", json!("InternalApi"), true);
    check("/limits/turnMs", json!("long"), false);
    check("/colours", json!([]), false);
    check("/serveAsRemoteAgent/endpoints", json!([]), false);
    check("/serveAsRemoteAgent/endpoints/1/name", json!("x"), false);
    check("/serveAsRemoteAgent/endpoints/1/visibleParameters", json!("q"), false);
    check("/serveAsRemoteAgent/apiKey", json!("plain"), false);
    check("/serveAsRemoteAgent/apiKey", json!(null), false);
    check("/serveAsRemoteAgent/resource", json!("a b"), false);
}

/// Each keyword of the schema is either checked by the decoder or only an annotation.
#[test]
fn decoder_supports_every_schema_keyword() {
    const KNOWN: [&str; 23] = [
        "$defs",
        "$ref",
        "$schema",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "type",
    ];
    fn check(schema: &Value, path: &str) {
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            let known =
                KNOWN.contains(&keyword.as_str()) || matches!(keyword.as_str(), "title" | "unevaluatedProperties");
            assert!(known, "{path}/{keyword}");
            match (keyword.as_str(), value) {
                ("properties" | "$defs", Value::Object(named)) => {
                    named.iter().for_each(|(name, schema)| check(schema, &format!("{path}/{keyword}/{name}")));
                }
                ("default" | "const", _) => {}
                (_, Value::Array(schemas)) => {
                    schemas.iter().for_each(|schema| check(schema, &format!("{path}/{keyword}")))
                }
                (_, schema) => check(schema, &format!("{path}/{keyword}")),
            }
        }
    }
    check(&Language::default().schema(), "");
}

/// Every key of the config language has a description.
#[test]
fn every_key_has_a_description() {
    fn check(schema: &Value, path: &str) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let tag =
                property.get("const").is_some() || key == "properties" && schema["properties"].get("type").is_some();
            assert!(tag || property["description"].is_string(), "{path}.{key} has no description");
        }
        for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
            check(part, name);
        }
    }
    let mut schema = Language::default().schema();
    schema["$defs"]["_ref"]["properties"]["_ref"]["description"] = "A path.".into();
    check(&schema, "");
}

/// An environment in which every variable is set.
struct Everything;

impl Env for Everything {
    fn get(&self, name: &str) -> Option<String> {
        match name {
            "DATABASE" => Some("sqlite://chat.db".to_owned()),
            "CLIENT_PRIVATE_KEY" => Some("-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----".to_owned()),
            _ => Some(format!("{name}-of-more-than-thirty-two-characters")),
        }
    }
}

/// Stands for the section of the crate `connected_accounts`, without which no connection may use accounts of users.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the type is the schema of the section")]
struct ConnectedAccounts {
    keys: Vec<String>,
}

impl Section for ConnectedAccounts {
    const KEY: &'static str = "connectedAccounts";
}

/// The configs in `good` cause neither errors nor warnings.
#[test]
fn good_configs_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    let language = Language::new(&[SectionType::of::<ConnectedAccounts>()], &[]);
    let mut problems = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            count += 1;
            problems.extend(
                language.read_path(&path, &Everything).outcome.map_or_else(|errors| errors, |(_, warnings)| warnings),
            );
        }
    }
    assert_eq!(config::render(&problems), "");
    assert!(count > 5, "{count}");
}

/// The section of a capability. Its type has the same name as a type of the crate `config`.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "HomeEntry")]
#[expect(dead_code, reason = "the type is the schema of the section")]
struct Switchboard {
    lines: u32,
}

impl Section for Switchboard {
    const KEY: &'static str = "switchboard";
}

#[test]
fn entries_are_checked_with_their_own_types_whatever_those_of_capabilities_are_named() {
    let language = Language::new(&[SectionType::of::<Switchboard>()], &[]);
    let check = |text: &str, expected: &str| {
        let problems = config::render(&language.read_text(text).err().unwrap_or_default());
        assert!(problems.contains(expected), "{problems}");
    };
    check("home: { titel: T }\n", "did you mean `title`?");
    check("switchboard: { line: 2 }\n", "did you mean `lines`?");
}
