//! Two servers on one PostgreSQL database, one of which dies or freezes during a reply; and a
//! database that is migrated, backed up and restored.

use crate::http::chunks;
use crate::operation::backup::run_command;
use crate::process::Server;
use reqwest::{Method, StatusCode};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Only detects a hang: a run is taken over after its lease of 15 s and the polling interval.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(120);

/// Writes a config with a slow demo agent; returns its folder.
fn write_slow_config(folder: &Path) -> String {
    let config = "connections: [{ id: demo, type: Demo, properties: { delayMs: 100 } }]\n\
                  agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]\n\
                  pages: [{ id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: demo } }] }]\n";
    std::fs::write(folder.join("chatwright.yaml"), config).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn message_text(message: &Value) -> String {
    let parts = message["parts"].as_array().unwrap().iter();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// Waits until the newest reply has ended; returns its text and outcome.
async fn wait_for_outcome(server: &Server, begun: Instant) -> (String, Value) {
    loop {
        let conversation = server.conversation("c").await;
        let answer = conversation["messages"].as_array().unwrap().last().unwrap().clone();
        if conversation["active"].is_null() {
            return (message_text(&answer), answer["metadata"]["outcome"].clone());
        }
        assert!(begun.elapsed() < TAKEOVER_TIMEOUT, "the run is not closed after {:?}", begun.elapsed());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reply_of_a_killed_server_is_closed_by_the_other() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = write_slow_config(folder.path());
    let start = || Server::start_with(&["--config", &config, "--database", &url]);
    let (mut a, b) = (start(), start());
    let mut running = a.message("c", "count to 600").send().await.unwrap();
    let mut seen = String::new();
    while seen.matches("text-delta").count() < 8 {
        seen.push_str(std::str::from_utf8(&running.chunk().await.unwrap().unwrap()).unwrap());
    }
    let stream = "/api/agent/demo/demo/c/stream";
    let watching = b.request(Method::GET, stream).header("last-event-id", "1.3").send().await.unwrap();
    assert_eq!(watching.status(), StatusCode::OK);

    a.kill();
    let died = Instant::now();
    drop(running);
    // The part that was shown is stored, and no other run starts until this one is closed.
    let conversation = b.conversation("c").await;
    assert!(!conversation["active"].is_null());
    assert!(message_text(&conversation["messages"][1]).contains("1, 2, 3"), "{conversation}");
    assert_eq!(b.message("c", "hello").send().await.unwrap().status(), StatusCode::CONFLICT);
    let watched = tokio::spawn(watching.text());
    let (written, how) = wait_for_outcome(&b, died).await;
    assert!(written.contains("1, 2, 3") && how == "interrupted", "{written} {how}");
    let watched = watched.await.unwrap().unwrap();
    assert!(watched.starts_with("id: 1.4\n") && watched.contains("data-gap"), "{watched}");
    assert!(watched.ends_with("data: [DONE]\n\n"), "{watched}");

    let again = chunks(b.message("c", "hello").send().await.unwrap()).await;
    assert_eq!(again.last().unwrap()["type"], "finish");
    // A new server shows the same messages.
    let c = start();
    assert_eq!(c.conversation("c").await["messages"], b.conversation("c").await["messages"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frozen_server_writes_nothing_after_it_resumes() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = write_slow_config(folder.path());
    let start = || Server::start_with(&["--config", &config, "--database", &url]);
    let (a, b) = (start(), start());
    let running = a.message("c", "count to 600").send().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    a.signal(Signal::STOP);
    let frozen = Instant::now();
    let (written, how) = wait_for_outcome(&b, frozen).await;
    assert_eq!(how, "interrupted");
    // The conversation continues on the other server.
    let answered = chunks(b.message("c", "hello").send().await.unwrap()).await;
    assert_eq!(answered.last().unwrap()["type"], "finish");
    let kept = b.conversation("c").await["messages"].clone();

    a.signal(Signal::CONT);
    let output = tokio::time::timeout(Duration::from_secs(60), running.text()).await.expect("the run ends");
    assert!(!output.unwrap().contains("\"type\":\"finish\""));
    assert_eq!(b.conversation("c").await["messages"], kept);
    assert_eq!(message_text(&kept[1]), written);
    // The resumed server works again.
    let answered = chunks(a.message("d", "hello").send().await.unwrap()).await;
    assert_eq!(answered.last().unwrap()["type"], "finish");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migrated_database_is_backed_up_and_restored() {
    let (Some(url), Some(other)) = (test_postgres::new_database().await, test_postgres::new_database().await) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite://{}/chat.db", folder.path().display());
    let before = Server::start_on(&file);
    chunks(before.message("c", "hello").send().await.unwrap()).await;
    let messages = before.conversation("c").await["messages"].clone();
    drop(before);
    let (done, output) = run_command(&["migrate", "--from", &file, "--to", &url]);
    assert!(done && output.contains("counts and hashes match"), "{output}");
    let (again, output) = run_command(&["migrate", "--from", &file, "--to", &url]);
    assert!(!again && output.contains("the target is not empty"), "{output}");

    let server = Server::start_on(&url);
    assert_eq!(server.conversation("c").await["messages"], messages);
    chunks(server.message("c", "hello again").send().await.unwrap()).await;
    let (done, output) = run_command(&["doctor", "--offline", "--database", &url, "--addr", "127.0.0.1:0"]);
    assert!(output.contains("PostgreSQL") && output.contains("writable"), "{done} {output}");
    assert!(!output.contains(test_postgres::PASSWORD), "{output}");
    // The backup is made while the server runs.
    let backup = folder.path().join("backup.tar");
    let backup = backup.to_str().unwrap();
    let (done, output) = run_command(&["backup", "--to", backup, "--database", &url]);
    assert!(done && output.contains("checked"), "{output}");
    let (done, output) = run_command(&["restore", "--from", backup, "--database", &url, "--force"]);
    assert!(!done && output.contains("a server serves the target; stop it first"), "{output}");
    let messages = server.conversation("c").await["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 4);

    let back = format!("sqlite://{}/back/chat.db", folder.path().display());
    for (target, more) in [(&other, &[][..]), (&other, &["--force"]), (&back, &[])] {
        let (done, output) = run_command(&[&["restore", "--from", backup, "--database", target], more].concat());
        assert!(done && output.contains("restored from"), "{output}");
        let restored = Server::start_on(target);
        assert_eq!(restored.conversation("c").await["messages"], messages);
        restored.terminate();
        let mut restored = restored;
        assert!(restored.wait().success());
    }
    let (done, output) = run_command(&["restore", "--from", backup, "--database", &other]);
    assert!(!done && output.contains("--force replaces existing data"), "{output}");
    let body = json!({ "agent_name": "demo", "input": { "prompt": "hello" } });
    let asked = server.request(Method::POST, "/api/runs/invoke").json(&body).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::OK);
}

/// Changes of custom agents on one server apply on the other one, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn custom_agents_are_shared_between_servers() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = write_slow_config(folder.path());
    let text = std::fs::read_to_string(folder.path().join("chatwright.yaml")).unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), format!("{text}customAgents: {{ from: [demo] }}\n")).unwrap();
    let start = || Server::start_with(&["--config", &config, "--database", &url]);
    let (a, b) = (start(), start());
    let list = async |server: &Server| {
        let list = server.request(Method::GET, "/api/admin/agents").send().await.unwrap();
        list.json::<Value>().await.unwrap()["items"].to_string()
    };
    let becomes = async |sign: &str, is_there: bool| {
        let begun = Instant::now();
        while list(&b).await.contains(sign) != is_there {
            assert!(begun.elapsed() < Duration::from_secs(60), "{sign} {is_there}: {}", list(&b).await);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let agent = |name: &str, version: Value| json!({ "name": name, "from": "demo", "instructions": "Be brief.", "version": version });
    let made =
        a.request(Method::POST, "/api/admin/custom-agents").json(&agent("Tester", Value::Null)).send().await.unwrap();
    let id = made.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    becomes("Tester (custom)", true).await;
    let output = chunks(b.message_to(&format!("{id}/{id}"), "c1", "Hello").send().await.unwrap()).await;
    assert_eq!(output.last().unwrap()["type"], "finish");
    let path = format!("/api/admin/custom-agents/{id}");
    assert!(
        a.request(Method::PUT, &path).json(&agent("Checker", json!(1))).send().await.unwrap().status().is_success()
    );
    becomes("Checker (custom)", true).await;
    assert!(a.request(Method::DELETE, &path).send().await.unwrap().status().is_success());
    becomes("Checker (custom)", false).await;
}
