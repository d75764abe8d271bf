//! Table `jobs`. Its migrations are those of `store`, which deletes a user's jobs with the user and
//! copies the table in backups and transfers.
//!
//! Times are those of one clock for all servers: PostgreSQL's own, or with SQLite that of the only
//! server. Leases do not depend on it, see `work::lease`.

mod admin;
mod claim;
mod end;
mod enqueue;
mod lease;
mod prune;
mod turns;

pub use admin::{CancelOutcome, JobCount, JobFilter, JobRow, JobState, QueueStatus};
pub(crate) use admin::{cancel, cancel_owner, count_due, counts, list, oldest_due, retry};
pub(crate) use claim::{Claimed, Wanted, assign, claim, next_due};
pub(crate) use end::{end, is_running};
pub(crate) use enqueue::{enqueue, is_cancelled};
pub(crate) use lease::{HeldJob, correct_delays, renew, running, stop_requested, was_set_back};
pub(crate) use prune::prune;
pub(crate) use turns::Turns;

use std::time::Duration;
use store::StoreError;
use store::sql::{self, Db, Sql};

/// Joins the parts of a statement with the database's time in Unix milliseconds.
macro_rules! with_now {
    ($first:expr $(, $rest:expr)* $(,)?) => {
        store::sql::Sql::pair(
            concat!($first $(, "CAST(unixepoch('subsec') * 1000 AS INTEGER)", $rest)*),
            concat!($first $(, "now_ms()", $rest)*),
        )
    };
}
pub(crate) use with_now;

const NOW: Sql = with_now!("SELECT ", "");

/// Returns the database's time. Statements that search by it get it as a parameter: PostgreSQL could
/// not use an index for a function that is evaluated for each row.
pub(crate) async fn now(db: &mut Db) -> Result<i64, StoreError> {
    Ok(sql::query_scalar(NOW).fetch_one(db).await?)
}

pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4)
}
