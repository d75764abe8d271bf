//! Kills the process at many moments while agents are made and changed.

use super::store::{SaveOwnAgent, SaveOwnOutcome, all, save, versions};
use crate::store::TABLES;
use ::store::{Schema, Store};
use auth::audit_row;
use serde_json::json;
use std::time::Duration;

const URL: &str = "OWN_AGENTS_KILL_URL";
const TEST: &str =
    "own::kill_tests::an_agent_and_its_versions_are_stored_as_a_whole_however_often_the_server_is_killed";
const AGENTS: usize = 20;
/// The versions of each agent when all is done.
const VERSIONS: i64 = 3;

async fn open(url: &str) -> Store {
    Schema::new(&[TABLES]).open(url, "", Duration::from_secs(10)).await.unwrap()
}

/// Makes the agents and versions that are not there.
async fn serve(url: &str) {
    let store = open(url).await;
    for number in 0..AGENTS {
        let id = format!("own-{number}");
        let known = all(&store).await.unwrap().into_iter().find(|row| row.id == id).map_or(0, |row| row.version);
        for version in known..VERSIONS {
            let made = SaveOwnAgent {
                owner: "ada".to_owned(),
                id: id.clone(),
                after: (version > 0).then_some(version),
                name: id.clone(),
                definition: json!({ "instructions": version }),
                now: version,
                limits: (200, 200),
            };
            let audit = audit_row("ada", "agents:change", "", json!({ "agentId": id }));
            assert_eq!(save(&store, made, audit).await.unwrap(), SaveOwnOutcome::Saved);
        }
    }
    store.close().await;
}

/// Checks that each agent has all its versions, and each version its row in the audit log; returns the
/// number of versions.
async fn check(url: &str) -> i64 {
    let store = open(url).await;
    let mut count = 0;
    for row in all(&store).await.unwrap() {
        let kept: Vec<_> = versions(&store, "ada", &row.id).await.unwrap().iter().map(|kept| kept.version).collect();
        assert_eq!(kept, (1..=row.version).rev().collect::<Vec<_>>());
        count += row.version;
    }
    let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
    assert_eq!(i64::try_from(rows.len()).unwrap(), count);
    store.close().await;
    count
}

/// Runs this test as another process, as [`test_process::run`] does.
fn process(url: &str, delay: Option<Duration>) -> Option<Duration> {
    test_process::run(test_process::command(TEST, URL, url), delay)
}

#[test]
fn an_agent_and_its_versions_are_stored_as_a_whole_however_often_the_server_is_killed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(url) = std::env::var_os(URL) {
        return runtime.block_on(serve(url.to_str().unwrap()));
    }
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite://{}", folder.path().join(name).display());
    let took = process(&url("whole.db"), None).unwrap();
    let killed = url("killed.db");
    let mut kills = 0;
    for moment in 1..8 {
        kills += u32::from(process(&killed, Some(took * moment / 8)).is_none());
        runtime.block_on(check(&killed));
    }
    process(&killed, None).unwrap();
    assert_eq!(runtime.block_on(check(&killed)), i64::try_from(AGENTS).unwrap() * VERSIONS);
    assert!(kills > 0, "each process was done before it was to be killed");
}
