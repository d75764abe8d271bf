//! Scripted conversations with the facts that are known at their end. Facts that others have
//! planted are not among them.

use super::*;
use test_postgres::database_files_of_each_kind;

const SCRIPTS: &str = include_str!("conversations.txt");

/// A conversation: its turns, the time after which it is read, and the facts that are known at the
/// end.
struct Script {
    name: &'static str,
    rounds: Vec<Vec<Turn>>,
    facts: Vec<String>,
}

fn scripts() -> Vec<Script> {
    let mut scripts: Vec<Script> = Vec::new();
    for line in SCRIPTS.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            scripts.push(Script { name, rounds: vec![Vec::new()], facts: Vec::new() });
            continue;
        }
        let (key, value) = line.split_once(':').unwrap();
        let (value, script) = (value.trim(), scripts.last_mut().unwrap());
        let round = script.rounds.last_mut().unwrap();
        let text = || Some(value.to_owned());
        match key {
            "user" => round.push(Turn::from(value)),
            "file" => round.last_mut().unwrap().file = text(),
            "page" => round.last_mut().unwrap().page = text(),
            "origin" => {
                let origins = [TextOrigin::Page, TextOrigin::Forwarded, TextOrigin::Program];
                let origin = origins.into_iter().find(|origin| origin.name() == value);
                round.last_mut().unwrap().origin = Some(origin.unwrap());
            }
            "tool" => round.last_mut().unwrap().tool = text(),
            "answer" => round.last_mut().unwrap().answer = text(),
            "rest" => script.rounds.push(Vec::new()),
            "facts" => {
                script.facts = value.split(" | ").filter(|fact| !fact.is_empty()).map(str::to_owned).collect();
                script.facts.sort_unstable();
            }
            key => panic!("{key}"),
        }
    }
    scripts
}

#[tokio::test(flavor = "multi_thread")]
async fn right_facts_are_kept_and_nothing_that_others_have_planted() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = scripts();
    assert!(scripts.len() >= 50, "{}", scripts.len());
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        for round in 0..3 {
            for (number, script) in scripts.iter().enumerate() {
                for turn in script.rounds.get(round).into_iter().flatten() {
                    server.turn(&format!("user-{number}"), &format!("c-{number}"), "helper", turn).await;
                }
            }
            server.settle().await;
        }
        for (number, script) in scripts.iter().enumerate() {
            assert_eq!(server.texts(&format!("user-{number}")).await, script.facts, "{}", script.name);
        }
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_one_database_read_each_conversation_once() {
    const CONVERSATIONS: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let first = Server::open(&url).await;
        // SQLite has one process, so the second server is a second set of workers there.
        let second = if url.starts_with("sqlite") {
            Server::new(first.memory.clone(), Workers::new(first.memory.jobs().clone()), true)
        } else {
            Server::open(&url).await
        };
        for number in 0..CONVERSATIONS {
            let server = if number % 2 == 0 { &first } else { &second };
            server
                .turn("ada", &format!("c-{number}"), "helper", &format!("I like dish {number}.").as_str().into())
                .await;
        }
        first.settle().await;
        assert_eq!(first.facts("ada").await.len(), CONVERSATIONS);
        let asked = first.model.asked.load(Relaxed) + second.model.asked.load(Relaxed);
        assert_eq!(asked, CONVERSATIONS);
        second.workers.shutdown(Duration::from_secs(5)).await;
        first.close().await;
    }
}
