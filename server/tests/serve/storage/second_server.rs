//! A second server on one SQLite file: it is refused, or waits for the first one to end, and does
//! not disturb it.

use crate::http::chunks;
use crate::process::Server;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

const CONFIG: &str = "\
connections: [{ id: demo, type: Demo, properties: { delayMs: 100 } }]
agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: demo } }] }]
limits: { drainMs: 20000 }
";

/// A folder with a config, and one with a shorter drain time for the second server.
struct TestFolder(TempDir);

impl TestFolder {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
        fs::write(folder.path().join("hasty.yaml"), CONFIG.replace("20000", "10")).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn url(&self, name: &str) -> String {
        format!("sqlite://{}", self.path(name).display())
    }

    fn start(&self, log: &str) -> Server {
        let (config, url) = (self.path("chatwright.yaml"), self.url("chat.db"));
        let log = File::create(self.path(log)).unwrap();
        Server::start_logging(&["--config", config.to_str().unwrap(), "--database", &url], log)
    }

    /// Starts a second server, which must fail; returns its output.
    fn failed_start_output(&self, name: &str) -> String {
        let config = self.path("hasty.yaml");
        let output = Command::new(env!("CARGO_BIN_EXE_chatwright"))
            .args([
                "serve",
                "--addr",
                "127.0.0.1:0",
                "--config",
                config.to_str().unwrap(),
                "--database",
                &self.url(name),
            ])
            .output()
            .unwrap();
        assert!(!output.status.success(), "{name} is served twice");
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    fn log(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

fn last_text(conversation: &Value) -> String {
    let message = conversation["messages"].as_array().unwrap().last().unwrap();
    message["parts"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_server_on_same_file_is_refused() {
    let files = Arc::new(TestFolder::new());
    let server = files.start("log");
    std::os::unix::fs::symlink(files.path("chat.db"), files.path("symbolic.db")).unwrap();
    let running = server.message("c", "count to 120").send().await.unwrap();
    let by = format!("another server has it open (process {} on ", server.id());
    let tried = ["chat.db", "symbolic.db"].map(|name| {
        let files = files.clone();
        tokio::task::spawn_blocking(move || files.failed_start_output(name))
    });
    for tried in tried {
        let text = tried.await.unwrap();
        assert!(text.contains(&by) && text.contains(&server.origin), "{text}");
        assert!(text.contains("use PostgreSQL for several servers"), "{text}");
    }
    fs::hard_link(files.path("chat.db"), files.path("hard.db")).unwrap();
    let text = files.failed_start_output("hard.db");
    assert!(text.contains("the file has 2 names (hard links)"), "{text}");

    let received = chunks(running).await;
    assert_eq!(received.last().unwrap()["type"], "finish");
    let stored = server.conversation("c").await;
    assert!(last_text(&stored).contains("120"), "{stored}");
    for wrong in ["the journal could not be written", "the end of a run could not be stored"] {
        assert!(!files.log("log").contains(wrong), "the first server was disturbed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_starts_while_the_old_one_ends_waits_for_it() {
    let files = Arc::new(TestFolder::new());
    let mut old = files.start("log");
    let running = old.message("c", "count to 60").send().await.unwrap();
    old.terminate();
    let new = tokio::task::spawn_blocking({
        let files = files.clone();
        move || files.start("second")
    });
    let received = chunks(running).await;
    let new = new.await.unwrap();
    assert_eq!(received.last().unwrap()["type"], "finish");
    assert!(old.wait().success());
    let stored = new.conversation("c").await;
    assert!(last_text(&stored).contains("60") && stored["active"].is_null(), "{stored}");
    let log = files.log("second");
    assert!(log.contains("waiting for it to end") && log.contains(&format!("process {}", old.id())), "{log}");
    assert!(!log.contains("closing a run that was left open"), "{log}");
    chunks(new.message("c2", "hello").send().await.unwrap()).await;
}

#[tokio::test]
async fn killed_server_is_not_waited_for() {
    let files = TestFolder::new();
    for round in 0..2 {
        let log = format!("log{round}");
        let mut server = files.start(&log);
        chunks(server.message(&format!("c{round}"), "hello").send().await.unwrap()).await;
        assert!(names_process(&files.path("chat.db-server"), &server));
        server.kill();
        assert!(!files.log(&log).contains("waiting for it to end"));
    }
}

fn names_process(notice: &Path, server: &Server) -> bool {
    fs::read_to_string(notice).unwrap().contains(&format!("process {} on ", server.id()))
}
