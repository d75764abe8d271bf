//! Changes of the config that are published in the console of one server are in use on another one, and entries that
//! they remove are gone there.

use crate::process::Server;
use crate::sign_in::accounts::form_request;
use reqwest::{Method, StatusCode};
use std::time::{Duration, Instant};

const CONFIG: &str = "
configEditor: { roles: [admin] }
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo } }
  - { id: old, type: Agent, connectionId: demo, properties: { model: demo } }
pages:
  - { id: home, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }
  - { id: archive, blocks: [{ id: chat, type: AgentChat, properties: { agentId: old } }] }
";

const CHANGES: &str = "pages:
  - { id: archive, _remove: true }
  - { id: desk, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }
agents:
  - { id: old, _remove: true }
";

/// Sends a form of the console; it must succeed.
async fn post(server: &Server, path: &str, form: &[(&str, &str)]) {
    let response = form_request(server, path, form).send().await.unwrap();
    let (status, location) = (response.status(), response.headers().get("location").cloned());
    assert_eq!(status, StatusCode::SEE_OTHER, "{path}: {:?} {}", location, response.text().await.unwrap());
}

async fn get(server: &Server, path: &str) -> (StatusCode, String) {
    let response = server.request(Method::GET, path).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

/// Waits until both pages have these states on a server.
async fn wait_for(server: &Server, archive: StatusCode, desk: StatusCode) {
    let begun = Instant::now();
    loop {
        let found = (get(server, "/archive").await.0, get(server, "/desk").await.0);
        if found == (archive, desk) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{found:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn published_changes_are_in_use_on_every_server() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
    let config = folder.path().to_str().unwrap().to_owned();
    let start = || Server::start_with(&["--config", &config, "--database", &url]);
    let (a, b) = (start(), start());
    wait_for(&b, StatusCode::OK, StatusCode::NOT_FOUND).await;

    let fields = [("text", CHANGES), ("based_on", "0"), ("revision", "0")];
    post(&a, "/admin/config/draft", &fields).await;
    // The draft is that of the administrator, on whichever server they are.
    let (_, page) = get(&b, "/admin/config/draft").await;
    assert!(page.contains("id: old, _remove: true") && page.contains("agents/old<"), "{page}");
    assert_eq!(get(&b, "/admin/config/draft/changes.yaml").await, (StatusCode::OK, CHANGES.to_owned()));
    post(&b, "/admin/config/draft/publish", &[("revision", "1")]).await;
    for server in [&a, &b] {
        wait_for(server, StatusCode::NOT_FOUND, StatusCode::OK).await;
    }
    assert_eq!(get(&a, "/admin/config/versions/1/changes.yaml").await, (StatusCode::OK, CHANGES.to_owned()));
    assert_eq!(get(&a, "/admin/config/draft/changes.yaml").await.0, StatusCode::NOT_FOUND);

    // A server that starts later has them, too, and the other one takes them back.
    let c = start();
    wait_for(&c, StatusCode::NOT_FOUND, StatusCode::OK).await;
    post(&a, "/admin/config/versions/0", &[("newest", "1")]).await;
    for server in [&a, &b, &c] {
        wait_for(server, StatusCode::OK, StatusCode::NOT_FOUND).await;
    }
}
