//! The queries and changes of the admin console, and the figures for metrics. Nothing here checks an owner.

use super::{now, with_now};
use schemars::JsonSchema;
use serde::Serialize;
use store::StoreError;
use store::sql::{self, Db, QueryBuilder, Row, Sql};

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It is not due yet, or no worker has taken it.
    Waiting,
    /// A worker runs it.
    Running,
    /// The work is done.
    Done,
    /// All attempts have failed.
    Failed,
    /// An operator cancelled it, or its user was deleted.
    Cancelled,
}

impl JobState {
    /// All states.
    pub const ALL: [Self; 5] = [Self::Waiting, Self::Running, Self::Done, Self::Failed, Self::Cancelled];

    /// Returns the name in the database and in URLs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let name: &str = row.try_get("state")?;
        let found = Self::ALL.into_iter().find(|state| state.name() == name);
        found.ok_or(StoreError::Invalid("a job has an unknown state"))
    }
}

/// A job, without its payload, which may contain what users have written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobRow {
    /// The id. Ids grow with the time at which jobs were enqueued.
    pub id: String,
    /// The kind.
    pub kind: String,
    /// Whether this server runs jobs of the kind. Others wait for a server that does.
    pub known: bool,
    /// The state.
    pub state: JobState,
    /// The user whose work it is (id); absent for the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The unique key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When it is, or was, due; Unix time in milliseconds.
    pub due_at: i64,
    /// The time between two runs of a recurring job, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<i64>,
    /// The number of attempts so far; of a recurring job, since its last run.
    pub attempts: i64,
    /// Whether it is about to stop, because it was cancelled.
    pub stopping: bool,
    /// Why the last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was enqueued; Unix time in milliseconds.
    pub created_at: i64,
    /// When the last attempt began; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When it ended; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
}

/// Which jobs are listed.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Only those of this kind.
    pub kind: Option<String>,
    /// Only those in this state.
    pub state: Option<JobState>,
    /// Only those of this user.
    pub owner: Option<String>,
    /// Only this one.
    pub id: Option<String>,
    /// Only those that were enqueued before this one.
    pub before: Option<String>,
}

/// The number of jobs of a kind in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobCount {
    /// The kind.
    pub kind: String,
    /// The state.
    pub state: JobState,
    /// The number of jobs.
    pub jobs: i64,
}

/// The state of the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueStatus {
    /// The numbers of jobs, without those that are zero.
    pub counts: Vec<JobCount>,
    /// For how long the oldest due job waits for a worker, in milliseconds; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_due_ms: Option<i64>,
}

/// The outcome of cancelling a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It waited and is cancelled.
    Cancelled,
    /// It runs and was told to stop.
    Stopping,
    /// It has ended already, or is unknown.
    NotPending,
}

const COLUMNS: &str = "
    SELECT id, kind, state, owner, unique_key, due_at, every_ms, attempts, cancel_requested, error, created_at,
        started_at, ended_at
    FROM jobs WHERE 1 = 1";

/// One range of an index for each group of states.
const COUNTS: &str = "
    SELECT kind, state, count(*) AS jobs FROM jobs WHERE state = 'waiting' GROUP BY kind, state
    UNION ALL SELECT kind, state, count(*) AS jobs FROM jobs WHERE state = 'running' GROUP BY kind, state
    UNION ALL SELECT kind, state, count(*) AS jobs FROM jobs WHERE ended_at IS NOT NULL GROUP BY kind, state
    ORDER BY 1, 2";

const RETRY: Sql = with_now!(
    "UPDATE jobs SET state = 'waiting', due_at = ",
    ", delayed_at = ",
    ", attempts = 0, ended_at = NULL, cancel_requested = 0
     WHERE id = $1 AND state IN ('waiting', 'failed', 'cancelled')"
);

/// A pending job with the key of an ended one.
const KEY_IS_TAKEN: &str = "
    SELECT EXISTS (
        SELECT 1 FROM jobs ended JOIN jobs pending ON pending.kind = ended.kind AND pending.unique_key = ended.unique_key
        WHERE ended.id = $1 AND pending.id <> $1 AND pending.state IN ('waiting', 'running'))";

const CANCEL_WAITING: Sql =
    with_now!("UPDATE jobs SET state = 'cancelled', ended_at = ", " WHERE id = $1 AND state = 'waiting'");

const CANCEL_RUNNING: &str =
    "UPDATE jobs SET cancel_requested = 1, again_at = NULL WHERE id = $1 AND state = 'running'";

