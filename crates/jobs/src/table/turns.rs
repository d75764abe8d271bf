//! Whose turn it is if more jobs of a kind are due than can run: each owner gets one place after the
//! other, however many jobs another one has.

use std::collections::HashMap;
use store::StoreError;
use store::sql::{self, Db, Sql};

/// The most owners that are looked at for one claim. Many may have jobs that are not due; the next claim
/// goes on behind the last one.
const MOST_OWNERS: i64 = 500;

/// The owner whose turn was last, of each kind. The server, whose jobs have no owner, is `''`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(HashMap<&'static str, String>);

/// The oldest due job of an owner whose turn it is.
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) due_at: i64,
}

/// The owner after `$owner`, or the first one after the last.
macro_rules! owner_after {
    ($owner:literal, $index:literal) => {
        concat!(
            "coalesce(
                (SELECT coalesce(owner, '') FROM jobs",
            $index,
            " WHERE state = 'waiting' AND kind = $1 AND coalesce(owner, '') > ",
            $owner,
            " ORDER BY coalesce(owner, '') LIMIT 1),
                (SELECT coalesce(owner, '') FROM jobs",
            $index,
            " WHERE state = 'waiting' AND kind = $1 ORDER BY coalesce(owner, '') LIMIT 1))"
        )
    };
}

/// Goes from owner to owner of the kind `$1`, behind `$2`, until there are `$4` who have a due job at
/// the time `$3`, all owners had their turn, or `$5` were looked at. One search in the index
/// `jobs_of_turns` for each owner, however many jobs wait.
macro_rules! next {
    ($explain:literal, $index:literal) => {
        concat!(
            $explain,
            "WITH RECURSIVE turns (owner, first, no) AS (
                SELECT ",
            owner_after!("$2", $index),
            ", ",
            owner_after!("$2", $index),
            ", CAST(1 AS BIGINT)
                UNION ALL
                SELECT ",
            owner_after!("turns.owner", $index),
            ", turns.first, turns.no + 1
                FROM turns WHERE turns.no < $5 AND (turns.no = 1 OR turns.owner <> turns.first)
            )
            SELECT one.owner, one.id, (SELECT jobs.due_at FROM jobs WHERE jobs.id = one.id) AS due_at
            FROM (
                SELECT turns.owner, turns.no, (
                    SELECT jobs.id FROM jobs",
            $index,
            " WHERE jobs.state = 'waiting' AND jobs.kind = $1 AND coalesce(jobs.owner, '') = turns.owner AND jobs.due_at <= $3
                    ORDER BY jobs.due_at, jobs.id LIMIT 1) AS id
                FROM turns WHERE turns.no = 1 OR turns.owner <> turns.first
            ) AS one
            WHERE one.id IS NOT NULL OR one.no = $5
            LIMIT $4"
        )
    };
}

/// SQLite would read and sort all jobs if most of them are of one kind.
const NEXT: Sql = Sql::pair(next!("", " INDEXED BY jobs_of_turns"), next!("", ""));

impl Turns {
    /// Returns the oldest due job of each of the next owners, at most `most`.
    pub(super) async fn next(
        &mut self,
        db: &mut Db,
        kind: &'static str,
        now: i64,
        most: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let rows = find(NEXT, kind, self.last(kind), now, most).fetch_all(db).await?;
        let mut turns = Vec::new();
        for row in &rows {
            self.0.insert(kind, row.try_get("owner")?);
            if let Some(id) = row.try_get("id")? {
                turns.push(Turn { id, due_at: row.try_get("due_at")? });
            }
        }
        Ok(turns)
    }

    fn last(&self, kind: &str) -> &str {
        self.0.get(kind).map_or("", String::as_str)
    }
}

fn find(sql: Sql, kind: &'static str, after: &str, now: i64, most: usize) -> sql::Query {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    sql::query(sql).bind(kind).bind(after).bind(now).bind(most).bind(MOST_OWNERS)
}

/// Explains the search; for tests of its plan.
#[cfg(test)]
pub(super) fn explain(kind: &'static str, now: i64, most: usize) -> sql::Query {
    find(
        Sql::pair(next!("EXPLAIN QUERY PLAN ", " INDEXED BY jobs_of_turns"), next!("EXPLAIN ", "")),
        kind,
        "",
        now,
        most,
    )
}
