//! Kills the process at many moments while prompts are added and changed.

use super::*;
use test_process::{command, run};

const URL: &str = "PROMPTS_KILL_URL";
const TEST: &str = "tests::kill::each_change_is_stored_with_its_audit_row_however_often_the_server_is_killed";
const PROMPTS: usize = 30;
/// The versions of each prompt when all is done.
const VERSIONS: i64 = 3;

async fn open(url: &str) -> Store {
    Schema::new(&[TABLES]).open(url, "", Duration::from_secs(10)).await.unwrap()
}

/// Adds the prompts and versions that are not there.
async fn serve(url: &str) {
    let store = open(url).await;
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
async fn check(url: &str) -> i64 {
    let store = open(url).await;
    let prompts = list(&store, "ada").await.unwrap();
    assert!(prompts.iter().all(|prompt| prompt.content.text == format!("Version {}.", prompt.version - 1)));
    let count: i64 = prompts.iter().map(|prompt| prompt.version).sum();
    let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
    assert_eq!(i64::try_from(rows.len()).unwrap(), count);
    store.close().await;
    count
}

#[test]
fn each_change_is_stored_with_its_audit_row_however_often_the_server_is_killed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(url) = std::env::var_os(URL) {
        return runtime.block_on(serve(url.to_str().unwrap()));
    }
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite://{}", folder.path().join(name).display());
    let took = run(command(TEST, URL, url("whole.db")), None).unwrap();
    let killed = url("killed.db");
    let mut kills = 0;
    for moment in 1..8 {
        kills += u32::from(run(command(TEST, URL, &killed), Some(took * moment / 8)).is_none());
        runtime.block_on(check(&killed));
    }
    run(command(TEST, URL, &killed), None).unwrap();
    assert_eq!(runtime.block_on(check(&killed)), i64::try_from(PROMPTS).unwrap() * VERSIONS);
    assert!(kills > 0, "each process was done before it was to be killed");
}
