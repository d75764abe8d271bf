//! Helpers of the tests of ingestion and of the graph.

use chat::{Caller, Viewer};
use std::path::Path;
use test_process::{command, run};
use tokio::runtime::Runtime;

/// Returns a signed-in user without roles.
pub(crate) fn viewer(user_id: &str) -> Viewer {
    viewer_with_roles(user_id, &[])
}

/// Returns a signed-in user with roles.
pub(crate) fn viewer_with_roles(user_id: &str, roles: &[&str]) -> Viewer {
    Viewer::from(&Caller::signed_in(user_id).with_roles(roles.iter().map(|role| (*role).to_owned()).collect()))
}

/// Returns a runtime for tests that are no `tokio::test`, because they start processes.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A test that is killed, and continues in another process.
pub(crate) struct KillTest {
    /// The path of the test.
    pub(crate) test: &'static str,
    /// The environment variable that tells the test its database.
    pub(crate) variable: &'static str,
    /// Into how many parts the moments split the time that the test takes, with SQLite and with PostgreSQL.
    pub(crate) moments: [u32; 2],
}

impl KillTest {
    /// Returns the URL of the database if this process is one of those that are killed.
    pub(crate) fn url(&self) -> Option<String> {
        std::env::var(self.variable).ok()
    }

    /// Tries every `step`-th moment with SQLite and with PostgreSQL.
    pub(crate) fn run(&self, steps: [usize; 2]) {
        let names = (self.test, self.variable);
        kill_repeatedly(names, (self.moments[0], steps[0]), |folder| {
            Some(format!("sqlite://{}", folder.join("test.db").display()))
        });
        kill_repeatedly(names, (self.moments[1], steps[1]), |_| runtime().block_on(test_postgres::new_database()));
    }
}

/// Runs a test in a process of its own, which is killed, and then in another one, which must end. This is repeated
/// for every `step`-th of the moments over the time that the test takes, each with a new database. `variable` tells the
/// test the URL.
fn kill_repeatedly(
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
