//! Deletes jobs that have ended.

use super::now;
use store::StoreError;
use store::sql::{self, Db, Sql};

/// How long ended jobs are kept, in milliseconds.
const KEPT: [(&str, i64); 3] = [("done", DAY), ("failed", 30 * DAY), ("cancelled", 30 * DAY)];
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// The number of jobs in each of these states that are kept, the newest ones.
const MOST: i64 = 10_000;

/// The number of rows that are deleted in a transaction.
const BATCH: i64 = 2_000;

/// The newest end that is too old because of the number of jobs.
const TOO_MANY: &str =
    "SELECT ended_at FROM jobs WHERE state = $1 AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1 OFFSET $2";

/// A recurring job that was cancelled stays, or it would be enqueued again.
const DELETE: Sql = Sql::pair(
    "DELETE FROM jobs WHERE id IN (
        SELECT id FROM jobs WHERE state = $1 AND ended_at <= $2 AND (every_ms IS NULL OR state <> 'cancelled') LIMIT $3)",
    "DELETE FROM jobs WHERE id = ANY (ARRAY(
        SELECT id FROM jobs WHERE state = $1 AND ended_at <= $2 AND (every_ms IS NULL OR state <> 'cancelled') LIMIT $3))",
);

/// Deletes a batch. Returns whether there may be more.
pub(crate) async fn prune(db: &mut Db) -> Result<bool, StoreError> {
    let now = now(&mut *db).await?;
    let mut has_more = false;
    for (state, kept) in KEPT {
        let too_many = sql::query_scalar::<i64>(TOO_MANY).bind(state).bind(MOST).fetch_optional(&mut *db).await?;
        let before = too_many.unwrap_or(i64::MIN).max(now - kept);
        let delete = sql::query(DELETE).bind(state).bind(before).bind(BATCH);
        has_more |= delete.execute(&mut *db).await?.rows_affected() == BATCH.cast_unsigned();
    }
    Ok(has_more)
}
