//! Helpers of the tests of ingestion and of the graph.

use crate::service::Viewer;
use std::path::Path;
use test_process::{command, run};

/// Returns a signed-in user without roles.
pub(crate) fn viewer(user_id: &str) -> Viewer {
    Viewer { user_id: user_id.to_owned(), roles: Vec::new(), is_authenticated: true, is_agent: false }
}

/// Returns the URLs of an empty database of each kind; that of SQLite is a file in the folder.
pub(crate) async fn databases(folder: &Path) -> Vec<String> {
    let mut urls = vec![format!("sqlite://{}", folder.join("test.db").display())];
    urls.extend(test_postgres::new_database().await);
    urls
}

/// Runs a test in a process of its own, which is killed, and then in another one, which must end. This is repeated
/// for every `step`-th of the moments over the time that the test takes, each with a new database. `variable` tells the
/// test the URL.
pub(crate) fn kill_repeatedly(
    (test, variable): (&str, &str),
    (moments, step): (u32, usize),
    new_url: impl Fn(&Path) -> Option<String>,
) {
    let folder = tempfile::tempdir().unwrap();
    let Some(url) = new_url(folder.path()) else { return };
    let took = run(command(test, variable, &url), None).unwrap();
    let mut kills = 0;
    for moment in (1..moments).step_by(step) {
        let folder = tempfile::tempdir().unwrap();
        let Some(url) = new_url(folder.path()) else { return };
        kills += u32::from(run(command(test, variable, &url), Some(took * moment / moments)).is_none());
        run(command(test, variable, &url), None);
    }
    assert!(kills > 0, "each process was done before it was to be killed");
}
