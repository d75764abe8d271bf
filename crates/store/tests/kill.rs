//! Kills a process while it writes, and checks that everything that was acknowledged is stored.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use store::{BeginRun, BeginRunOutcome, JournalBatch, MoveFolderOutcome, NewMessage, Store};
use wire::organize::Folder;
use wire::{Role, UiMessage};

const URL: &str = "STORE_KILL_URL";

/// The process to kill: it runs this ignored test, and prints what was acknowledged until it is
/// killed.
#[tokio::test]
#[ignore = "run by the test below"]
async fn victim() {
    let store = Store::open(&std::env::var(URL).unwrap()).await.unwrap();
    for number in 0.. {
        let begin = BeginRun {
            conversation_id: format!("c{number}"),
            page_id: "page".to_owned(),
            agent_id: "agent".to_owned(),
            title: String::new(),
            submission_key: "key".to_owned(),
            insert: vec![NewMessage { parent_id: None, message: UiMessage::new("answer", Role::Assistant) }],
            update: Vec::new(),
            message_id: "answer".to_owned(),
            run_id: format!("r{number}"),
            now: number,
            lease_until: number,
            audit: Vec::new(),
            grants: Vec::new(),
        };
        assert_eq!(store.begin_run("ada", begin).await.unwrap(), BeginRunOutcome::Started { epoch: 1 });
        println!("\nbegun {number}");
        let frames = vec![b'x'; 3000].into();
        let batch = JournalBatch { run_id: format!("r{number}"), epoch: 1, first_seq: 1, last_seq: 7, frames };
        assert!(store.append_events(vec![batch]).await.unwrap().is_empty());
        println!("\njournaled {number}");
        let owner = format!("ada{number}");
        for id in ["outer", "inner"] {
            assert!(store.add_folder(&owner, Folder::new(format!("{id}{number}"), id), 1).await.unwrap());
        }
        let (outer, inner) = (format!("outer{number}"), format!("inner{number}"));
        store.move_folder(&owner, &inner, Some(&outer)).await.unwrap();
        assert!(store.delete_folder(&owner, &outer).await.unwrap());
        println!("\nlifted {number}");
        let (owner, old) = (format!("eve{number}"), format!("old{number}"));
        assert!(store.add_folder(&owner, Folder::new(&old, "old"), 1).await.unwrap());
        let new = Folder::new(format!("new{number}"), "new");
        assert_eq!(store.move_to_new_folder(&owner, &old, new, 1).await.unwrap(), MoveFolderOutcome::Moved);
        println!("\nfiled {number}");
    }
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_by_a_kill() {
    check_rounds(3).await;
}

#[tokio::test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn nothing_acknowledged_is_lost_by_a_kill_thoroughly() {
    check_rounds(1).await;
}

/// Does every `step`-th round.
async fn check_rounds(step: usize) {
    for round in (0..8).step_by(step) {
        let folder = tempfile::tempdir().unwrap();
        check(&format!("sqlite://{}", folder.path().join("chat.db").display()), round).await;
    }
    for round in (0..3).step_by(step) {
        let Some(url) = test_postgres::new_database().await else { return };
        check(&url, round).await;
    }
}

async fn check(url: &str, round: usize) {
    let mut command = test_process::command("victim", URL, url);
    let mut victim = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines().map(Result::unwrap);
    let is_news = |line: &String| ["begun", "journaled", "lifted", "filed"].iter().any(|what| line.starts_with(what));
    let mut reported: Vec<_> = lines.by_ref().filter(is_news).take(10 + round * 9).collect();
    victim.kill().unwrap();
    reported.extend(lines.filter(is_news));
    victim.wait().unwrap();

    let store = Store::open(url).await.unwrap();
    for line in &reported {
        let (what, number) = line.split_once(' ').unwrap();
        let found = match what {
            "begun" => store.conversation("ada", &format!("c{number}")).await.unwrap().is_some(),
            "lifted" => folders_of(&store, "ada", number).await == [None::<String>],
            "filed" => folders_of(&store, "eve", number).await == [None, Some(format!("new{number}"))],
            _ => store.events("ada", &format!("r{number}"), 0, 9).await.unwrap()[0].last_seq == 7,
        };
        assert!(found, "round {round}: `{line}` was reported and is not there");
    }
    // Also of what was not reported, no folder is in one that is gone.
    for number in 0..=reported.len() {
        let parents = folders_of(&store, "ada", &number.to_string()).await;
        assert!(parents.len() == 2 || parents.iter().all(Option::is_none), "round {round}: {parents:?}");
        // No new folder is without the one that was to move into it.
        let parents = folders_of(&store, "eve", &number.to_string()).await;
        assert!(parents.len() < 2 || parents.iter().any(Option::is_some), "round {round}: {parents:?}");
    }
    let stored = store.open_runs().await.unwrap().len();
    let begun = reported.iter().filter(|line| line.starts_with("begun")).count();
    assert!(begun >= 3 && stored <= begun + 1, "round {round}: {stored} stored, {begun} reported");
}

/// Returns where the folders are that were made with a number for a user, in the order of their names.
async fn folders_of(store: &Store, user: &str, number: &str) -> Vec<Option<String>> {
    let folders = store.folders(&format!("{user}{number}")).await.unwrap();
    folders.into_iter().map(|folder| folder.parent_id).collect()
}
