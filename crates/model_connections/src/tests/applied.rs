//! Tests of the effect of stored connections on the config.

use super::*;
use config::{AccessRule, ConnectionKind};
use secrecy::ExposeSecret;
use serde_json::json;

fn openai(agents: &[&str]) -> Value {
    json!({ "provider": "openai", "apiKey": CANARY, "models": ["gpt-4.1-mini", "gpt-5"], "agents": agents })
}

#[test]
fn models_are_added_to_the_agents_that_are_named() {
    let mut bench = Bench::new(CONFIG);
    let check = |bench: &Bench, agent: &str, expected: &str| assert_eq!(answers(&bench.config(), agent), expected);
    check(&bench, "helper", "demo/demo-one []");
    check(&bench, "chooser", "demo/demo-quick [quick slow]");
    bench.save("openai", openai(&[])).unwrap();
    check(&bench, "helper", "demo/demo-one []");
    assert!(!load("connections: [{ id: demo, type: Demo }]\npages: [{ id: p }]\n").has_model_provider());
    assert!(bench.config().has_model_provider());

    // A single model is replaced, a choice gets longer.
    bench.save("openai", openai(&["helper", "chooser"])).unwrap();
    check(&bench, "helper", "openai/gpt-4.1-mini [openai-gpt-4-1-mini openai-gpt-5]");
    check(&bench, "chooser", "demo/demo-quick [quick slow openai-gpt-4-1-mini openai-gpt-5]");
    let config = bench.config();
    let chosen = config.agents["chooser"].for_turn(Vec::new(), Some((&config.models["openai-gpt-5"], false))).unwrap();
    assert_eq!((chosen.connection_id.as_str(), chosen.model.as_str()), ("openai", "gpt-5"));
    let ConnectionKind::OpenAi(connection) = &config.connections["openai"].kind else { panic!() };
    assert_eq!(connection.api_key.as_ref().map(ExposeSecret::expose_secret), Some(CANARY));
    assert!(connection.base_url.is_none() && !connection.public_only);
    assert!(config.price_of("gpt-4.1-mini").is_some(), "it costs what the list says");

    // Two connections for the same agent.
    let ollama = json!({ "provider": "compatible", "baseURL": "https://llm.example.com/v1/", "models": ["m"], "agents": ["helper"] });
    bench.save("zeta", ollama).unwrap();
    check(&bench, "helper", "openai/gpt-4.1-mini [openai-gpt-4-1-mini openai-gpt-5 zeta-m]");
    let ConnectionKind::OpenAiCompatible(connection) = &bench.config().connections["zeta"].kind.clone() else {
        panic!()
    };
    assert!(connection.api_key.is_none() && connection.public_only);
    assert_eq!(connection.base_url.as_deref(), Some("https://llm.example.com/v1"));

    // Switched off, nothing of it is there.
    let mut off = openai(&["helper", "chooser"]);
    off["enabled"] = false.into();
    bench.save("openai", off).unwrap();
    check(&bench, "helper", "zeta/m [zeta-m]");
    check(&bench, "chooser", "demo/demo-quick [quick slow]");
    bench.stored.entries.clear();
    check(&bench, "helper", "demo/demo-one []");
}

#[test]
fn an_agent_is_made_of_a_connection() {
    let mut bench = Bench::new(CONFIG);
    let mut own = openai(&[]);
    own["agent"] = json!({ "name": "My Assistant", "instructions": "Be brief." });
    bench.save("openai", own.clone()).unwrap();
    let config = bench.config();
    assert_eq!(answers(&config, "my-assistant"), "openai/gpt-4.1-mini [openai-gpt-4-1-mini openai-gpt-5]");
    let agent = &config.agents["my-assistant"];
    assert_eq!((agent.title.as_deref(), &agent.instructions), (Some("My Assistant"), &Some("Be brief.".into())));
    assert_eq!(agent.auth, AccessRule::Protected);
    let page = config.pages.last().unwrap();
    assert_eq!((page.definition.id.as_str(), &page.auth), ("my-assistant", &AccessRule::Protected));
    assert_eq!(config.pages[0].definition.id, "home", "the start page stays");
    assert_eq!(detail(&bench, "openai").agent_id.as_deref(), Some("my-assistant"));

    // Without a model there is no agent yet; a name of other letters takes the connection's.
    own["models"] = json!([]);
    bench.save("openai", own.clone()).unwrap();
    assert_eq!(answers(&bench.config(), "my-assistant"), "none");
    own["models"] = json!(["gpt-5"]);
    own["agent"]["name"] = "Помощник".into();
    bench.save("openai", own).unwrap();
    assert_eq!(answers(&bench.config(), "openai"), "openai/gpt-5 [openai-gpt-5]");
}

