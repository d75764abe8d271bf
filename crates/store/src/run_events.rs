//! Table `run_events`: the journal. A row holds consecutive events of a run as the bytes of their SSE frames.

use crate::{Store, StoreError};
use bytes::Bytes;
use sqlx::{AssertSqlSafe, Row, SqliteConnection, sqlite::SqliteRow};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

/// Rows of the journal at once.
pub const MAX_EVENTS: u32 = 500;

/// Consecutive events of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalBatch {
    /// The run.
    pub run_id: String,
    /// As [`Begun::Started`](crate::Begun::Started) gave it.
    pub epoch: u64,
    /// The number of the first event.
    pub first_seq: u64,
    /// The number of the last event.
    pub last_seq: u64,
    /// The events' frames, back to back.
    pub frames: Bytes,
}

/// Consecutive events, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRow {
    /// The number of the first event.
    pub first_seq: u64,
    /// The number of the last event.
    pub last_seq: u64,
    /// The events' frames, back to back.
    pub frames: Vec<u8>,
}

/// Rows of the largest statement; at five parameters a row it stays far below SQLite's 32,766.
const MAX_ROWS: usize = 512;

/// A statement for each power of two up to [`MAX_ROWS`], so that each is prepared once whatever the number of runs.
/// Parameters that are left unbound are NULL, and a row without a run joins nothing.
static INSERTS: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| {
    let sizes = (0..).map(|power| 1_usize << power).take_while(|rows| *rows <= MAX_ROWS);
    sizes.map(|rows| insert(rows).into()).collect()
});

/// The join is the fence: rows of a run that is over, or of another epoch, are left out. The upsert makes a batch that
/// is sent again, perhaps longer than before, harmless.
fn insert(rows: usize) -> String {
    let mut sql = String::from(
        "INSERT INTO run_events (run, first_seq, last_seq, frames)
         SELECT r.no, v.column3, v.column4, v.column5 FROM (VALUES ",
    );
    for row in 0..rows {
        let comma = if row == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(sql, "{comma}(?,?,?,?,?)");
    }
    sql.push_str(
        ") v CROSS JOIN runs r ON r.id = v.column1 AND r.epoch = v.column2 AND r.status = 'running'
         WHERE true
         ON CONFLICT (run, first_seq) DO UPDATE SET last_seq = excluded.last_seq, frames = excluded.frames",
    );
    sql
}

const ACTIVE: &str = "SELECT EXISTS (SELECT 1 FROM runs WHERE id = $1 AND epoch = $2 AND status = 'running')";

/// Starts at the row that holds event `after + 1`, which may have begun earlier.
const EVENTS: &str = "
    WITH run (no) AS (
        SELECT r.no FROM runs r JOIN conversations c ON c.id = r.conversation_id
        WHERE r.id = $2 AND c.owner = $1
    )
    SELECT e.first_seq, e.last_seq, e.frames
    FROM run CROSS JOIN run_events e ON e.run = run.no
    WHERE e.first_seq >= coalesce(
            (SELECT max(p.first_seq) FROM run_events p WHERE p.run = run.no AND p.first_seq <= $3 + 1), 0)
      AND e.last_seq > $3
    ORDER BY e.first_seq LIMIT $4";

/// Runs whose events are deleted in one transaction; in between, other writes get their turn.
const PRUNE_RUNS: u32 = 50;

const PRUNE_EVENTS: &str = "
    DELETE FROM run_events WHERE run IN (
        SELECT no FROM runs WHERE pruned = 0 AND ended_at < $1 ORDER BY ended_at, no LIMIT $2)";

const MARK_PRUNED: &str = "
    UPDATE runs SET pruned = 1 WHERE no IN (
        SELECT no FROM runs WHERE pruned = 0 AND ended_at < $1 ORDER BY ended_at, no LIMIT $2)";

impl Store {
    /// Appends to the journals of many runs in one transaction. Answers with the runs whose batches were refused because
    /// they are over, were taken over or were deleted: their writers must stop.
    ///
    /// # Errors
    /// The database failed; nothing is stored then, and the same batches may be sent again.
    pub async fn append_events(&self, batches: Vec<JournalBatch>) -> Result<Vec<String>, StoreError> {
        if batches.is_empty() {
            return Ok(Vec::new());
        }
        self.write(move |db| Box::pin(append(db, batches))).await
    }

    /// The events of a run after number `after_seq`, in order, at most `limit` (and [`MAX_EVENTS`]) rows. The first row
    /// may begin before it. Empty when the run is unknown or someone else's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn events(
        &self,
        owner: &str,
        run_id: &str,
        after_seq: u64,
        limit: u32,
    ) -> Result<Vec<JournalRow>, StoreError> {
        let (owner, run_id, limit) = (owner.to_owned(), run_id.to_owned(), limit.min(MAX_EVENTS));
        // Numbers come from clients; beyond what the database counts there is nothing.
        let Ok(after) = i64::try_from(after_seq) else { return Ok(Vec::new()) };
        self.read(move |db| {
            Box::pin(async move {
                let query = sqlx::query(EVENTS).bind(owner).bind(run_id).bind(after).bind(limit);
                query.fetch_all(db).await?.iter().map(journal_row).collect()
            })
        })
        .await
    }

    /// Deletes the events of runs that ended before a time (Unix, milliseconds); their messages hold the content.
    /// Answers with the number of runs.
    ///
    /// # Errors
    /// The database failed; what was deleted by then stays so.
    pub async fn prune_journal(&self, ended_before: i64) -> Result<u64, StoreError> {
        let mut total = 0;
        loop {
            let pruned = self.write(move |db| Box::pin(prune(db, ended_before))).await?;
            total += pruned;
            if pruned < u64::from(PRUNE_RUNS) {
                return Ok(total);
            }
        }
    }
}

