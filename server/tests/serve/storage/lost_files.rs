//! Files of the database that are moved, deleted or truncated while the server runs.

use crate::http::chunks;
use crate::process::Server;
use reqwest::Method;
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NOT_READY: &str = "not ready\ndatabase: one of its files was moved, deleted, replaced or truncated while the server runs; see the server's log\n";

/// Returns whether the server can show the conversation.
async fn has_conversation(server: &Server, id: &str) -> bool {
    server.request(Method::GET, &format!("/api/conversations/{id}")).send().await.unwrap().status().is_success()
}

/// Waits until `/readyz` fails; returns its text.
async fn wait_until_not_ready(server: &Server) -> String {
    let begun = Instant::now();
    loop {
        let ready = server.request(Method::GET, "/readyz").send().await.unwrap();
        if ready.status().as_u16() == 503 {
            return ready.text().await.unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "`/readyz` still reports ready");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Damages the files of a running server. Then no write is acknowledged, the log has one error, and
/// after a kill a new server has the earlier messages if `is_saved`.
async fn check_damage(damage: impl Fn(&Path), happened: &str, is_saved: bool) {
    let folder = TempDir::new().unwrap();
    let (database, log) = (folder.path().join("chat.db"), folder.path().join("log"));
    let url = format!("sqlite://{}", database.display());
    let mut server = Server::start_logging(&["--database", &url], File::create(&log).unwrap());
    chunks(server.message("before", "hello").send().await.unwrap()).await;
    damage(&database);
    for round in 0..5 {
        let refused = server.message(&format!("after{round}"), "hello").send().await.unwrap();
        assert_eq!(refused.status().as_u16(), 503, "{happened}");
        let refused: Value = refused.json().await.unwrap();
        let text = refused["error"]["message"].as_str().unwrap();
        assert!(text.contains("could not be saved") && !text.contains("chat.db"), "{refused}");
    }
    assert_eq!(wait_until_not_ready(&server).await, NOT_READY, "{happened}");
    assert!(has_conversation(&server, "before").await, "{happened}: reading still works");
    server.kill();
    let log_text = fs::read_to_string(&log).unwrap();
    let lines: Vec<_> = log_text.lines().filter(|line| line.contains("ERROR")).collect();
    assert!(lines.len() == 1 && lines[0].contains(happened), "{happened}: {lines:#?}");

    let server = Server::start_on(&url);
    assert_eq!(has_conversation(&server, "before").await, is_saved, "{happened}");
    for round in 0..5 {
        assert!(!has_conversation(&server, &format!("after{round}")).await, "{happened}: it was refused");
    }
    chunks(server.message("again", "hello").send().await.unwrap()).await;
}

fn path_with_suffix(database: &Path, suffix: &str) -> String {
    format!("{}{suffix}", database.display())
}

#[tokio::test]
async fn deleted_log_loses_nothing() {
    check_damage(
        |database| fs::remove_file(path_with_suffix(database, "-wal")).unwrap(),
        "chat.db-wal was deleted",
        true,
    )
    .await;
}

#[tokio::test]
async fn deleted_database_is_noticed() {
    check_damage(|database| fs::remove_file(database).unwrap(), "chat.db was deleted", false).await;
    let all = |database: &Path| {
        ["", "-wal", "-shm"].iter().for_each(|suffix| fs::remove_file(path_with_suffix(database, suffix)).unwrap())
    };
    check_damage(all, "chat.db was deleted", false).await;
}

#[tokio::test]
async fn moved_database_is_noticed() {
    check_damage(
        |database| fs::rename(database, path_with_suffix(database, "-away")).unwrap(),
        "chat.db was moved away",
        false,
    )
    .await;
}

/// Content of the truncated file cannot be read either.
#[tokio::test]
async fn cut_database_is_noticed() {
    let folder = TempDir::new().unwrap();
    let (database, log) = (folder.path().join("chat.db"), folder.path().join("log"));
    let url = format!("sqlite://{}", database.display());
    let server = Server::start_logging(&["--database", &url], File::create(&log).unwrap());
    chunks(server.message("before", "hello").send().await.unwrap()).await;
    File::options().write(true).open(&database).unwrap().set_len(0).unwrap();
    for round in 0..3 {
        let refused = server.message(&format!("after{round}"), "hello").send().await.unwrap();
        assert_eq!(refused.status().as_u16(), 503);
    }
    assert_eq!(wait_until_not_ready(&server).await, NOT_READY);
    let log_text = fs::read_to_string(&log).unwrap();
    assert_eq!(log_text.matches("chat.db was truncated to 0 bytes").count(), 1, "{log_text}");
}

#[tokio::test]
async fn moved_database_is_used_again_when_it_is_back() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("chat.db");
    let away = folder.path().join("away.db");
    let server = Server::start_on(&format!("sqlite://{}", database.display()));
    chunks(server.message("before", "hello").send().await.unwrap()).await;
    fs::rename(&database, &away).unwrap();
    assert_eq!(server.message("refused", "hello").send().await.unwrap().status().as_u16(), 503);
    fs::rename(&away, &database).unwrap();
    chunks(server.message("after", "hello").send().await.unwrap()).await;
    let server = server.stop();
    let restarted = Server::start_on(&server.database);
    assert!(has_conversation(&restarted, "before").await && has_conversation(&restarted, "after").await);
}
