//! MCP servers that an administrator adds, changes and switches while the server runs.

use crate::http::chunks;
use crate::process::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const EVERYTHING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../end2end/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
);
const CANARY: &str = "canary-7c1f0d2e9a";
const KEY: (&str, &str) = ("MCP_KEY", "0123456789abcdef0123456789abcdef");

/// Starts the reference server on a free port and waits until it listens.
async fn everything() -> (Child, String) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("node");
    command.args([EVERYTHING, "streamableHttp"]).env("PORT", port.to_string()).kill_on_drop(true);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains(&port.to_string()) {
            break;
        }
    }
    // Its further output must be read.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, format!("http://127.0.0.1:{port}/mcp"))
}

fn write_config() -> TempDir {
    let folder = TempDir::new().unwrap();
    let text = format!(
        "
mcpServers: {{ allowPrivate: true, keys: [MCP_KEY] }}
connections:
  - {{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}
  - {{ id: files, type: Mcp, properties: {{ command: node, args: ['{EVERYTHING}', stdio] }} }}
customAgents: {{ from: [helper] }}
agents:
  - {{ id: helper, type: Agent, connectionId: demo, properties: {{ model: demo, deferTools: false }}, mcp: [{{ connectionId: files, prefix: files_ }}] }}
pages: [{{ id: home, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    folder
}

/// Asks the agent of a page to call a tool; returns its result, or what is said instead.
async fn ask(server: &Server, page: &str, id: &str, text: &str) -> String {
    let received = chunks(server.message_to(page, id, text).send().await.unwrap()).await;
    let result = received.iter().find(|chunk| chunk["type"] == "tool-output-available");
    match result {
        Some(result) => result["output"].as_str().map_or_else(|| result["output"].to_string(), str::to_owned),
        None => received.iter().filter_map(|chunk| chunk["delta"].as_str()).collect(),
    }
}

#[tokio::test]
async fn administrator_adds_a_server_and_switches_it_off() {
    let (_everything, url) = everything().await;
    let folder = write_config();
    let log = folder.path().join("log");
    let config = folder.path().to_str().unwrap();
    let server = Server::start_logging_with_env(&[KEY], &["--config", config], File::create(&log).unwrap());
    let no_tool = async |page: &str, id: &str| {
        let said = ask(&server, page, id, "start echo: hi").await;
        assert!(!said.contains("Echo"), "{said}");
    };
    no_tool("home/helper", "c1").await;

    // Problems are reported before anything is stored, and a test reports the tools that would be found.
    let added = json!({ "url": url, "headers": { "X-Key": CANARY }, "agents": ["helper"], "egress": false });
    let named = |server: &Value| json!({ "name": "everything", "server": server });
    let (status, tested) = server.call(Method::POST, "/api/admin/mcp-server-tests", named(&added)).await;
    assert_eq!((status, &tested["error"]), (200, &Value::Null));
    assert!(tested["tools"].as_array().unwrap().contains(&json!("echo")), "{tested}");
    let nowhere = json!({ "url": "http://127.0.0.1:1/mcp" });
    let (_, tested) = server.call(Method::POST, "/api/admin/mcp-server-tests", named(&nowhere)).await;
    assert!(tested["error"].as_str().unwrap().contains("not available now"), "{tested}");
    let (status, _) = server.call(Method::GET, "/api/admin/mcp-servers/everything", Value::Null).await;
    assert_eq!(status, 404);

    let (status, created) = server.call(Method::POST, "/api/admin/mcp-servers", named(&added)).await;
    assert_eq!((status, &created["version"]), (201, &json!(1)));
    assert_eq!(created["server"]["headers"]["X-Key"], "***");
    assert_eq!(server.call(Method::POST, "/api/admin/mcp-servers", named(&added)).await.0, 409);
    assert_eq!(ask(&server, "home/helper", "c2", "start echo: hi").await, "Echo: hi");

    // An agent that is made at run time chooses it, and keeps the choice.
    let agent = json!({ "name": "Mine", "from": "helper", "instructions": "x", "tools": ["mcp:everything"] });
    let (status, made) = server.call(Method::POST, "/api/admin/custom-agents", agent).await;
    assert_eq!(status, 201, "{made}");
    let own = made["id"].as_str().unwrap();
    let own = format!("{own}/{own}");
    assert_eq!(ask(&server, &own, "o1", "start echo: hi").await, "Echo: hi");

    // A masked secret stays; the first of two changes wins.
    let mut off = created["server"].clone();
    off["enabled"] = false.into();
    let change = json!({ "version": 1, "server": off });
    let (status, changed) = server.call(Method::PUT, "/api/admin/mcp-servers/everything", change.clone()).await;
    assert_eq!((status, &changed["version"]), (200, &json!(2)), "{changed}");
    assert_eq!(server.call(Method::PUT, "/api/admin/mcp-servers/everything", change).await.0, 409);
    no_tool("home/helper", "c3").await;
    no_tool(&own, "o2").await;
    // Its connections are closed.
    let servers = async || server.call(Method::GET, "/api/admin/tools", Value::Null).await.1["servers"].to_string();
    let begun = Instant::now();
    while servers().await.contains("everything") {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", servers().await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    // The whole catalog: the server on again with fewer tools, that of the config off.
    let (_, mut all) = server.call(Method::GET, "/api/mcp/config", Value::Null).await;
    assert_eq!(all["configServers"], json!({ "files": true }));
    assert_eq!(ask(&server, "home/helper", "c4", "start files_echo: hi").await, "Echo: hi");
    all["mcpServers"]["everything"]["enabled"] = true.into();
    all["mcpServers"]["everything"]["deny"] = json!(["echo"]);
    all["configServers"]["files"] = false.into();
    let (status, after) = server.call(Method::PUT, "/api/mcp/config", all.clone()).await;
    assert_eq!(status, 200, "{after}");
    assert_eq!(server.call(Method::PUT, "/api/mcp/config", all).await.0, 409, "it is based on an old version");
    no_tool("home/helper", "c5").await;
    let said = ask(&server, "home/helper", "c6", "start files_echo: hi").await;
    assert!(!said.contains("Echo"), "{said}");
    let (_, detail) = server.call(Method::POST, "/api/admin/mcp-servers/everything/test", Value::Null).await;
    assert_eq!(detail["running"], false, "{detail}");
    let (_, list) = server.call(Method::GET, "/api/admin/mcp-servers", Value::Null).await;
    let states: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| (&item["name"], &item["state"])).collect();
    assert_eq!(states, [(&json!("everything"), &json!("on")), (&json!("files"), &json!("off"))]);

    let (_, yaml) = server.call(Method::GET, "/api/mcp/config/export", Value::Null).await;
    assert!(yaml.as_str().unwrap().contains("_secret: MCP_EVERYTHING_X_KEY"), "{yaml}");
    assert_eq!(server.call(Method::DELETE, "/api/admin/mcp-servers/everything", Value::Null).await.0, 204);
    assert_eq!(server.call(Method::DELETE, "/api/admin/mcp-servers/everything", Value::Null).await.0, 404);

    // The secret was sent to the server, and is nowhere else.
    let (_, audit) = server.call(Method::GET, "/api/admin/audit?kind=administration", Value::Null).await;
    for action in ["test_mcp_server", "add_mcp_server", "change_mcp_server", "disable_mcp_server", "delete_mcp_server"]
    {
        assert!(audit.to_string().contains(action), "{action}: {audit}");
    }
    let log = std::fs::read_to_string(&log).unwrap();
    let file = server.database.trim_start_matches("sqlite://");
    let database =
        [file.to_owned(), format!("{file}-wal")].map(|file| std::fs::read(file).unwrap_or_default()).concat();
    let database = String::from_utf8_lossy(&database);
    assert!(database.contains("everything"));
    for text in [created, changed, after, list, yaml, audit].iter().map(Value::to_string).chain([log, database.into()])
    {
        let at = text.find(CANARY).map(|at| text[text.floor_char_boundary(at.saturating_sub(200))..at].to_owned());
        assert_eq!(at, None);
    }
}

#[tokio::test]
async fn another_server_of_the_database_gets_an_added_server() {
    let Some(database) = test_postgres::new_database().await else { return };
    let (_everything, url) = everything().await;
    let folder = write_config();
    let config = folder.path().to_str().unwrap();
    let start = || Server::start_with_env(&[KEY], &["--config", config, "--database", &database]);
    let (a, b) = (start(), start());
    let body = json!({ "name": "everything", "server": { "url": url, "agents": ["helper"], "egress": false } });
    assert_eq!(a.call(Method::POST, "/api/admin/mcp-servers", body).await.0, 201);
    let becomes = async |expected: bool| {
        let begun = Instant::now();
        for number in 0.. {
            let said = ask(&b, "home/helper", &format!("c{expected}{number}"), "start echo: hi").await;
            if said.contains("Echo: hi") == expected {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{said}");
        }
    };
    becomes(true).await;
    assert_eq!(a.call(Method::DELETE, "/api/admin/mcp-servers/everything", Value::Null).await.0, 204);
    becomes(false).await;
}

#[tokio::test]
async fn config_may_forbid_it() {
    let folder = write_config();
    let file = folder.path().join("chatwright.yaml");
    let text = std::fs::read_to_string(&file).unwrap().replace("mcpServers: {", "mcpServers: { atRunTime: false,");
    std::fs::write(&file, text).unwrap();
    let server = Server::start_with_env(&[KEY], &["--config", folder.path().to_str().unwrap()]);
    let body = json!({ "name": "x", "server": { "url": "https://mcp.example.com/" } });
    for path in ["/api/admin/mcp-servers", "/api/admin/mcp-server-tests"] {
        let (status, refused) = server.call(Method::POST, path, body.clone()).await;
        assert_eq!(status, 422);
        assert!(refused.to_string().contains("mcpServers.atRunTime"), "{refused}");
    }
}
