//! Table `run_events`: the journal. A row holds consecutive events of a run as the bytes of their SSE frames.

use crate::sql::{self, Db, Row, Sql};
use crate::{Store, StoreError};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

/// The maximum number of rows per read of the journal.
pub const MAX_EVENTS: u32 = 500;

/// Consecutive events of one run to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalBatch {
    /// The run.
    pub run_id: String,
    /// The run's epoch, as returned in [`Begun::Started`](crate::BeginRunOutcome::Started).
    pub epoch: u64,
    /// The number of the first event.
    pub first_seq: u64,
    /// The number of the last event.
    pub last_seq: u64,
    /// The SSE frames of the events, concatenated.
    pub frames: Bytes,
}

/// Consecutive events, as read from the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRow {
    /// The number of the first event.
    pub first_seq: u64,
    /// The number of the last event.
    pub last_seq: u64,
    /// The SSE frames of the events, concatenated.
    pub frames: Vec<u8>,
}

/// The number of rows of the largest statement; with five parameters per row it stays far below
/// SQLite's limit of 32,766.
const MAX_ROWS: usize = 512;

/// A statement for each power of two up to [`MAX_ROWS`], so that each is prepared once, whatever
/// the number of runs. Unbound parameters are NULL, and a row without a run joins nothing.
static INSERTS: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| {
    let sizes = (0..).map(|power| 1_usize << power).take_while(|rows| *rows <= MAX_ROWS);
    sizes.map(|rows| insert(rows).into()).collect()
});

/// The join is the fence: it leaves out rows of ended runs and of other epochs.
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
    sql.push_str(") v CROSS JOIN runs r ON r.id = v.column1 AND r.epoch = v.column2 AND r.status = 'running'");
    sql
}

/// The same for PostgreSQL, which accepts arrays. The rows of a run keep their order.
const INSERT_LISTS: &str = "
    INSERT INTO run_events (run, first_seq, last_seq, frames)
    SELECT r.no, v.first_seq, v.last_seq, v.frames
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[])
            WITH ORDINALITY v (id, epoch, first_seq, last_seq, frames, place)
        JOIN runs r ON r.id = v.id AND r.epoch = v.epoch AND r.status = 'running' AND r.replica IS NOT DISTINCT FROM $6
    ORDER BY v.place";

const ACTIVE: &str = "
    SELECT EXISTS (
        SELECT 1 FROM runs WHERE id = $1 AND epoch = $2 AND status = 'running' AND replica IS NOT DISTINCT FROM $3)";

/// Reads the stripes of the journal in which the run has events (see the migration).
macro_rules! events {
    ($join:literal) => {
        concat!(
            "WITH RECURSIVE stripes (run, stripe, last) AS (
        SELECT r.no, r.events_after / 4096, coalesce(r.events_until, (SELECT max(no) FROM run_events)) / 4096
        FROM runs r JOIN conversations c ON c.id = r.conversation_id
        WHERE c.owner = $1 AND r.id = $2
        UNION ALL
        SELECT run, stripe + 1, last FROM stripes WHERE stripe < last
    )
    SELECT e.first_seq, e.last_seq, e.frames
    FROM stripes s ",
            $join,
            " run_events e ON e.no / 4096 = s.stripe AND e.run = s.run AND e.last_seq > $3
    ORDER BY e.no LIMIT $4"
        )
    };
}

/// SQLite keeps the order of a cross join; PostgreSQL's planner finds it by itself.
const EVENTS: Sql = Sql::pair(events!("CROSS JOIN"), events!("JOIN"));

/// Deletes the events of all runs of a conversation, also by stripes.
macro_rules! delete_of_conversation {
    ($join:literal) => {
        concat!(
            "DELETE FROM run_events WHERE no IN (
        WITH RECURSIVE stripes (run, stripe, last) AS (
            SELECT r.no, r.events_after / 4096, coalesce(r.events_until, (SELECT max(no) FROM run_events)) / 4096
            FROM runs r JOIN conversations c ON c.id = r.conversation_id
            WHERE c.owner = $1 AND c.id = $2
            UNION ALL
            SELECT run, stripe + 1, last FROM stripes WHERE stripe < last
        )
        SELECT e.no FROM stripes s ",
            $join,
            " run_events e ON e.no / 4096 = s.stripe AND e.run = s.run
    )"
        )
    };
}

const DELETE_OF_CONVERSATION: Sql = Sql::pair(delete_of_conversation!("CROSS JOIN"), delete_of_conversation!("JOIN"));

/// The number of rows deleted in one transaction; other writes run in between.
const PRUNE_ROWS: u32 = 2000;

/// All rows before the first event of the oldest run that is active or ended at `$1` or later.
const PRUNE: &str = "
    DELETE FROM run_events WHERE no IN (
        SELECT no FROM run_events
        WHERE no <= coalesce(
            (SELECT min(events_after) FROM runs WHERE ended_at >= $1 OR ended_at IS NULL),
            (SELECT max(no) FROM run_events))
        ORDER BY no LIMIT $2)";

/// The number of the newest row that was ever appended.
pub(crate) const LAST_NO: Sql = Sql::pair(
    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'run_events'), 0)",
    "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM run_events_no_seq",
);

