//! Adds jobs.

use super::{millis, with_now};
use crate::new_job::{Due, Enqueued, MAX_KEY, NewJob, OnPending};
use store::StoreError;
use store::sql::{self, Db, Sql};
use uuid::Uuid;

/// The due time of a new row: `$6` if it is a time, otherwise `$7` from now on.
macro_rules! insert {
    ($($rest:expr),+) => {
        with_now!(
            "INSERT INTO jobs (id, kind, owner, payload, unique_key, due_at, delayed_at, every_ms, created_at)
             VALUES ($1, $2, $3, $4, $5, coalesce($6, ",
            " + $7), CASE WHEN $6 IS NULL THEN ",
            " END, $8, ",
            concat!(
                ")
                ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL AND state IN ('waiting', 'running') ",
                $($rest),+
            ),
        )
    };
}

/// The common part of both kinds of replacing. A job that runs stays as it is until its end, apart
/// from the payload, which the attempt has read.
macro_rules! update {
    ($due_at:literal, $delayed_at:literal, $again_at:literal) => {
        concat!(
            "DO UPDATE SET payload = excluded.payload, every_ms = excluded.every_ms,
                due_at = CASE jobs.state WHEN 'running' THEN jobs.due_at ELSE ",
            $due_at,
            " END,
                delayed_at = CASE jobs.state WHEN 'running' THEN jobs.delayed_at ELSE ",
            $delayed_at,
            " END,
                again_at = CASE jobs.state WHEN 'running' THEN ",
            $again_at,
            " END,
                attempts = CASE jobs.state WHEN 'running' THEN jobs.attempts ELSE 0 END
             WHERE jobs.owner IS NOT DISTINCT FROM excluded.owner
             RETURNING id"
        )
    };
}

const EARLIER: Sql = insert!(update!(
    "CASE WHEN excluded.due_at < jobs.due_at THEN excluded.due_at ELSE jobs.due_at END",
    "CASE WHEN excluded.due_at < jobs.due_at THEN excluded.delayed_at ELSE jobs.delayed_at END",
    "CASE WHEN jobs.again_at < excluded.due_at THEN jobs.again_at ELSE excluded.due_at END"
));

const REPLACE: Sql = insert!(update!("excluded.due_at", "excluded.delayed_at", "excluded.due_at"));

const KEEP: Sql = insert!("DO NOTHING RETURNING id");

/// Adds a recurring job, or changes its interval. One that waits is due after an interval at the
/// latest; one that runs waits for the new interval after its end.
const RECURRING: Sql = insert!(
    "DO UPDATE SET every_ms = excluded.every_ms,
        due_at = CASE WHEN jobs.state = 'waiting' AND excluded.due_at < jobs.due_at
            THEN excluded.due_at ELSE jobs.due_at END,
        delayed_at = CASE WHEN jobs.state = 'waiting' AND excluded.due_at < jobs.due_at
            THEN excluded.delayed_at ELSE jobs.delayed_at END
     WHERE jobs.every_ms IS DISTINCT FROM excluded.every_ms
     RETURNING id"
);

const PENDING: &str = "
    SELECT id FROM jobs WHERE kind = $1 AND unique_key = $2 AND state IN ('waiting', 'running')
        AND owner IS NOT DISTINCT FROM $3";

/// Whether the last job of a recurring kind was cancelled, and none has been there since.
const IS_CANCELLED: &str = "
    SELECT EXISTS (SELECT 1 FROM jobs WHERE kind = $1 AND unique_key = $2 AND state = 'cancelled' AND every_ms IS NOT NULL)
        AND NOT EXISTS (
            SELECT 1 FROM jobs WHERE kind = $1 AND unique_key = $2 AND state IN ('waiting', 'running'))";

/// Returns whether an operator has cancelled the job of a recurring kind.
pub(crate) async fn is_cancelled(db: &mut Db, kind: &str, key: &str) -> Result<bool, StoreError> {
    Ok(sql::query_scalar(IS_CANCELLED).bind(kind.to_owned()).bind(key.to_owned()).fetch_one(db).await?)
}

/// Adds a job. A recurring one stays as it is if it is there already, apart from its interval.
pub(crate) async fn enqueue(db: &mut Db, job: NewJob) -> Result<Enqueued, StoreError> {
    if job.key.as_ref().is_some_and(|key| key.len() > MAX_KEY) {
        return Err(StoreError::Invalid("the key of a job is too long"));
    }
    let id = Uuid::now_v7().to_string();
    let statement = match (job.every, job.on_pending) {
        (Some(_), _) => RECURRING,
        (None, OnPending::Earlier) => EARLIER,
        (None, OnPending::Replace) => REPLACE,
        (None, OnPending::Keep) => KEEP,
    };
    let (at, delay) = match job.due {
        Due::Now => (None, 0),
        Due::After(delay) => (None, millis(delay)),
        Due::At(at) => (Some(at), 0),
    };
    let insert = sql::query_scalar::<String>(statement)
        .bind(&id)
        .bind(job.policy.name)
        .bind(&job.owner)
        .bind(job.payload?)
        .bind(&job.key)
        .bind(at)
        .bind(delay)
        .bind(job.every.map(millis));
    match insert.fetch_optional(&mut *db).await? {
        Some(stored) if stored == id => return Ok(Enqueued::New(id)),
        Some(stored) => return Ok(Enqueued::Pending(stored)),
        None => {}
    }
    let pending = sql::query_scalar(PENDING).bind(job.policy.name).bind(job.key).bind(job.owner);
    let pending = pending.fetch_optional(db).await?;
    pending.map(Enqueued::Pending).ok_or(StoreError::Invalid("a job of another user has this key"))
}
