//! Two servers on one PostgreSQL, one of which dies or freezes while it answers (F15, F16); and a database that is moved, copied and put back.

use crate::backup::run;
use crate::http::chunks;
use crate::process::Server;
use reqwest::{Method, StatusCode};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Only catches a hang: an answer is taken over after the lease of 15 s, and the time between two looks.
const TAKEN_OVER: Duration = Duration::from_secs(120);

/// The demo's agent, as slow as a person reads.
fn slow(folder: &Path) -> String {
    let config = "connections: [{ id: demo, type: Demo, properties: { delayMs: 100 } }]\n\
                  agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]\n\
                  pages: [{ id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: demo } }] }]\n";
    std::fs::write(folder.join("chatwright.yaml"), config).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn text(message: &Value) -> String {
    let parts = message["parts"].as_array().unwrap().iter();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// How the newest answer ended, once it has.
async fn outcome(server: &Server, begun: Instant) -> (String, Value) {
    loop {
        let conversation = server.conversation("c").await;
        let answer = conversation["messages"].as_array().unwrap().last().unwrap().clone();
        if conversation["active"].is_null() {
            return (text(&answer), answer["metadata"]["outcome"].clone());
        }
        assert!(begun.elapsed() < TAKEN_OVER, "it is not closed after {:?}", begun.elapsed());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_a_server_that_is_killed_is_closed_by_the_other() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = slow(folder.path());
    let start = || Server::start_with(&["--config", &config, "--database", &url]);
    let (mut a, b) = (start(), start());
    let mut running = a.message("c", "count to 600").send().await.unwrap();
    let mut seen = String::new();
    while seen.matches("text-delta").count() < 8 {
        seen.push_str(std::str::from_utf8(&running.chunk().await.unwrap().unwrap()).unwrap());
    }
    let stream = "/api/agent/demo/demo/c/stream";
    let watching = b.ask(Method::GET, stream).header("last-event-id", "1.3").send().await.unwrap();
    assert_eq!(watching.status(), StatusCode::OK);

    a.kill();
    let died = Instant::now();
    drop(running);
    // What was shown is there, from the first moment on, and nobody else begins until it is closed.
    let conversation = b.conversation("c").await;
    assert!(!conversation["active"].is_null());
    assert!(text(&conversation["messages"][1]).contains("1, 2, 3"), "{conversation}");
    assert_eq!(b.message("c", "hello").send().await.unwrap().status(), StatusCode::CONFLICT);
    let watched = tokio::spawn(watching.text());
    let (written, how) = outcome(&b, died).await;
    assert!(written.contains("1, 2, 3") && how == "interrupted", "{written} {how}");
    let watched = watched.await.unwrap().unwrap();
    assert!(watched.starts_with("id: 1.4\n") && watched.contains("data-gap"), "{watched}");
    assert!(watched.ends_with("data: [DONE]\n\n"), "{watched}");

    let again = chunks(b.message("c", "hello").send().await.unwrap()).await;
    assert_eq!(again.last().unwrap()["type"], "finish");
    // A new one in the place of the dead one knows all of it.
    let c = start();
    assert_eq!(c.conversation("c").await["messages"], b.conversation("c").await["messages"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_that_wakes_up_writes_nothing() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = slow(folder.path());
    let start = || Server::start_with(&["--config", &config, "--database", &url]);
    let (a, b) = (start(), start());
    let running = a.message("c", "count to 600").send().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    a.signal(Signal::STOP);
    let frozen = Instant::now();
    let (written, how) = outcome(&b, frozen).await;
    assert_eq!(how, "interrupted");
    // It goes on where it was closed, at the other server.
    let answered = chunks(b.message("c", "hello").send().await.unwrap()).await;
    assert_eq!(answered.last().unwrap()["type"], "finish");
    let kept = b.conversation("c").await["messages"].clone();

    a.signal(Signal::CONT);
    let told = tokio::time::timeout(Duration::from_secs(15), running.text()).await.expect("its run ends");
    assert!(!told.unwrap().contains("\"type\":\"finish\""));
    assert_eq!(b.conversation("c").await["messages"], kept);
    assert_eq!(text(&kept[1]), written);
    // And works again.
    let answered = chunks(a.message("d", "hello").send().await.unwrap()).await;
    assert_eq!(answered.last().unwrap()["type"], "finish");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_moved_to_a_server_is_copied_and_put_back() {
    let (Some(url), Some(other)) = (test_postgres::new_database().await, test_postgres::new_database().await) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite://{}/chat.db", folder.path().display());
    let before = Server::start_on(&file);
    chunks(before.message("c", "hello").send().await.unwrap()).await;
    let said = before.conversation("c").await["messages"].clone();
    drop(before);
    let (done, told) = run(&["migrate", "--from", &file, "--to", &url]);
    assert!(done && told.contains("counts and hashes are the same"), "{told}");
    let (again, told) = run(&["migrate", "--from", &file, "--to", &url]);
    assert!(!again && told.contains("the target is not empty"), "{told}");

    let server = Server::start_on(&url);
    assert_eq!(server.conversation("c").await["messages"], said);
    chunks(server.message("c", "hello again").send().await.unwrap()).await;
    let (done, told) = run(&["doctor", "--offline", "--database", &url, "--addr", "127.0.0.1:0"]);
    assert!(told.contains("PostgreSQL") && told.contains("can be written"), "{done} {told}");
    assert!(!told.contains(test_postgres::PASSWORD), "{told}");
    // While it works.
    let backup = folder.path().join("backup.tar");
    let backup = backup.to_str().unwrap();
    let (done, told) = run(&["backup", "--to", backup, "--database", &url]);
    assert!(done && told.contains("checked"), "{told}");
    let (done, told) = run(&["restore", "--from", backup, "--database", &url, "--force"]);
    assert!(!done && told.contains("a server serves the target; stop it first"), "{told}");
    let said = server.conversation("c").await["messages"].clone();
    assert_eq!(said.as_array().unwrap().len(), 4);

    let back = format!("sqlite://{}/back/chat.db", folder.path().display());
    for (place, more) in [(&other, &[][..]), (&other, &["--force"]), (&back, &[])] {
        let (done, told) = run(&[&["restore", "--from", backup, "--database", place], more].concat());
        assert!(done && told.contains("restored from"), "{told}");
        let restored = Server::start_on(place);
        assert_eq!(restored.conversation("c").await["messages"], said);
        restored.terminate();
        let mut restored = restored;
        assert!(restored.wait().success());
    }
    let (done, told) = run(&["restore", "--from", backup, "--database", &other]);
    assert!(!done && told.contains("--force replaces what is there"), "{told}");
    let body = json!({ "agent_name": "demo", "input": { "prompt": "hello" } });
    let asked = server.ask(Method::POST, "/api/runs/invoke").json(&body).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::OK);
}

/// What an administrator makes of an agent at one server is there at the other one, and goes there, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_made_at_one_server_is_there_at_the_other() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = slow(folder.path());
    let text = std::fs::read_to_string(folder.path().join("chatwright.yaml")).unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), format!("{text}customAgents: {{ from: [demo] }}\n")).unwrap();
    let start = || Server::start_with(&["--config", &config, "--database", &url]);
    let (a, b) = (start(), start());
    let list = async |server: &Server| {
        let list = server.ask(Method::GET, "/api/admin/agents").send().await.unwrap();
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
        a.ask(Method::POST, "/api/admin/custom-agents").json(&agent("Tester", Value::Null)).send().await.unwrap();
    let id = made.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    becomes("Tester (custom)", true).await;
    let told = chunks(b.message_to(&format!("{id}/{id}"), "c1", "Hello").send().await.unwrap()).await;
    assert_eq!(told.last().unwrap()["type"], "finish");
    let path = format!("/api/admin/custom-agents/{id}");
    assert!(a.ask(Method::PUT, &path).json(&agent("Checker", json!(1))).send().await.unwrap().status().is_success());
    becomes("Checker (custom)", true).await;
    assert!(a.ask(Method::DELETE, &path).send().await.unwrap().status().is_success());
    becomes("Checker (custom)", false).await;
}