async fn append(db: &mut SqliteConnection, batches: Vec<JournalBatch>) -> Result<Vec<String>, StoreError> {
    let mut fenced = BTreeSet::new();
    for rows in batches.chunks(MAX_ROWS) {
        let inserted = insert_rows(db, rows).await?;
        if inserted < rows.len() as u64 {
            find_fenced(db, rows, &mut fenced).await?;
        }
    }
    Ok(fenced.into_iter().collect())
}

async fn insert_rows(db: &mut SqliteConnection, rows: &[JournalBatch]) -> Result<u64, StoreError> {
    // The smallest power of two that holds them.
    let sql = &INSERTS[rows.len().next_power_of_two().trailing_zeros() as usize];
    let mut query = sqlx::query(AssertSqlSafe(sql.clone()));
    for row in rows {
        query = query
            .bind(row.run_id.as_str())
            .bind(row.epoch.cast_signed())
            .bind(row.first_seq.cast_signed())
            .bind(row.last_seq.cast_signed())
            .bind(&row.frames[..]);
    }
    Ok(query.execute(db).await?.rows_affected())
}

async fn find_fenced(
    db: &mut SqliteConnection,
    rows: &[JournalBatch],
    fenced: &mut BTreeSet<String>,
) -> Result<(), StoreError> {
    for row in rows {
        let find = sqlx::query_scalar(ACTIVE).bind(&row.run_id).bind(row.epoch.cast_signed());
        let active: bool = find.fetch_one(&mut *db).await?;
        if !active {
            fenced.insert(row.run_id.clone());
        }
    }
    Ok(())
}

async fn prune(db: &mut SqliteConnection, ended_before: i64) -> Result<u64, StoreError> {
    sqlx::query(PRUNE_EVENTS).bind(ended_before).bind(PRUNE_RUNS).execute(&mut *db).await?;
    let marked = sqlx::query(MARK_PRUNED).bind(ended_before).bind(PRUNE_RUNS).execute(db).await?;
    Ok(marked.rows_affected())
}

fn journal_row(row: &SqliteRow) -> Result<JournalRow, StoreError> {
    Ok(JournalRow {
        first_seq: row.try_get::<i64, _>("first_seq")?.cast_unsigned(),
        last_seq: row.try_get::<i64, _>("last_seq")?.cast_unsigned(),
        frames: row.try_get("frames")?,
    })
}
