//! Changes of the config file while the server runs.

use crate::process::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

fn config(instructions: &str, page: &str) -> String {
    format!(
        "connections:\n  - {{ id: model, type: Demo }}\n\
         agents:\n  - id: helper\n    type: Agent\n    connectionId: model\n    properties: {{ model: demo, {instructions} }}\n\
         pages:\n  - id: {page}\n    blocks:\n      - {{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}\n"
    )
}

/// Polls the status until it is as expected. A change is live within a second; the limit allows for
/// a busy machine.
async fn wait_for_status(server: &Server, what: &str, expected: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let answer = server.request(Method::GET, "/api/config/status").send().await.unwrap();
        let status: Value = answer.json().await.unwrap();
        if expected(&status) {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: {status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn page_status(server: &Server, id: &str) -> u16 {
    server.request(Method::GET, &format!("/{id}")).send().await.unwrap().status().as_u16()
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
}

#[tokio::test]
async fn valid_changes_are_applied_and_invalid_ones_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    write(&file, &config("instructions: Help.", "first"));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let begun = wait_for_status(&server, "the initial config", |status| status["problems"].is_null()).await;
    assert_eq!((page_status(&server, "first").await, page_status(&server, "second").await), (200, 404));

    write(&file, &config("instructions: Help.", "second"));
    let changed = wait_for_status(&server, "a valid change", |status| status["version"] != begun["version"]).await;
    assert_eq!((page_status(&server, "first").await, page_status(&server, "second").await), (404, 200));

    write(&file, &config("instructoins: Help.", "third"));
    let wrong = wait_for_status(&server, "an invalid change", |status| status["problems"].is_string()).await;
    let problems = wrong["problems"].as_str().unwrap();
    assert!(problems.starts_with("chatwright.yaml:7:") && problems.contains("`instructions`"), "{problems}");
    assert_eq!(wrong["version"], changed["version"]);
    assert_eq!((page_status(&server, "second").await, page_status(&server, "third").await), (200, 404));

    // Some editors replace the file, so that it is missing for a moment.
    std::fs::remove_file(&file).unwrap();
    wait_for_status(&server, "a missing file", |status| {
        status["problems"].as_str().is_some_and(|text| text.contains("no such file"))
    })
    .await;
    let other = folder.path().join("other");
    write(&other, &config("instructions: Help.", "third"));
    std::fs::rename(other, &file).unwrap();
    wait_for_status(&server, "a valid file again", |status| status["problems"].is_null()).await;
    assert_eq!(page_status(&server, "third").await, 200);
}

#[tokio::test]
async fn changes_of_included_files_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let (file, included) = (folder.path().join("chatwright.yaml"), folder.path().join("instructions.md"));
    write(&file, &config("instructions: { _ref: instructions.md }", "first"));
    write(&included, "Help.");
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let begun = wait_for_status(&server, "the initial config", |_| true).await;
    write(&included, "Help much.");
    wait_for_status(&server, "the included file", |status| status["version"] != begun["version"]).await;
}

/// Open pages reload only when their own content changes.
#[tokio::test]
async fn page_version_changes_only_when_the_page_looks_different() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    write(&file, &config("instructions: Help.", "first"));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let version = async |id: &str| {
        let answer = server.request(Method::GET, &format!("/api/config/status?page={id}")).send().await.unwrap();
        answer.json::<Value>().await.unwrap()["page"].clone()
    };
    let begun = wait_for_status(&server, "the initial config", |_| true).await;
    let page = version("first").await;
    assert!(page.is_string());
    assert_eq!((version("").await, version("nowhere").await), (page.clone(), Value::Null));

    write(&file, &config("instructions: Help much.", "first"));
    let second = wait_for_status(&server, "another agent", |status| status["version"] != begun["version"]).await;
    assert_eq!(version("first").await, page);

    write(
        &file,
        &config("instructions: Help much.", "first").replace("agentId: helper", "agentId: helper, placeholder: Ask"),
    );
    wait_for_status(&server, "another page", |status| status["version"] != second["version"]).await;
    assert_ne!(version("first").await, page);
}

/// A run finishes with the agent that it started with.
#[tokio::test]
async fn running_turn_finishes_with_the_old_config() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    write(&file, &config("instructions: Help.", "first"));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let begun = wait_for_status(&server, "the initial config", |_| true).await;
    let message = json!({ "id": "m", "role": "user", "parts": [{ "type": "text", "text": "count to 200" }] });
    let turn = server.request(Method::POST, "/api/agent/first/helper?conversationId=c");
    let turn = turn.json(&json!({ "id": "chat", "trigger": "submit-message", "messages": [message] }));
    let stream = turn.send().await.unwrap();
    write(&file, &config("instructions: Help.", "second").replace("helper", "other"));
    wait_for_status(&server, "the change", |status| status["version"] != begun["version"]).await;
    let text = stream.text().await.unwrap();
    assert!(text.contains("200") && text.ends_with("data: [DONE]\n\n"), "{text}");
}

#[tokio::test]
async fn answer_of_a_removed_agent_is_stopped_by_its_user() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    let slow = "type: Demo, properties: { delayMs: 50 }";
    write(&file, &config("instructions: Help.", "first").replace("type: Demo", slow));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let begun = wait_for_status(&server, "the initial config", |_| true).await;
    let message = json!({ "id": "m", "role": "user", "parts": [{ "type": "text", "text": "count to 2000" }] });
    let turn = server.request(Method::POST, "/api/agent/first/helper?conversationId=c");
    let turn = turn.json(&json!({ "id": "chat", "trigger": "submit-message", "messages": [message] }));
    let stream = turn.send().await.unwrap();
    write(&file, &config("instructions: Help.", "second").replace("helper", "other"));
    wait_for_status(&server, "the change", |status| status["version"] != begun["version"]).await;
    let stop = async |path: &str| {
        let path = format!("/api/agent/{path}/stop");
        server.request(Method::POST, &path).send().await.unwrap().status().as_u16()
    };
    // Only with the names with which the conversation began.
    for wrong in ["first/helper/d", "first/other/c", "second/helper/c", "first/gone/c"] {
        assert_eq!(stop(wrong).await, 404, "{wrong}");
    }
    assert_eq!(stop("first/helper/c").await, 204);
    let text = stream.text().await.unwrap();
    assert!(text.contains(r#""type":"abort""#) && !text.contains("1999"), "{text}");
}

/// Docker creates a folder for a mounted file that does not exist.
#[tokio::test]
async fn config_that_was_a_folder_for_a_while_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    write(&file, &config("instructions: Help.", "first"));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    wait_for_status(&server, "the initial config", |status| status["problems"].is_null()).await;

    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    wait_for_status(&server, "a folder", |status| status["problems"].is_string()).await;
    std::fs::remove_dir(&file).unwrap();
    write(&file, &config("instructions: Help.", "second"));
    wait_for_status(&server, "a valid file", |status| status["problems"].is_null()).await;
    assert_eq!((page_status(&server, "first").await, page_status(&server, "second").await), (404, 200));

    // A folder that contains a config is valid, too, and may become a file again.
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    write(&file.join("chatwright.yaml"), &config("instructions: Help.", "third"));
    wait_for_status(&server, "a valid folder", |status| status["problems"].is_null()).await;
    let begun = Instant::now();
    while page_status(&server, "third").await != 200 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the folder is not read");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    std::fs::remove_dir_all(&file).unwrap();
    write(&file, &config("instructions: Help.", "fourth"));
    let begun = Instant::now();
    while page_status(&server, "fourth").await != 200 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the file is not read");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
