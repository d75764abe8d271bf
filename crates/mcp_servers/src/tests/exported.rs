//! The export is a part of a config that means the same.

use super::*;
use config::{MAIN_FILE, McpRef};
use insta::assert_snapshot;
use serde_json::json;

fn essence(used: &McpRef) -> String {
    format!(
        "{} {:?} {:?} {} {:?} {:?} {:?}",
        used.name, used.tools, used.confirm, used.prefix, used.timeout, used.annotations, used.server
    )
}

#[test]
fn the_export_is_a_config_with_the_same_servers() {
    let mut bench = Bench::new(CONFIG);
    let weather = json!({
        "url": format!("https://mcp.example.com/s/{CANARY}"), "description": "Forecasts",
        "headers": { "X-Api-Key": CANARY, "X-Token": { "_secret": "TOKEN" } },
        "oauth": { "tokenUrl": "https://auth.example.com/token", "clientId": "me", "clientSecret": CANARY, "scope": "read" },
        "agents": ["helper", "writer"], "allow": ["get_*"], "deny": ["*_all"], "prefix": "w_", "confirm": true, "timeoutMs": 5000, "shared": true,
    });
    bench.save("weather", weather).unwrap();
    bench.save("local", json!({ "command": "node", "args": ["server.js", "stdio"], "agents": ["helper"] })).unwrap();
    bench.save("off", json!({ "url": "https://off.example.com/mcp", "agents": ["helper"], "enabled": false })).unwrap();
    bench.switch("files", false);
    let text = bench.current().yaml();
    assert!(!text.contains("canary"), "{text}");
    assert_snapshot!(text, @r#"
    # MCP servers that were added at run time. Merge this into the config, and delete them in the admin console.
    # Set these environment variables to the secrets that were entered: MCP_WEATHER_URL, MCP_WEATHER_X_API_KEY, MCP_WEATHER_CLIENT_SECRET
    # Switched off, so that no agent has them: off
    # Of the config, but switched off at run time: files
    connections:
      - id: local
        type: Mcp
        properties:
          transport: stdio
          command: node
          args: [server.js, stdio]
      - id: off
        type: Mcp
        properties:
          transport: http
          url: https://off.example.com/mcp
      - id: weather
        type: Mcp
        properties:
          transport: http
          url: { _secret: MCP_WEATHER_URL }
          headers:
            X-Api-Key: { _secret: MCP_WEATHER_X_API_KEY }
            X-Token: { _secret: TOKEN }
          oauth:
            tokenUrl: https://auth.example.com/token
            clientId: me
            clientSecret: { _secret: MCP_WEATHER_CLIENT_SECRET }
            scope: read
          shared: true
    agents:
      - id: helper
        mcp:
          - connectionId: local
            readsPrivate: true
            returnsUntrusted: true
            egress: false
          - connectionId: weather
            allow: ["get_*"]
            deny: ["*_all"]
            prefix: w_
            confirm: true
            timeoutMs: 5000
            readsPrivate: false
            returnsUntrusted: true
            egress: true
      - id: writer
        mcp:
          - connectionId: weather
            allow: ["get_*"]
            deny: ["*_all"]
            prefix: w_
            confirm: true
            timeoutMs: 5000
            readsPrivate: false
            returnsUntrusted: true
            egress: true
    "#);

    // The connections are merged into a config, and the entries of an agent are its own.
    let secrets = ["MCP_WEATHER_URL", "MCP_WEATHER_X_API_KEY", "MCP_WEATHER_CLIENT_SECRET"];
    let mut variables = ENV.clone();
    variables.extend(secrets.iter().map(|name| ((*name).to_owned(), CANARY.to_owned())));
    variables.insert("MCP_WEATHER_URL".to_owned(), format!("https://mcp.example.com/s/{CANARY}"));
    let merged = text.replace("connections:\n", "connections:\n  - { id: demo, type: Demo }\n");
    let agent = "type: Agent\n    connectionId: demo\n    properties: { model: demo }\n    mcp:";
    let merged = format!("{}pages: [{{ id: p }}]\n", merged.replace("mcp:", agent));
    let language = Language::new(DEFINITION.sections, &[]);
    let read = language.read_embedded(&[(MAIN_FILE, &merged)], &variables).outcome;
    let (read, _) = read.unwrap_or_else(|problems| panic!("{}\n{merged}", config::render(&problems)));
    let added = bench.config();
    for agent in ["helper", "writer"] {
        let expected: Vec<_> = added.agents[agent]
            .mcp
            .iter()
            .filter(|used| used.connection_id.is_none() && !used.name.contains('.'))
            .map(essence)
            .collect();
        let exported: Vec<_> = read.agents[agent].mcp.iter().map(essence).collect();
        assert_eq!(exported, expected);
    }
    assert!(read.connections.contains_key("off"));
}