#[test]
fn names_of_the_config_come_first() {
    let mut bench = Bench::new(CONFIG);
    let mut own = openai(&["helper"]);
    own["agent"] = json!({ "name": "Assistant", "instructions": "x" });
    bench.save("openai", own).unwrap();
    let becomes = |bench: &mut Bench, from: &str, to: &str, agent: &str, expected: (&str, &str)| {
        bench.written = load(&CONFIG.replace(from, to));
        let problems = bench.current().section.catalog.problems.get("openai").cloned().unwrap_or_default();
        assert!(problems.iter().any(|problem| problem.contains(expected.0)), "{problems:?}");
        assert_eq!(answers(&bench.config(), agent), expected.1);
    };
    let connection = "models:\n  - ";
    let same = "  - { id: openai, type: Demo }\nmodels:\n  - ";
    becomes(&mut bench, connection, same, "helper", ("has a connection with this name", "demo/demo-one []"));
    let model = "models:\n  - { id: openai-gpt-5, connectionId: demo, model: m }\n  - ";
    becomes(&mut bench, connection, model, "helper", ("a model with the id `openai-gpt-5`", "demo/demo-one []"));
    let page = "pages: [{ id: assistant }, ";
    becomes(&mut bench, "pages: [", page, "assistant", ("another agent or page `assistant`", "none"));
    // The rest of it is used.
    assert_eq!(answers(&bench.config(), "helper"), "openai/gpt-4.1-mini [openai-gpt-4-1-mini openai-gpt-5]");
    // An agent that the config loses loses only its assignment.
    bench.written = load(CONFIG);
    let lost = CONFIG.replace("id: helper", "id: other").replace("agentId: helper", "agentId: other");
    bench.written = load(&lost);
    assert_eq!(detail(&bench, "openai").missing_agents, ["helper"]);
}

#[test]
fn nothing_is_applied_if_the_config_does_not_allow_it() {
    let mut bench = Bench::new(CONFIG);
    bench.save("openai", openai(&["helper"])).unwrap();
    bench.written = load(&CONFIG.replace("modelConnections: {", "modelConnections: { atRunTime: false,"));
    assert_eq!(answers(&bench.config(), "helper"), "demo/demo-one []");
    assert!(bench.current().check_allowed().unwrap_err().message.contains("modelConnections.atRunTime"));
}

#[test]
fn stored_connections_cannot_break_the_config() {
    let mut bench = Bench::new(CONFIG);
    bench.save("openai", openai(&["helper"])).unwrap();
    let stored = bench.stored.entries[0].clone();
    let problem = |bench: &Bench| {
        assert_eq!(answers(&bench.config(), "helper"), "demo/demo-one []");
        bench.current().section.catalog.problems["openai"].join(" ")
    };
    bench.stored.entries[0].secret = "AAAA".to_owned();
    assert!(problem(&bench).contains("cannot be read with the keys"), "{}", problem(&bench));
    bench.stored.entries[0] = stored.clone();
    bench.stored.entries[0].secret = String::new();
    assert!(problem(&bench).contains("KEY"), "{}", problem(&bench));
    bench.stored.entries[0] = StoredConnection { definition: None, ..stored.clone() };
    assert!(problem(&bench).contains("damaged"));
    // Other keys than those that it was encrypted with.
    bench.stored.entries[0] = stored;
    bench.written = load(&CONFIG.replace("keys: [KEY]", "keys: [NEW_KEY]"));
    assert!(problem(&bench).contains("enter it again"));
    bench.written = load(&CONFIG.replace("keys: [KEY]", "keys: [NEW_KEY, KEY]"));
    assert!(answers(&bench.config(), "helper").starts_with("openai/"));
}
