//! Ends attempts. Each statement names the attempt by its fence, and changes nothing if the job has
//! passed on to another one.

use super::{millis, with_now};
use crate::context::Fence;
use crate::new_job::Due;
use crate::outcome::End;
use store::StoreError;
use store::sql::{self, Db, Sql};

/// The longest stored cause of a failure, in characters.
const MAX_CAUSE: usize = 2_000;

const IS_RUNNING: &str = "SELECT EXISTS (SELECT 1 FROM jobs WHERE id = $1 AND fence = $2 AND state = 'running')";

/// The attempt with fence `$2`, if it is not over; with `$3` only if its worker has given no sign of
/// life since.
macro_rules! this_attempt {
    () => {
        " WHERE id = $1 AND fence = $2 AND state = 'running' AND (CAST($3 AS BIGINT) IS NULL OR beat = $3)"
    };
}

/// The end for good, as `$4`, unless the job is repeated: it was enqueued again while it ran, or it is
/// recurring. If it was cancelled meanwhile, it is not.
const FINISH: Sql = with_now!(
    "UPDATE jobs SET
        state = CASE
            WHEN $4 = 'cancelled' OR (cancel_requested = 1 AND ($4 = 'failed' OR every_ms IS NOT NULL)) THEN 'cancelled'
            WHEN cancel_requested = 0 AND (again_at IS NOT NULL OR every_ms IS NOT NULL) THEN 'waiting'
            ELSE $4 END,
        ended_at = CASE
            WHEN $4 <> 'cancelled' AND cancel_requested = 0 AND (again_at IS NOT NULL OR every_ms IS NOT NULL) THEN NULL
            ELSE ",
    " END,
        due_at = CASE WHEN again_at IS NOT NULL THEN again_at WHEN every_ms IS NOT NULL THEN ",
    " + every_ms ELSE due_at END,
        delayed_at = CASE WHEN again_at IS NULL AND every_ms IS NOT NULL THEN ",
    concat!(
        " END,
        attempts = CASE
            WHEN $4 <> 'cancelled' AND (again_at IS NOT NULL OR every_ms IS NOT NULL) THEN 0 ELSE attempts END,
        again_at = NULL, holder = NULL, cancel_requested = 0, error = $5",
        this_attempt!()
    ),
);

/// Another attempt after `$4`.
const RETRY: Sql = with_now!(
    "UPDATE jobs SET
        state = CASE cancel_requested WHEN 1 THEN 'cancelled' ELSE 'waiting' END,
        ended_at = CASE cancel_requested WHEN 1 THEN ",
    " END,
        due_at = CASE WHEN again_at IS NOT NULL THEN again_at ELSE ",
    " + $4 END,
        delayed_at = CASE WHEN again_at IS NULL THEN ",
    concat!(
        " END,
        attempts = CASE WHEN again_at IS NOT NULL THEN 0 ELSE attempts END,
        again_at = NULL, holder = NULL, cancel_requested = 0, error = $5",
        this_attempt!()
    ),
);

/// The same job at `$4`, or `$5` from now on, or when it was enqueued again meanwhile.
const AGAIN: Sql = with_now!(
    "UPDATE jobs SET
        state = CASE cancel_requested WHEN 1 THEN 'cancelled' ELSE 'waiting' END,
        ended_at = CASE cancel_requested WHEN 1 THEN ",
    " END,
        due_at = CASE WHEN again_at < coalesce($4, ",
    " + $5) THEN again_at ELSE coalesce($4, ",
    " + $5) END,
        delayed_at = CASE WHEN again_at IS NULL AND $4 IS NULL THEN ",
    concat!(" END, attempts = 0, again_at = NULL, holder = NULL, cancel_requested = 0, error = NULL", this_attempt!()),
);

/// As if the attempt had not begun.
const RELEASE: Sql = with_now!(
    "UPDATE jobs SET
        state = CASE cancel_requested WHEN 1 THEN 'cancelled' ELSE 'waiting' END,
        ended_at = CASE cancel_requested WHEN 1 THEN ",
    concat!(" END, attempts = attempts - 1, again_at = NULL, holder = NULL, cancel_requested = 0", this_attempt!()),
);

/// Returns whether the attempt is not over.
pub(crate) async fn is_running(db: &mut Db, fence: &Fence) -> Result<bool, StoreError> {
    Ok(sql::query_scalar(IS_RUNNING).bind(&fence.job_id).bind(fence.number).fetch_one(db).await?)
}

/// Ends the attempt, if its worker has given no sign of life since `beat`. Returns false if it was over
/// already.
pub(crate) async fn end(db: &mut Db, fence: &Fence, beat: Option<i64>, end: &End) -> Result<bool, StoreError> {
    let start = |statement: Sql| sql::query(statement).bind(&fence.job_id).bind(fence.number).bind(beat);
    let finish = |state: &str, cause: Option<&str>| start(FINISH).bind(state).bind(cause.map(shortened));
    let update = match end {
        End::Done => finish("done", None),
        End::Failed(cause) => finish("failed", Some(cause)),
        End::Cancelled => finish("cancelled", None),
        End::Retry(pause, cause) => start(RETRY).bind(millis(*pause)).bind(shortened(cause)),
        End::Again(Due::At(at)) => start(AGAIN).bind(Some(*at)).bind(0_i64),
        End::Again(Due::After(delay)) => start(AGAIN).bind(None::<i64>).bind(millis(*delay)),
        End::Again(Due::Now) => start(AGAIN).bind(None::<i64>).bind(0_i64),
        End::Released => start(RELEASE),
        End::Nothing => return Ok(true),
    };
    Ok(update.execute(db).await?.rows_affected() > 0)
}

fn shortened(cause: &str) -> String {
    match cause.char_indices().nth(MAX_CAUSE) {
        Some((end, _)) => format!("{}\u{2026}", &cause[..end]),
        None => cause.to_owned(),
    }
}
