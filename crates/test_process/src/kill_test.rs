//! A test whose process is killed while it writes.

use crate::{command, run};

/// How often the process is killed, at moments over the time that it takes.
const KILLS: u32 = 3;

/// A test that also runs as another process, which is killed while it works on a database.
#[derive(Clone, Copy, Debug)]
pub struct KillTest {
    /// The path of the test, such as `tests::kill::no_fact_is_lost`.
    pub test: &'static str,
    /// The environment variable that tells the other process its database.
    pub variable: &'static str,
}

impl KillTest {
    /// Returns the URL of the database if this process is the one that is killed.
    pub fn url(&self) -> Option<String> {
        std::env::var(self.variable).ok()
    }

    /// Runs the process to its end once. Then kills it several times on another database in SQLite, on which it goes on
    /// each time, and at last lets it run to its end. `check` is called after each time and returns how much is done:
    /// never less than before, and `whole` at the end.
    ///
    /// # Panics
    /// Panics if that is not so, if the process fails, or if it was never killed.
    pub async fn run(&self, whole: usize, check: impl AsyncFn(&str) -> usize) {
        self.run_after(async |_| {}, whole, check).await;
    }

    /// Like [`KillTest::run`], with databases that `prepare` has written first.
    ///
    /// # Panics
    /// Like [`KillTest::run`].
    pub async fn run_after(&self, prepare: impl AsyncFn(&str), whole: usize, check: impl AsyncFn(&str) -> usize) {
        let folder = tempfile::tempdir().unwrap();
        let url = |name: &str| format!("sqlite://{}", folder.path().join(name).display());
        let process = |url: &str| command(self.test, self.variable, url);
        let (undisturbed, killed) = (url("undisturbed.db"), url("killed.db"));
        prepare(&undisturbed).await;
        prepare(&killed).await;
        let took = run(process(&undisturbed), None).unwrap();
        let (mut kills, mut done) = (0, 0);
        for moment in 1..=KILLS {
            kills += u32::from(run(process(&killed), Some(took * moment / (KILLS + 1))).is_none());
            let now = check(&killed).await;
            assert!(now >= done, "{now} of {done} are left");
            done = now;
        }
        run(process(&killed), None).unwrap();
        assert_eq!(check(&killed).await, whole);
        assert!(kills > 0, "each process was done before it was to be killed");
    }
}
