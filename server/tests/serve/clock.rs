//! A clock that jumps under a running server (F30): the server's own, for the whole process.

use crate::accounts::{PASSWORD, config, first, session, sign_in};
use crate::http::chunks;
use crate::process::Server;
use reqwest::header::COOKIE;
use reqwest::{Method, Response};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// A server's clock, and where it is told how far it is off.
struct Clock(fs::File);

impl Clock {
    fn is_off_by(&self, seconds: i64) {
        self.0.write_all_at(&seconds.to_ne_bytes(), 0).unwrap();
    }
}

fn serve() -> (Server, Clock, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/clock.c");
    // Whoever links Rust has it.
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o", &at("clock.so"), source, "-ldl"]).status().unwrap();
    assert!(built.success());
    fs::write(at("off"), 0_i64.to_ne_bytes()).unwrap();
    fs::write(at("chatwright.yaml"), config("")).unwrap();
    let variables = [("LD_PRELOAD", at("clock.so")), ("CLOCK_FILE", at("off"))];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = Server::start_in(&variables, &["--config", folder.path().to_str().unwrap()]);
    let clock = Clock(fs::OpenOptions::new().write(true).open(at("off")).unwrap());
    (server, clock, folder)
}

async fn say(server: &Server, cookie: &str, conversation: &str, text: &str) -> Response {
    server.message_to("p/a", conversation, text).header(COOKIE, cookie).send().await.unwrap()
}

async fn record(server: &Server, cookie: &str, conversation: &str) -> Value {
    let path = format!("/api/conversations/{conversation}");
    server.ask(Method::GET, &path).header(COOKIE, cookie).send().await.unwrap().json().await.unwrap()
}

async fn status(server: &Server, cookie: &str) -> u16 {
    server.ask(Method::GET, "/api/conversations").header(COOKIE, cookie).send().await.unwrap().status().as_u16()
}

fn said(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect()
}

#[tokio::test]
async fn answers_and_their_order_do_not_depend_on_it() {
    let (server, clock, _folder) = serve();
    let cookie = first(&server).await;
    // While an answer is written it jumps back, forth, and to and fro.
    let answer = say(&server, &cookie, "c1", "count to 60").await;
    let jumps = async {
        for off in [-HOUR, DAY, 0, 1, 0, 1, 0, 1, -30 * DAY, -HOUR] {
            clock.is_off_by(off);
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    };
    let (told, ()) = tokio::join!(chunks(answer), jumps);
    assert_eq!(told.last().unwrap()["type"], "finish", "{told:?}");
    assert!(said(&told).contains("60"), "{}", said(&told));
    // What is said now was said an hour before that, by the clock.
    for text in ["hello", "hello again"] {
        let told = chunks(say(&server, &cookie, "c1", text).await).await;
        assert_eq!(told.last().unwrap()["type"], "finish");
    }
    let record = record(&server, &cookie, "c1").await;
    let messages: Vec<_> =
        record["messages"].as_array().unwrap().iter().map(|message| message["parts"][0]["text"].as_str()).collect();
    let users: Vec<_> = messages.iter().step_by(2).flatten().collect();
    assert_eq!((messages.len(), users), (6, vec![&"count to 60", &"hello", &"hello again"]), "{record}");
    assert!(!record["running"].as_bool().unwrap_or_default());
    // An answer that is being written is nobody's to close, whatever the clock says of its lease.
    let answer = say(&server, &cookie, "c2", "count to 60").await;
    clock.is_off_by(10 * DAY);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(chunks(answer).await.last().unwrap()["type"], "finish");
}

#[tokio::test]
async fn sessions_neither_end_all_at_once_nor_live_for_ever() {
    let (server, clock, _folder) = serve();
    let cookie = first(&server).await;
    let mut seen = Vec::new();
    for off in [-HOUR, DAY, -DAY, 0, 400 * DAY] {
        clock.is_off_by(off);
        seen.push((off, status(&server, &cookie).await));
    }
    assert_eq!(seen, [(-HOUR, 200), (DAY, 200), (-DAY, 200), (0, 200), (400 * DAY, 401)]);
    // One that was begun when it was wrong does not live until then.
    let late = session(&sign_in(&server, "ada", PASSWORD).await).unwrap();
    assert_eq!(status(&server, &late).await, 200);
    clock.is_off_by(0);
    assert_eq!(status(&server, &late).await, 401);
    let now = session(&sign_in(&server, "ada", PASSWORD).await).unwrap();
    assert_eq!(status(&server, &now).await, 200);
}