const CANCEL_WAITING_OF: Sql =
    with_now!("UPDATE jobs SET state = 'cancelled', ended_at = ", " WHERE owner = $1 AND state = 'waiting'");

const CANCEL_RUNNING_OF: &str =
    "UPDATE jobs SET cancel_requested = 1, again_at = NULL WHERE owner = $1 AND state = 'running'";

/// Lists jobs, the newest first.
pub(crate) async fn list(db: &mut Db, filter: JobFilter, limit: u32) -> Result<Vec<JobRow>, StoreError> {
    let mut find = QueryBuilder::new(COLUMNS);
    let JobFilter { kind, state, owner, id, before } = filter;
    let conditions = [
        (" AND kind = ", kind),
        (" AND state = ", state.map(|state| state.name().to_owned())),
        (" AND owner = ", owner),
        (" AND id = ", id),
        (" AND id < ", before),
    ];
    for (condition, value) in conditions {
        if let Some(value) = value {
            find.push(condition).push_bind(value);
        }
    }
    find.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
    find.build().fetch_all(db).await?.iter().map(job_row).collect()
}

fn job_row(row: &Row) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        id: row.try_get("id")?,
        kind: row.try_get("kind")?,
        known: true,
        state: JobState::from_row(row)?,
        owner: row.try_get("owner")?,
        key: row.try_get("unique_key")?,
        due_at: row.try_get("due_at")?,
        every_ms: row.try_get("every_ms")?,
        attempts: row.try_get("attempts")?,
        stopping: row.try_get("cancel_requested")?,
        error: row.try_get("error")?,
        created_at: row.try_get("created_at")?,
        started_at: row.try_get("started_at")?,
        ended_at: row.try_get("ended_at")?,
    })
}

/// Counts all jobs.
pub(crate) async fn counts(db: &mut Db) -> Result<Vec<JobCount>, StoreError> {
    let rows = sql::query(COUNTS).fetch_all(db).await?;
    let count = |row: &Row| {
        Ok(JobCount { kind: row.try_get("kind")?, state: JobState::from_row(row)?, jobs: row.try_get("jobs")? })
    };
    rows.iter().map(count).collect()
}

/// Returns for how many milliseconds the oldest due job of these kinds waits.
pub(crate) async fn oldest_due(db: &mut Db, kinds: &[String]) -> Result<Option<i64>, StoreError> {
    let now = now(&mut *db).await?;
    let mut oldest = None::<i64>;
    for kind in kinds {
        let find = "SELECT min(due_at) FROM jobs WHERE state = 'waiting' AND kind = $1";
        let due: Option<i64> = sql::query_scalar(find).bind(kind).fetch_one(&mut *db).await?;
        oldest = due.filter(|due| *due <= now).into_iter().chain(oldest).min();
    }
    Ok(oldest.map(|due| now - due))
}

/// Returns the number of jobs that are due and wait.
pub(crate) async fn count_due(db: &mut Db) -> Result<i64, StoreError> {
    let now = now(&mut *db).await?;
    let count = "SELECT count(*) FROM jobs WHERE state = 'waiting' AND due_at <= $1";
    Ok(sql::query_scalar(count).bind(now).fetch_one(db).await?)
}

/// Makes a job due now that has failed, was cancelled, or waits. Returns false if it has another
/// state, or is unknown.
pub(crate) async fn retry(db: &mut Db, id: &str) -> Result<bool, StoreError> {
    if sql::query_scalar::<bool>(KEY_IS_TAKEN).bind(id).fetch_one(&mut *db).await? {
        return Err(StoreError::Invalid("another job with the same key waits or runs"));
    }
    Ok(sql::query(RETRY).bind(id).execute(db).await?.rows_affected() > 0)
}

/// Cancels a job that waits, or tells one that runs to stop.
pub(crate) async fn cancel(db: &mut Db, id: &str) -> Result<CancelOutcome, StoreError> {
    if sql::query(CANCEL_WAITING).bind(id).execute(&mut *db).await?.rows_affected() > 0 {
        return Ok(CancelOutcome::Cancelled);
    }
    let is_running = sql::query(CANCEL_RUNNING).bind(id).execute(db).await?.rows_affected() > 0;
    Ok(if is_running { CancelOutcome::Stopping } else { CancelOutcome::NotPending })
}

/// Cancels all jobs of a user.
pub(crate) async fn cancel_owner(db: &mut Db, owner: &str) -> Result<(), StoreError> {
    sql::query(CANCEL_WAITING_OF).bind(owner).execute(&mut *db).await?;
    sql::query(CANCEL_RUNNING_OF).bind(owner).execute(db).await?;
    Ok(())
}
