//! Kills the process at many moments while skills are installed.

use super::*;
use test_process::KillTest;

const KILLS: KillTest = KillTest {
    variable: "SKILLS_KILL_URL",
    test: "installed_tests::kill::a_skill_is_installed_as_a_whole_however_often_the_server_is_killed",
};
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

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_is_installed_as_a_whole_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run(SKILLS, check).await;
}
