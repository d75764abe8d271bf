//! An agent with skills, from its config to the stream.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use insta::assert_snapshot;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const ORDER: &str =
    "---\nname: order\ndescription: Looks after orders.\nallowed-tools: ask-user\n---\nFind the order first.\n";

fn write(folder: &TempDir, name: &str, text: &str) {
    let file = folder.path().join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// Writes a config with a folder of skills, beside a file that must not be read.
fn write_config(connection: &str, model: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    write(&folder, "skills/order/SKILL.md", ORDER);
    write(&folder, "skills/order/references/refunds.md", "Within thirty days.\n");
    write(&folder, "skills/greet/SKILL.md", "---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n");
    write(&folder, "secret.txt", "canary");
    write(&folder, "chatwright.yaml", &format!("
skills: {{ folders: [skills] }}
connections: [{connection}]
agents: [{{ id: helper, type: Agent, connectionId: model, skills: all, properties: {{ model: {model}, fileSystem: {{ basePath: skills }} }} }}]
pages: [{{ id: help, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"));
    folder
}

fn start(folder: &TempDir) -> Server {
    Server::start_with(&["--config", folder.path().to_str().unwrap()])
}

/// Sends a message and returns the stream's chunks.
async fn send(server: &Server, conversation: &str, id: &str, text: &str) -> Vec<Value> {
    let message = json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] });
    let body = json!({ "id": conversation, "trigger": "submit-message", "messages": [message] });
    let request = server.request(Method::POST, &format!("/api/agent/help/helper?conversationId={conversation}"));
    chunks(request.json(&body).send().await.unwrap()).await
}

/// Returns the result of a tool call, or what is said instead of one.
fn outcome(chunks: &[Value]) -> String {
    let part = |kind: &str, key: &str| {
        let found = chunks.iter().find(|chunk| chunk["type"] == kind)?;
        Some(found[key].as_str().map_or_else(|| found[key].to_string(), str::to_owned))
    };
    let results = [("tool-output-available", "output"), ("tool-output-error", "errorText")];
    let result = results.iter().find_map(|(kind, key)| part(kind, key));
    result.unwrap_or_else(|| chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect())
}

#[tokio::test]
async fn agent_reads_its_skills_and_keeps_to_their_tools() {
    let model = start_provider().await;
    let folder =
        write_config(&format!("{{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}"), "m");
    let server = start(&folder);
    let check = async |id: &str, asked: &str| outcome(&send(&server, "c", id, asked).await);
    assert_snapshot!(check("m1", r#"read-file {"path":"greet/SKILL.md"}"#).await, @"
    ---
    name: greet
    description: Says hello.
    ---
    Say hello.
    ");
    assert_snapshot!(check("m2", r#"read_skill {"name":"order"}"#).await, @r#"
    <skill_content name="order">
    Find the order first.

    While this skill is in use you may call only these tools: ask-user

    Files of this skill, to be read with read_skill and `file`. Scripts among them cannot be run.
    - references/refunds.md
    </skill_content>
    "#);
    // From now on, only the tools of the skill may be called.
    assert_snapshot!(check("m3", r#"read-file {"path":"greet/SKILL.md"}"#).await, @"Not allowed: the skill `order` is in use, which allows only these tools: ask-user");
    assert_snapshot!(check("m4", r#"read_skill {"name":"order","file":"references/refunds.md"}"#).await, @"Within thirty days.");
    assert_snapshot!(check("m5", r#"read_skill {"name":"order","file":"../../secret.txt"}"#).await, @"`../../secret.txt` cannot be read: a path has no empty names and none that ends with a dot or a space.");
    // Another conversation does not use it.
    let other = outcome(&send(&server, "d", "n1", r#"read-file {"path":"greet/SKILL.md"}"#).await);
    assert!(other.contains("Say hello."), "{other}");
}

#[tokio::test]
async fn user_chooses_a_skill_by_its_name_and_a_changed_file_is_followed() {
    let model = start_provider().await;
    let folder =
        write_config(&format!("{{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}"), "m");
    let server = start(&folder);
    let say = async |id: &str, text: &str| outcome(&send(&server, "c", id, text).await);
    let told = say("m1", "/greet everybody").await;
    assert!(told.contains("<skill_content name=\"greet\">\nSay hello."), "{told}");
    assert_eq!(say("m2", "say Thanks").await, "Thanks", "the model still reads it");

    write(&folder, "skills/greet/SKILL.md", "---\nname: greet\ndescription: Says hello.\n---\nSay good morning.\n");
    let begun = Instant::now();
    for number in 3.. {
        let said = say(&format!("m{number}"), "say Thanks").await;
        if said != "Thanks" {
            assert!(said.contains("Say good morning."), "{said}");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the changed skill is not told");
    }

    // The composer lists the skills.
    let page = server.request(Method::GET, "/help").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("Looks after orders.") && page.contains("/order "), "the page has no command");
}

#[tokio::test]
async fn example_runs_with_the_demo_model() {
    let server = Server::start_with(&["--config", concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/skills")]);
    let message = server.message_to("home/helper", "c", "start read_skill: meeting-notes");
    let read = outcome(&chunks(message.send().await.unwrap()).await);
    assert!(read.contains("# Minutes of a meeting") && read.contains("- references/tasks.md"), "{read}");
}

/// Packs files into an archive.
fn pack(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[tokio::test]
async fn administrator_installs_a_skill_for_agents() {
    let folder = write_config("{ id: model, type: Demo }", "demo");
    let server = start(&folder);
    let call = async |method: Method, path: &str, body: Vec<u8>| {
        let request = server.request(method, path).header("content-type", "application/json").body(body);
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or(Value::Null))
    };
    let install = async |query: &str, files: &[(&str, &str)]| {
        let (status, body) = call(Method::POST, &format!("/api/admin/skills{query}"), pack(files)).await;
        let reasons = body["error"]["message"].as_str().unwrap_or_default().to_owned();
        (status, reasons, body)
    };
    let check = async |query: &str, files: &[(&str, &str)], expected: (u16, &str)| {
        let (status, reasons, _) = install(query, files).await;
        assert_eq!((status, reasons.as_str()), expected);
    };
    let skill = "---\nname: refund\ndescription: Looks after refunds.\n---\nWithin thirty days.\n";
    check("", &[("refund/SKILL.md", "---\nname: refund\n---\n")], (422, "The frontmatter has no `description`, or it is not a text.\nThe SKILL.md has no instructions after the frontmatter.")).await;
    check(
        "",
        &[("SKILL.md", skill), ("../secret", "")],
        (422, "The path \"../secret\" is refused: a path has no empty names and none that ends with a dot or a space."),
    )
    .await;
    let (status, _, installed) = install("", &[("refund/SKILL.md", skill), ("refund/run.sh", "#!/bin/sh\n")]).await;
    assert_eq!((status, &installed["name"], &installed["enabled"]), (201, &json!("refund"), &json!(false)));
    assert_eq!(installed["findings"][0]["kind"], "script");
    check(
        "",
        &[("refund/SKILL.md", skill)],
        (409, "The skill `refund` is installed already. Choose to replace it, or delete it first."),
    )
    .await;
    assert_eq!(install("?replace=true&sha256=00", &[("SKILL.md", skill)]).await.0, 422);

    let read = async |id: &str| outcome(&send(&server, id, "m1", "start read_skill: refund").await);
    assert!(!read("c1").await.contains("Within thirty days."), "it is not enabled");
    let enable = |digest: &Value| json!({ "enabled": true, "digest": digest }).to_string().into_bytes();
    assert_eq!(call(Method::PUT, "/api/admin/skills/refund", enable(&json!("other"))).await.0, 409);
    assert_eq!(call(Method::PUT, "/api/admin/skills/refund", enable(&installed["digest"])).await.0, 200);
    assert!(read("c2").await.contains("Within thirty days."));
    let (_, listed) = call(Method::GET, "/api/admin/skills?state=enabled", Vec::new()).await;
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["greet", "order", "refund"]);
    // More than other requests may have.
    let large = call(Method::POST, "/api/admin/skills", vec![0; (10 << 20) + 1]).await;
    assert_eq!((large.0, &large.1["error"]["code"]), (413, &json!("too_large")));
    assert_eq!(call(Method::DELETE, "/api/admin/skills/refund", Vec::new()).await.0, 204);
    assert!(!read("c3").await.contains("Within thirty days."));
}
