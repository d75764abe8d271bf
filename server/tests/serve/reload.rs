//! A config that changes under a running server (D-22, F31).

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

/// Asks until the status is as expected; a change is live within a second, and the machine may be busy.
async fn status_when(server: &Server, what: &str, expected: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let answer = server.ask(Method::GET, "/api/config/status").send().await.unwrap();
        let status: Value = answer.json().await.unwrap();
        if expected(&status) {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: {status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn page(server: &Server, id: &str) -> u16 {
    server.ask(Method::GET, &format!("/{id}")).send().await.unwrap().status().as_u16()
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
}

#[tokio::test]
async fn a_good_change_is_taken_over_and_a_bad_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    write(&file, &config("instructions: Help.", "first"));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let begun = status_when(&server, "the first", |status| status["problems"].is_null()).await;
    assert_eq!((page(&server, "first").await, page(&server, "second").await), (200, 404));

    write(&file, &config("instructions: Help.", "second"));
    let changed = status_when(&server, "a good one", |status| status["version"] != begun["version"]).await;
    assert_eq!((page(&server, "first").await, page(&server, "second").await), (404, 200));

    write(&file, &config("instructoins: Help.", "third"));
    let wrong = status_when(&server, "a bad one", |status| status["problems"].is_string()).await;
    let problems = wrong["problems"].as_str().unwrap();
    assert!(problems.starts_with("chatwright.yaml:7:") && problems.contains("`instructions`"), "{problems}");
    assert_eq!(wrong["version"], changed["version"]);
    assert_eq!((page(&server, "second").await, page(&server, "third").await), (200, 404));

    // As some editors write: another file in its place, and for a moment none.
    std::fs::remove_file(&file).unwrap();
    status_when(&server, "none", |status| {
        status["problems"].as_str().is_some_and(|text| text.contains("no such file"))
    })
    .await;
    let other = folder.path().join("other");
    write(&other, &config("instructions: Help.", "third"));
    std::fs::rename(other, &file).unwrap();
    status_when(&server, "a good one again", |status| status["problems"].is_null()).await;
    assert_eq!(page(&server, "third").await, 200);
}

#[tokio::test]
async fn a_file_that_is_included_counts_too() {
    let folder = tempfile::tempdir().unwrap();
    let (file, included) = (folder.path().join("chatwright.yaml"), folder.path().join("instructions.md"));
    write(&file, &config("instructions: { _ref: instructions.md }", "first"));
    write(&included, "Help.");
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let begun = status_when(&server, "the first", |_| true).await;
    write(&included, "Help much.");
    status_when(&server, "the included file", |status| status["version"] != begun["version"]).await;
}

/// What an open page is told of is what it shows.
#[tokio::test]
async fn page_has_another_version_only_when_it_looks_different() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    write(&file, &config("instructions: Help.", "first"));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let version = async |id: &str| {
        let answer = server.ask(Method::GET, &format!("/api/config/status?page={id}")).send().await.unwrap();
        answer.json::<Value>().await.unwrap()["page"].clone()
    };
    let begun = status_when(&server, "the first", |_| true).await;
    let page = version("first").await;
    assert!(page.is_string());
    assert_eq!((version("").await, version("nowhere").await), (page.clone(), Value::Null));

    write(&file, &config("instructions: Help much.", "first"));
    let second = status_when(&server, "another agent", |status| status["version"] != begun["version"]).await;
    assert_eq!(version("first").await, page);

    write(
        &file,
        &config("instructions: Help much.", "first").replace("agentId: helper", "agentId: helper, placeholder: Ask"),
    );
    status_when(&server, "another page", |status| status["version"] != second["version"]).await;
    assert_ne!(version("first").await, page);
}

/// A run ends with the agent that it began with.
#[tokio::test]
async fn a_running_turn_ends_on_the_old_config() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    write(&file, &config("instructions: Help.", "first"));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let begun = status_when(&server, "the first", |_| true).await;
    let message = json!({ "id": "m", "role": "user", "parts": [{ "type": "text", "text": "count to 200" }] });
    let turn = server.ask(Method::POST, "/api/agent/first/helper?conversationId=c");
    let turn = turn.json(&json!({ "id": "chat", "trigger": "submit-message", "messages": [message] }));
    let stream = turn.send().await.unwrap();
    write(&file, &config("instructions: Help.", "second").replace("helper", "other"));
    status_when(&server, "the change", |status| status["version"] != begun["version"]).await;
    let text = stream.text().await.unwrap();
    assert!(text.contains("200") && text.ends_with("data: [DONE]\n\n"), "{text}");
}

/// Docker makes a folder where a mounted file is missing.
#[tokio::test]
async fn config_that_was_a_folder_for_a_while_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    write(&file, &config("instructions: Help.", "first"));
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    status_when(&server, "the first", |status| status["problems"].is_null()).await;

    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    status_when(&server, "a folder", |status| status["problems"].is_string()).await;
    std::fs::remove_dir(&file).unwrap();
    write(&file, &config("instructions: Help.", "second"));
    status_when(&server, "a good file", |status| status["problems"].is_null()).await;
    assert_eq!((page(&server, "first").await, page(&server, "second").await), (404, 200));

    // A folder with a config is a good config, too, and may become a file again.
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    write(&file.join("chatwright.yaml"), &config("instructions: Help.", "third"));
    status_when(&server, "a good folder", |status| status["problems"].is_null()).await;
    let begun = Instant::now();
    while page(&server, "third").await != 200 {
        assert!(begun.elapsed() < Duration::from_secs(10), "the folder is not read");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    std::fs::remove_dir_all(&file).unwrap();
    write(&file, &config("instructions: Help.", "fourth"));
    let begun = Instant::now();
    while page(&server, "fourth").await != 200 {
        assert!(begun.elapsed() < Duration::from_secs(10), "the file is not read");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