impl Store {
    /// Appends to the journals of many runs in one transaction. Returns the runs whose batches were
    /// refused because they ended, were taken over or were deleted: their writers must stop.
    ///
    /// # Errors
    /// The database failed; nothing is stored then, and the same batches may be sent again.
    pub async fn append_events(&self, batches: Vec<JournalBatch>) -> Result<Vec<String>, StoreError> {
        if batches.is_empty() {
            return Ok(Vec::new());
        }
        let (own, shared) = (self.replica_id(), self.database.replica.clone());
        let (batches, own) = (Arc::new(batches), Arc::new(own));
        self.write_repeatable(move |db| {
            let (batches, own, shared) = (batches.clone(), own.clone(), shared.clone());
            Box::pin(async move {
                if let Some(shared) = shared {
                    let ids: Vec<_> = batches.iter().map(|batch| batch.run_id.as_str()).collect();
                    shared.notify_runs(db, &ids).await?;
                }
                append(db, &batches, &own).await
            })
        })
        .await
    }

    /// Returns the events of a run after number `after_seq`, in order, at most `limit` (and
    /// [`MAX_EVENTS`]) rows. The first row may begin at an earlier event. Empty when the run is
    /// unknown or belongs to another user, or its journal was pruned.
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
        // The number comes from a client; there are no events beyond the range of the database.
        let Ok(after) = i64::try_from(after_seq) else { return Ok(Vec::new()) };
        let query = sql::query(EVENTS).bind(owner).bind(run_id).bind(after).bind(limit.min(MAX_EVENTS));
        self.rows(query, journal_row).await
    }

    /// Deletes the journal up to the first event of a run that is active or ended at `ended_before` (Unix time,
    /// milliseconds) or later; the messages keep the content. Returns the number of rows.
    ///
    /// # Errors
    /// The database failed; rows that were deleted before the failure stay deleted.
    pub async fn prune_journal(&self, ended_before: i64) -> Result<u64, StoreError> {
        let mut total = 0;
        loop {
            let pruned = self.write(move |db| Box::pin(prune(db, ended_before))).await?;
            total += pruned;
            if pruned < u64::from(PRUNE_ROWS) {
                return Ok(total);
            }
        }
    }
}

/// Appends within the writer's transaction, for the server with this id.
pub(crate) async fn append(
    db: &mut Db,
    batches: &[JournalBatch],
    own: &Option<String>,
) -> Result<Vec<String>, StoreError> {
    let mut fenced = BTreeSet::new();
    for rows in batches.chunks(MAX_ROWS) {
        let inserted = insert_rows(db, rows, own).await?;
        if inserted < rows.len() as u64 {
            find_fenced(db, rows, own, &mut fenced).await?;
        }
    }
    Ok(fenced.into_iter().collect())
}

async fn insert_rows(db: &mut Db, rows: &[JournalBatch], own: &Option<String>) -> Result<u64, StoreError> {
    if db.is_postgres() {
        return insert_lists(db, rows, own).await;
    }
    // The statement with the smallest power of two that is large enough.
    let sql = &INSERTS[rows.len().next_power_of_two().trailing_zeros() as usize];
    let mut query = sql::query(sql.clone());
    for row in rows {
        query = query
            .bind(row.run_id.as_str())
            .bind(row.epoch.cast_signed())
            .bind(row.first_seq.cast_signed())
            .bind(row.last_seq.cast_signed())
            .bind(row.frames.clone());
    }
    Ok(query.execute(db).await?.rows_affected())
}

async fn insert_lists(db: &mut Db, rows: &[JournalBatch], own: &Option<String>) -> Result<u64, StoreError> {
    let numbers = |of: fn(&JournalBatch) -> u64| rows.iter().map(|row| of(row).cast_signed()).collect::<Vec<_>>();
    let query = sql::query(INSERT_LISTS)
        .bind(rows.iter().map(|row| row.run_id.clone()).collect::<Vec<_>>())
        .bind(numbers(|row| row.epoch))
        .bind(numbers(|row| row.first_seq))
        .bind(numbers(|row| row.last_seq))
        .bind(rows.iter().map(|row| row.frames.clone()).collect::<Vec<_>>())
        .bind(own);
    Ok(query.execute(db).await?.rows_affected())
}

async fn find_fenced(
    db: &mut Db,
    rows: &[JournalBatch],
    own: &Option<String>,
    fenced: &mut BTreeSet<String>,
) -> Result<(), StoreError> {
    for row in rows {
        let find = sql::query_scalar(ACTIVE).bind(&row.run_id).bind(row.epoch.cast_signed()).bind(own);
        let active: bool = find.fetch_one(&mut *db).await?;
        if !active {
            fenced.insert(row.run_id.clone());
        }
    }
    Ok(())
}

async fn prune(db: &mut Db, ended_before: i64) -> Result<u64, StoreError> {
    Ok(sql::query(PRUNE).bind(ended_before).bind(PRUNE_ROWS).execute(db).await?.rows_affected())
}

/// Deletes the events of all runs of a conversation.
pub(crate) async fn delete_conversation_events(
    db: &mut Db,
    owner: &str,
    conversation_id: &str,
) -> Result<(), StoreError> {
    sql::query(DELETE_OF_CONVERSATION).bind(owner).bind(conversation_id).execute(db).await?;
    Ok(())
}

fn journal_row(row: &Row) -> Result<JournalRow, StoreError> {
    Ok(JournalRow {
        first_seq: row.try_get::<i64>("first_seq")?.cast_unsigned(),
        last_seq: row.try_get::<i64>("last_seq")?.cast_unsigned(),
        frames: row.try_get("frames")?,
    })
}
