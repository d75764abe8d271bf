//! The leases, by which it is known whether the worker of a running job lives.

use super::now;
use store::StoreError;
use store::sql::{self, Db, Sql};

macro_rules! renew {
    ($ids:literal) => {
        concat!(
            "UPDATE jobs SET beat = beat + 1 WHERE state = 'running' AND holder = $1 AND id ",
            $ids,
            " RETURNING id, fence, beat, cancel_requested"
        )
    };
}

const RENEW: Sql = Sql::pair(renew!("IN (SELECT value FROM json_each($2))"), renew!("= ANY($2)"));

const RUNNING: &str = "SELECT id, kind, holder, fence, beat, attempts FROM jobs WHERE state = 'running' LIMIT 10000";

const STOP_REQUESTED: &str = "SELECT id FROM jobs WHERE state = 'running' AND holder = $1 AND cancel_requested = 1";

const IS_DELAYED_LONGER: &str =
    "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'waiting' AND delayed_at IS NOT NULL AND delayed_at > $1)";

const CORRECT_DELAYS: &str = "
    UPDATE jobs SET due_at = $2 + (due_at - delayed_at), delayed_at = $2
    WHERE state = 'waiting' AND delayed_at IS NOT NULL AND delayed_at > $1";

/// By how much servers may read the clock differently, in milliseconds.
const TOLERANCE: i64 = 1_000;

/// A running job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldJob {
    pub(crate) id: String,
    pub(crate) kind: String,
    /// The id of its workers.
    pub(crate) holder: Option<String>,
    pub(crate) fence: i64,
    /// Grows as long as its worker lives.
    pub(crate) beat: i64,
    pub(crate) attempts: u32,
}

/// The state of a job that a worker runs, according to the database.
pub(crate) struct Renewed {
    pub(crate) id: String,
    pub(crate) fence: i64,
    pub(crate) cancel_requested: bool,
}

/// Gives a sign of life for these jobs. Returns those that this worker still holds.
pub(crate) async fn renew(db: &mut Db, worker: &str, ids: Vec<String>) -> Result<Vec<Renewed>, StoreError> {
    let rows = sql::query(RENEW).bind(worker).bind(ids).fetch_all(db).await?;
    let renewed = rows.iter().map(|row| {
        Ok(Renewed {
            id: row.try_get("id")?,
            fence: row.try_get("fence")?,
            cancel_requested: row.try_get("cancel_requested")?,
        })
    });
    renewed.collect()
}

/// Returns the running jobs of all workers.
pub(crate) async fn running(db: &mut Db) -> Result<Vec<HeldJob>, StoreError> {
    let rows = sql::query(RUNNING).fetch_all(db).await?;
    let held = rows.iter().map(|row| {
        Ok(HeldJob {
            id: row.try_get("id")?,
            kind: row.try_get("kind")?,
            holder: row.try_get("holder")?,
            fence: row.try_get("fence")?,
            beat: row.try_get("beat")?,
            attempts: u32::try_from(row.try_get::<i64>("attempts")?).unwrap_or(u32::MAX),
        })
    });
    held.collect()
}

/// Returns the jobs of this worker that must stop.
pub(crate) async fn stop_requested(db: &mut Db, worker: &str) -> Result<Vec<String>, StoreError> {
    Ok(sql::query_scalar(STOP_REQUESTED).bind(worker).fetch_all(db).await?)
}

/// Returns whether delays began in the future, because the clock was set back.
pub(crate) async fn was_set_back(db: &mut Db) -> Result<bool, StoreError> {
    let now = now(&mut *db).await?;
    Ok(sql::query_scalar(IS_DELAYED_LONGER).bind(now + TOLERANCE).fetch_one(db).await?)
}

/// Lets delays begin now that began in the future. Otherwise a pause of a second would take as long as
/// the clock was set back.
pub(crate) async fn correct_delays(db: &mut Db) -> Result<u64, StoreError> {
    let now = now(&mut *db).await?;
    Ok(sql::query(CORRECT_DELAYS).bind(now + TOLERANCE).bind(now).execute(db).await?.rows_affected())
}
