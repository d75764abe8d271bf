//! Jumps of the system clock, simulated for the whole server process.

use crate::http::{chunks, reply_text};
use crate::process::Server;
use crate::sign_in::accounts::{PASSWORD, config, create_first_account, session_cookie, sign_in};
use reqwest::header::COOKIE;
use reqwest::{Method, Response};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// The clock of a server, in a folder.
pub(crate) struct Clock {
    /// The file with the offset of the clock in seconds.
    file: fs::File,
    library: String,
    path: String,
}

impl Clock {
    pub(crate) fn new(folder: &Path) -> Self {
        let at = |name: &str| folder.join(name).display().to_string();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/clock.c");
        let (library, path) = (at("clock.so"), at("off"));
        // Linking Rust programs needs a C compiler, so it is installed.
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o", &library, source, "-ldl"]).status().unwrap();
        assert!(built.success());
        fs::write(&path, 0_i64.to_ne_bytes()).unwrap();
        Self { file: fs::OpenOptions::new().write(true).open(&path).unwrap(), library, path }
    }

    /// Returns the environment variables of the server.
    pub(crate) fn variables(&self) -> [(&str, &str); 2] {
        [("LD_PRELOAD", &self.library), ("CLOCK_FILE", &self.path)]
    }

    pub(crate) fn set_offset(&self, seconds: i64) {
        self.file.write_all_at(&seconds.to_ne_bytes(), 0).unwrap();
    }
}

fn serve() -> (Server, Clock, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), config("")).unwrap();
    let clock = Clock::new(folder.path());
    let server = Server::start_with_env(&clock.variables(), &["--config", folder.path().to_str().unwrap()]);
    (server, clock, folder)
}

async fn send_message(server: &Server, cookie: &str, conversation: &str, text: &str) -> Response {
    server.message_to("p/a", conversation, text).header(COOKIE, cookie).send().await.unwrap()
}

async fn fetch_conversation(server: &Server, cookie: &str, conversation: &str) -> Value {
    let path = format!("/api/conversations/{conversation}");
    server.request(Method::GET, &path).header(COOKIE, cookie).send().await.unwrap().json().await.unwrap()
}

async fn status(server: &Server, cookie: &str) -> u16 {
    server.request(Method::GET, "/api/conversations").header(COOKIE, cookie).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn clock_jumps_do_not_affect_replies_or_message_order() {
    let (server, clock, _folder) = serve();
    let cookie = create_first_account(&server).await;
    // The clock jumps several times during one reply.
    let answer = send_message(&server, &cookie, "c1", "count to 60").await;
    let jumps = async {
        for off in [-HOUR, DAY, 0, 1, 0, 1, 0, 1, -30 * DAY, -HOUR] {
            clock.set_offset(off);
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    };
    let (received, ()) = tokio::join!(chunks(answer), jumps);
    assert_eq!(received.last().unwrap()["type"], "finish", "{received:?}");
    assert!(reply_text(&received).contains("60"), "{}", reply_text(&received));
    // By the clock, these messages are older than the earlier ones.
    for text in ["hello", "hello again"] {
        let received = chunks(send_message(&server, &cookie, "c1", text).await).await;
        assert_eq!(received.last().unwrap()["type"], "finish");
    }
    let record = fetch_conversation(&server, &cookie, "c1").await;
    let messages: Vec<_> =
        record["messages"].as_array().unwrap().iter().map(|message| message["parts"][0]["text"].as_str()).collect();
    let users: Vec<_> = messages.iter().step_by(2).flatten().collect();
    assert_eq!((messages.len(), users), (6, vec![&"count to 60", &"hello", &"hello again"]), "{record}");
    assert!(!record["running"].as_bool().unwrap_or_default());
    // A run that is in progress is not closed, even if its lease has expired by the clock.
    let answer = send_message(&server, &cookie, "c2", "count to 60").await;
    clock.set_offset(10 * DAY);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(chunks(answer).await.last().unwrap()["type"], "finish");
}

#[tokio::test]
async fn sessions_survive_clock_jumps_and_still_expire() {
    let (server, clock, _folder) = serve();
    let cookie = create_first_account(&server).await;
    let mut seen = Vec::new();
    for off in [-HOUR, DAY, -DAY, 0, 400 * DAY] {
        clock.set_offset(off);
        seen.push((off, status(&server, &cookie).await));
    }
    assert_eq!(seen, [(-HOUR, 200), (DAY, 200), (-DAY, 200), (0, 200), (400 * DAY, 401)]);
    // A session that started while the clock was wrong is invalid after the correction.
    let late = session_cookie(&sign_in(&server, "ada", PASSWORD).await).unwrap();
    assert_eq!(status(&server, &late).await, 200);
    clock.set_offset(0);
    assert_eq!(status(&server, &late).await, 401);
    let now = session_cookie(&sign_in(&server, "ada", PASSWORD).await).unwrap();
    assert_eq!(status(&server, &now).await, 200);
}
