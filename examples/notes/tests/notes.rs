//! The program with the capability, as its users see it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server, which is killed when it is dropped.
struct Server {
    child: Child,
    url: String,
    client: reqwest::Client,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(folder: &Path) -> Self {
        let database = format!("sqlite://{}", folder.join("notes.db").display());
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/chatwright.yaml");
        let mut child = Command::new(env!("CARGO_BIN_EXE_notes"))
            .args(["serve", "--addr", "127.0.0.1:0", "--config", config, "--database", &database])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
        Self { child, url, client }
    }

    async fn get(&self, path: &str) -> String {
        self.client.get(format!("{}{path}", self.url)).send().await.unwrap().text().await.unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> (u16, String) {
        let response = self.client.post(format!("{}{path}", self.url)).json(&body).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }
}

#[tokio::test]
async fn notes_are_found_by_their_agent_and_listed_in_the_console() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let (status, added) = server.post("/api/notes", json!({ "text": "The printer is on floor 2." })).await;
    assert_eq!((status, added.contains("floor 2")), (201, true), "{added}");
    let (status, refused) = server.post("/api/notes", json!({ "text": "" })).await;
    assert_eq!((status, refused.contains("A note has 1 to 2000 characters.")), (422, true), "{refused}");
    let listed: Value = serde_json::from_str(&server.get("/api/notes?text=PRINTER").await).unwrap();
    assert_eq!(listed["items"][0]["text"], "The printer is on floor 2.");

    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Search for printer" }] });
    let (status, answer) = server.post("/api/agent/home/secretary", json!({ "id": "c", "messages": [message] })).await;
    let has_result = answer.contains("search-notes") && answer.contains("The printer is on floor 2.");
    assert_eq!((status, has_result), (200, true), "{answer}");

    let page = server.get("/admin/notes").await;
    assert!(page.contains("The printer is on floor 2."), "{page}");
    assert!(server.get("/admin/notes.csv").await.contains("The printer is on floor 2."));
    let document: Value = serde_json::from_str(&server.get("/api/openapi.json").await).unwrap();
    assert_eq!(document["paths"]["/api/notes"]["post"]["summary"], "Add a note");
}

/// The program copies and restores the table without knowing of it.
#[tokio::test]
async fn notes_are_part_of_backups() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let server = Server::start(folder.path());
    server.post("/api/notes", json!({ "text": "Keep me." })).await;
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_notes")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let backup = path("backup.tar");
    run(&["backup", "--to", &backup, "--database", &format!("sqlite://{}", path("notes.db"))]);
    drop(server);
    std::fs::create_dir(folder.path().join("restored")).unwrap();
    let restored = folder.path().join("restored");
    run(&["restore", "--from", &backup, "--database", &format!("sqlite://{}", restored.join("notes.db").display())]);
    let server = Server::start(&restored);
    assert!(server.get("/api/notes").await.contains("Keep me."));
}
