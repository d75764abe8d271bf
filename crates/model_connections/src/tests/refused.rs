//! Tests of connections that cannot be saved.

use super::*;
use crate::secrets::Keys;
use serde_json::json;
use settings::Variable;

#[test]
fn invalid_connections_are_refused_with_the_field() {
    let check = |name: &str, change: Value, expected: &str| {
        let mut sent = json!({ "provider": "openai", "apiKey": CANARY, "models": ["m"] });
        sent.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let refused = Bench::new(CONFIG).save(name, sent).unwrap_err();
        assert!(refused.contains(expected) && !refused.contains("canary"), "{refused}");
    };
    for name in ["", "a b", "new", "-a", &"x".repeat(41), "ä"] {
        check(name, json!({}), "/name: A name has");
    }
    check("demo", json!({}), "/name: The config has a connection with the name `demo`");
    check("a", json!({ "apiKey": null }), "/apiKey: Enter the API key: OpenAI answers only with one.");
    check("a", json!({ "apiKey": "***" }), "/apiKey: There is no stored key that could be kept");
    check("a", json!({ "apiKey": " \n" }), "/apiKey: An API key has");
    check("a", json!({ "apiKey": "a\nb" }), "/apiKey: An API key has");
    check("a", json!({ "provider": "compatible" }), "/baseURL: Enter the address.");
    check("a", json!({ "baseURL": "https://127.0.0.1/v1" }), "/baseURL: The address is not public");
    check("a", json!({ "provider": "ollama" }), "`modelConnections: { allowPrivate: true }`");
    check("a", json!({ "models": ["a b"] }), "/models: The name of a model");
    let many: Vec<_> = (0..21).map(|number| format!("m{number}")).collect();
    check("a", json!({ "models": many }), "/models: A connection has at most 20 models.");
    check("a", json!({ "agents": ["nobody"] }), "/agents: The config has no agent `nobody`.");
    check("a", json!({ "agents": ["claude-only"] }), "/agents: The agent `claude-only` cannot use this connection");
    let agent = |name: &str, instructions: &str| json!({ "agent": { "name": name, "instructions": instructions } });
    check("a", agent(" ", "x"), "/agent/name");
    check("a", agent("x", " "), "/agent/instructions");
    check("a", agent("Helper", "x"), "/agent/name: There is an agent or a page `helper` already.");
    check("a", agent("Home", "x"), "/agent/name: There is an agent or a page `home` already.");
    check("a", agent("Admin", "x"), "/: The connection cannot be used");
}

#[test]
fn private_addresses_are_allowed_by_the_config_and_in_the_mode_local() {
    let ollama = || json!({ "provider": "ollama", "models": ["llama"], "agents": ["helper"] });
    let allows = CONFIG.replace("modelConnections: {", "modelConnections: { allowPrivate: true,");
    let local: String =
        CONFIG.lines().filter(|line| !line.starts_with("auth")).map(|line| format!("{line}\n")).collect();
    for config in [allows, local] {
        let mut bench = Bench::new(&config);
        bench.save("ollama", ollama()).unwrap();
        assert_eq!(answers(&bench.config(), "helper"), "ollama/llama [ollama-llama]");
        // A connection that is not allowed any more is not used, and has a problem.
        bench.written = load(CONFIG);
        assert_eq!(answers(&bench.config(), "helper"), "demo/demo-one []");
        assert!(bench.current().section.catalog.problems["ollama"][0].contains("not public"));
    }
}

#[test]
fn without_a_key_to_encrypt_with_only_connections_without_a_key_are_stored() {
    let config = CONFIG.replace("modelConnections: { keys: [KEY] }", "modelConnections: { allowPrivate: true }");
    let mut bench = Bench::new(&config);
    let refused = bench.save("openai", json!({ "apiKey": CANARY, "models": ["m"] })).unwrap_err();
    assert!(refused.contains("set the environment variable `CHATWRIGHT_SECRETS_KEY`"), "{refused}");
    assert!(!refused.contains("canary"));
    bench.save("ollama", json!({ "provider": "ollama", "models": ["llama"] })).unwrap();
    assert_eq!(Keys::read(&[Variable("KEY".to_owned())], &*ENV).problem(), None);
}
