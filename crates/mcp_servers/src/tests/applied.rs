//! The stored servers that become a part of the config.

use super::*;
use config::{AnnotatedTools, McpRef};
use custom_agents::store::CustomAgentRow;
use custom_agents::{selectable_tools, with_custom_agents};
use serde_json::json;
use settings::mcp::McpTransport;

fn weather(agents: &[&str]) -> Value {
    json!({ "url": "https://mcp.example.com/mcp", "agents": agents })
}

#[test]
fn servers_are_added_to_the_agents_that_are_named() {
    let mut bench = Bench::new(CONFIG);
    let own = servers(&bench.config(), "helper");
    assert_eq!(own, "files | ");
    bench.save("nobody", weather(&[])).unwrap();
    assert_eq!(servers(&bench.config(), "helper"), own, "without a choice, no agent has it");
    bench.save("weather", weather(&["helper", "writer"])).unwrap();
    assert_eq!(servers(&bench.config(), "helper"), "files weather | ");
    assert_eq!(servers(&bench.config(), "writer"), "one.example.com one.example.com weather | ");
    let config = bench.config();
    let used: &McpRef = config.agents["helper"].mcp.last().unwrap();
    assert_eq!(used.annotations.egress, Some(AnnotatedTools::All(true)));
    assert!(used.confirm.is_none());
    let McpTransport::Http(http) = &used.server.transport else { panic!() };
    assert!(!http.allow_private);

    let off = json!({ "url": "https://mcp.example.com/mcp", "agents": ["helper"], "enabled": false });
    bench.save("weather", off).unwrap();
    assert_eq!(servers(&bench.config(), "helper"), "files | weather");
}

#[test]
fn an_agent_that_the_config_loses_loses_only_its_assignment() {
    let mut bench = Bench::new(CONFIG);
    bench.save("weather", weather(&["helper", "writer"])).unwrap();
    let without: String =
        CONFIG.lines().filter(|line| !line.contains("id: writer")).map(|line| format!("{line}\n")).collect();
    bench.written = load(&without);
    assert_eq!(servers(&bench.config(), "helper"), "files weather | ");
    // It can still be changed, and the assignment comes back with the agent.
    let mut changed = weather(&["helper", "writer"]);
    changed["description"] = "Forecasts".into();
    bench.save("weather", changed).unwrap();
    bench.written = load(CONFIG);
    assert!(servers(&bench.config(), "writer").contains("weather"));
    assert_eq!(bench.save("other", weather(&["nobody"])).unwrap_err(), "/agents: The config has no agent `nobody`.");
}

#[test]
fn several_servers_on_one_host_are_several() {
    let mut bench = Bench::new(CONFIG);
    let current = bench.current();
    let of_config = &current.section.catalog.servers;
    let keys: Vec<_> = of_config.iter().map(|server| server.key.split('@').next().unwrap()).collect();
    assert_eq!(keys, ["files", "one.example.com", "one.example.com"]);
    assert_ne!(of_config[1].key, of_config[2].key);
    let key = of_config[1].key.clone();
    for name in ["a", "b"] {
        bench.save(name, json!({ "url": format!("https://mcp.example.com/{name}"), "agents": ["helper"] })).unwrap();
    }
    assert_eq!(servers(&bench.config(), "helper"), "files a b | ");
    // One of two with the same name is switched off.
    bench.switch(&key, false);
    assert_eq!(servers(&bench.config(), "writer"), "one.example.com | one.example.com");
    bench.switch("files", false);
    assert_eq!(servers(&bench.config(), "helper"), "a b | files");
    bench.switch("files", true);
    assert_eq!(servers(&bench.config(), "helper"), "files a b | ");
    assert!(bench.current().switch("nothing", false).is_err());
    // A switch of a server that is gone can be taken back.
    bench.written = load("connections: [{ id: demo, type: Demo }]\npages: [{ id: p }]\n");
    bench.switch(&key, true);
    assert!(bench.stored.switched_off.is_empty());
}

#[test]
fn names_of_the_config_are_not_used_twice() {
    let mut bench = Bench::new(CONFIG);
    for name in ["files", "demo"] {
        let refused = bench.save(name, weather(&[])).unwrap_err();
        assert!(refused.contains("has a server or a connection with the name"), "{refused}");
    }
    for name in ["", "a b", "new", "-a", &"x".repeat(65), "ä"] {
        assert!(bench.save(name, weather(&[])).unwrap_err().starts_with("/name: A name has"), "{name}");
    }
    // The config comes first if it gets one later.
    bench.save("tracker", weather(&["helper"])).unwrap();
    let with = CONFIG.replace(
        "command: files } }",
        "command: files } }\n  - { id: tracker, type: Mcp, properties: { command: x } }",
    );
    bench.written = load(&with.replace("mcp: [files]", "mcp: [files, tracker]"));
    assert_eq!(servers(&bench.config(), "helper"), "files tracker | ");
    let McpTransport::Stdio(_) = &bench.config().agents["helper"].mcp[1].server.transport else { panic!() };
    assert!(bench.current().section.catalog.problems["tracker"].contains("with this name"));
}

