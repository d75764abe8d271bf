//! Kills the process at many moments while prompts are added and changed.

use super::*;
use test_process::KillTest;
use test_store::open;

const KILLS: KillTest = KillTest {
    variable: "PROMPTS_KILL_URL",
    test: "tests::kill::each_change_is_stored_with_its_audit_row_however_often_the_server_is_killed",
};
const PROMPTS: usize = 30;
/// The versions of each prompt when all is done.
const VERSIONS: i64 = 3;

/// Adds the prompts and versions that are not there.
async fn serve(url: &str) {
    let store = open(&[TABLES], url).await;
    for number in 0..PROMPTS {
        let id = format!("p-{number}");
        let known = find(&store, "ada", &id).await.unwrap().map_or(0, |prompt| prompt.version);
        for version in known..VERSIONS {
            let sent = SavePrompt {
                owner: "ada".to_owned(),
                id: id.clone(),
                after: (version > 0).then_some(version),
                content: content(&id, &format!("Version {version}.")),
                roles: Vec::new(),
                most: 100,
                now: version,
            };
            let audit = audit_row("ada", "prompts:save", "", Value::Null);
            assert_eq!(save(&store, sent, audit).await.unwrap(), SaveOutcome::Saved);
        }
    }
    store.close().await;
}

/// Checks that each version has its row in the audit log and each prompt the text of its version; returns the
/// number of versions.
async fn check(url: &str) -> usize {
    let store = open(&[TABLES], url).await;
    let prompts = list(&store, "ada").await.unwrap();
    assert!(prompts.iter().all(|prompt| prompt.content.text == format!("Version {}.", prompt.version - 1)));
    let count = usize::try_from(prompts.iter().map(|prompt| prompt.version).sum::<i64>()).unwrap();
    let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
    assert_eq!(rows.len(), count);
    store.close().await;
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn each_change_is_stored_with_its_audit_row_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run(PROMPTS * VERSIONS as usize, check).await;
}
