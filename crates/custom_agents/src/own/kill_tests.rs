//! Kills the process at many moments while agents are made and changed.

use super::store::{SaveOwnAgent, SaveOwnOutcome, all, save, versions};
use crate::store::TABLES;
use auth::audit_row;
use serde_json::json;
use test_process::KillTest;
use test_store::open;

const KILLS: KillTest = KillTest {
    variable: "OWN_AGENTS_KILL_URL",
    test: "own::kill_tests::an_agent_and_its_versions_are_stored_as_a_whole_however_often_the_server_is_killed",
};
const AGENTS: usize = 20;
/// The versions of each agent when all is done.
const VERSIONS: i64 = 3;

/// Makes the agents and versions that are not there.
async fn serve(url: &str) {
    let store = open(&[TABLES], url).await;
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
async fn check(url: &str) -> usize {
    let store = open(&[TABLES], url).await;
    let mut count = 0;
    for row in all(&store).await.unwrap() {
        let kept: Vec<_> = versions(&store, "ada", &row.id).await.unwrap().iter().map(|kept| kept.version).collect();
        assert_eq!(kept, (1..=row.version).rev().collect::<Vec<_>>());
        count += row.version;
    }
    let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
    store.close().await;
    assert_eq!(i64::try_from(rows.len()).unwrap(), count);
    rows.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_and_its_versions_are_stored_as_a_whole_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run(AGENTS * VERSIONS as usize, check).await;
}
