//! Kills the process at many moments while a project is changed and gets members.

use super::*;
use test_process::KillTest;
use test_store::open;

const KILLS: KillTest = KillTest {
    variable: "PROJECTS_KILL_URL",
    test: "tests::kill::each_change_is_stored_whole_however_often_the_server_is_killed",
};
const MEMBERS: usize = 40;

/// Creates the project, and adds the members and names that are not there: each member comes with a
/// version.
async fn serve(url: &str) {
    let store = open(&[TABLES], url).await;
    if find(&store, "ada", "p").await.unwrap().is_none() {
        assert_eq!(new(&store, "ada", "p", settings("0", "")).await, CreateOutcome::Created);
    }
    let known = members(&store, "ada", "p").await.unwrap().len();
    for number in known..=MEMBERS {
        let user = format!("u{number}");
        let add = AddMember {
            project_id: "p".to_owned(),
            owner: "ada".to_owned(),
            user_id: user.clone(),
            role: Role::Viewer,
            folder_id: format!("f-{user}"),
            most: 1_000,
            now: 2,
        };
        assert_eq!(add_member(&store, add, audit("ada", "add_member")).await.unwrap(), AddOutcome::Added);
        let version = find(&store, "ada", "p").await.unwrap().unwrap().version;
        let outcome = change(&store, "ada", "p", version, settings(&version.to_string(), "")).await;
        assert_eq!(outcome, SaveOutcome::Saved);
    }
    store.close().await;
}

/// Checks that each change has its row in the audit log, and that all folders have the name of the
/// project; returns the number of members.
async fn check(url: &str) -> usize {
    let store = open(&[TABLES], url).await;
    let Some(project) = find(&store, "ada", "p").await.unwrap() else {
        assert_eq!(folders(&store, "ada").await, [""; 0]);
        store.close().await;
        return 0;
    };
    let all = members(&store, "ada", "p").await.unwrap();
    for member in &all {
        assert_eq!(folders(&store, &member.user_id).await, [format!("{} red", project.settings.name)]);
    }
    let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
    let count = |what: &str| rows.iter().filter(|row| row.tool == what).count();
    assert_eq!((count("projects:create"), count("projects:add_member") + 1), (1, all.len()));
    assert_eq!(i64::try_from(count("projects:change")).unwrap() + 1, project.version);
    store.close().await;
    all.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_change_is_stored_whole_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run(MEMBERS + 1, check).await;
}