#[test]
fn programs_need_the_configs_permission() {
    let mut bench = Bench::new(CONFIG);
    let program = |command: &str, args: &[&str]| json!({ "command": command, "args": args, "agents": ["helper"] });
    for (command, args) in
        [("node", &["server.js"][..]), ("bash", &["-c", "id"]), ("node", &["server.js", "stdio", "x"])]
    {
        let refused = bench.save("local", program(command, args)).unwrap_err();
        assert!(
            refused.contains("the config does not allow this command line: add it to `mcpServers.commands`"),
            "{refused}"
        );
    }
    assert!(serde_json::from_value::<ServerBody>(json!({ "command": "node", "env": {} })).is_err());
    bench.save("local", program("node", &["server.js", "stdio"])).unwrap();
    assert_eq!(servers(&bench.config(), "helper"), "files local | ");
    // Permission may be taken back.
    bench.written = load(&CONFIG.replace(", commands: ['node server.js stdio']", ""));
    assert_eq!(servers(&bench.config(), "helper"), "files | local");
}

#[test]
fn nothing_is_applied_if_the_config_does_not_allow_it() {
    let mut bench = Bench::new(CONFIG);
    bench.save("weather", weather(&["helper"])).unwrap();
    bench.switch("files", false);
    bench.written = load(&CONFIG.replace("mcpServers: {", "mcpServers: { atRunTime: false,"));
    assert_eq!(servers(&bench.config(), "helper"), "files | ");
    assert!(bench.current().is_on("files"), "the switch is kept, but has no effect");
    bench.switch("files", true);
    assert!(bench.stored.switched_off.is_empty());
}

#[test]
fn stored_servers_cannot_break_the_config() {
    let mut bench = Bench::new(CONFIG);
    bench
        .save(
            "weather",
            json!({ "url": "https://mcp.example.com/mcp", "agents": ["helper"], "headers": { "X-Key": CANARY } }),
        )
        .unwrap();
    let problem = |bench: &Bench| {
        assert_eq!(servers(&bench.config(), "helper"), "files | weather");
        bench.current().section.catalog.problems["weather"].clone()
    };
    let server = bench.stored.entries[0].clone();
    bench.stored.entries[0].secret = "1.AAAA".to_owned();
    assert!(problem(&bench).contains("cannot be read with the keys"), "{}", problem(&bench));
    bench.stored.entries[0] = server.clone();
    bench.stored.entries[0].definition.as_mut().unwrap().allow = Some(vec!["{".to_owned()]);
    assert!(problem(&bench).contains("not a valid pattern"), "{}", problem(&bench));
    bench.stored.entries[0] = server;
    bench.stored.entries[0].definition = None;
    assert_eq!(servers(&bench.config(), "helper"), "files | ");
}

/// Agents that are made at run time come after the servers.
#[test]
fn agents_made_at_run_time_keep_their_choice_while_a_server_is_off() {
    let text = format!("{CONFIG}customAgents: {{ from: [helper] }}\n");
    let language = Language::new(&[DEFINITION.sections, custom_agents::DEFINITION.sections].concat(), &[]);
    let mut bench = Bench { written: language.read_text(&text).unwrap().0, stored: StoredServers::default() };
    let row = CustomAgentRow {
        id: "custom-a".to_owned(),
        name: None,
        version: 1,
        definition: json!({ "name": "Mine", "from": "helper", "instructions": "x", "tools": ["mcp:weather"] }),
        owner: String::new(),
        created_at: 0,
        updated_at: 0,
    };
    let check = |bench: &Bench, expected: &str, is_choice: bool| {
        let config = with_custom_agents(bench.config(), std::slice::from_ref(&row));
        assert_eq!(servers(&config, "custom-a"), expected);
        let choices = selectable_tools(&config, &config.agents["helper"], None);
        assert_eq!(choices.contains(&"mcp:weather".to_owned()), is_choice);
    };
    check(&bench, " | ", false);
    bench.save("weather", weather(&["helper"])).unwrap();
    check(&bench, "weather | ", true);
    let mut off = weather(&["helper"]);
    off["enabled"] = false.into();
    bench.save("weather", off).unwrap();
    check(&bench, " | weather", true);
    bench.stored.entries.clear();
    check(&bench, " | ", false);
}
