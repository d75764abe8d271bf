//! Kills the process at many moments while skills are installed.

use super::*;
use test_process::{command, run};

const URL: &str = "SKILLS_KILL_URL";
const TEST: &str = "installed_tests::kill::a_skill_is_installed_as_a_whole_however_often_the_server_is_killed";
const SKILLS: usize = 20;

/// Installs those skills that are not there.
async fn serve(url: &str) {
    let store = open(url).await;
    let known: Vec<_> = list(&store).await.unwrap().into_iter().map(|skill| skill.name).collect();
    for name in (0..SKILLS).map(|number| format!("skill-{number}")).filter(|name| !known.contains(name)) {
        assert_eq!(put(&store, new_skill(&name, "Text."), false).await, ChangeOutcome::Done);
    }
    store.close().await;
}

/// Checks that each skill that is there has its files and its row in the audit log; returns their number.
async fn check(url: &str) -> usize {
    let store = open(url).await;
    let skills = list(&store).await.unwrap();
    for skill in &skills {
        assert_eq!(enable(&store, &skill.name, &skill.digest, true).await, ChangeOutcome::Done);
    }
    let catalog = catalog(&store).await;
    assert_eq!(catalog.problems, []);
    assert_eq!(catalog.names().count(), skills.len());
    assert_eq!(audited(&store, "install").await, i64::try_from(skills.len()).unwrap());
    store.close().await;
    skills.len()
}

#[test]
fn a_skill_is_installed_as_a_whole_however_often_the_server_is_killed() {
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
    assert_eq!(runtime.block_on(check(&killed)), SKILLS);
    assert!(kills > 0, "each process was done before it was to be killed");
}
