//! Finds due jobs and assigns them to a worker.

use super::now;
use super::turns::Turns;
use std::collections::HashSet;
use std::time::Duration;
use store::StoreError;
use store::sql::{self, Db, QueryBuilder, Row, Sql};

/// A kind of which a worker takes jobs, and how many at most.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) kind: &'static str,
    pub(crate) most: usize,
}

/// A job that was assigned to this worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) owner: Option<String>,
    pub(crate) payload: String,
    /// Including this one.
    pub(crate) attempts: u32,
    pub(crate) fence: i64,
    pub(crate) created_at: i64,
}

macro_rules! assign {
    ($now:literal, $ids:literal) => {
        concat!(
            "UPDATE jobs SET state = 'running', holder = $1, fence = fence + 1, beat = 0, attempts = attempts + 1,
                cancel_requested = 0, started_at = ",
            $now,
            " WHERE state = 'waiting' AND id ",
            $ids,
            " RETURNING id, kind, owner, payload, attempts, fence, created_at"
        )
    };
}

const ASSIGN: Sql = Sql::pair(
    assign!("CAST(unixepoch('subsec') * 1000 AS INTEGER)", "IN (SELECT value FROM json_each($2))"),
    assign!("now_ms()", "= ANY($2)"),
);

/// Returns how long it takes until a job of these kinds is due; `None` if none waits.
pub(crate) async fn next_due(db: &mut Db, kinds: Vec<&'static str>) -> Result<Option<Duration>, StoreError> {
    let mut find = QueryBuilder::new("SELECT min(due_at) FROM (");
    for (index, kind) in kinds.into_iter().enumerate() {
        find.push(if index == 0 { "" } else { " UNION ALL " });
        find.push("SELECT min(due_at) AS due_at FROM jobs WHERE state = 'waiting' AND kind = ").push_bind(kind);
    }
    find.push(") AS due");
    let row = find.build().fetch_one(&mut *db).await?;
    let Some(due_at) = row.try_get::<Option<i64>>(0_usize)? else { return Ok(None) };
    let wait = due_at.saturating_sub(now(db).await?);
    Ok(Some(Duration::from_millis(u64::try_from(wait).unwrap_or_default())))
}

/// Assigns due jobs to a worker: those of whose owner it is the turn first, then the longest due.
/// `may_take` is asked before each.
pub(crate) async fn claim(
    db: &mut Db,
    worker: &str,
    wanted: &[Wanted],
    turns: &mut Turns,
    mut may_take: impl FnMut(&str) -> bool,
) -> Result<Vec<Claimed>, StoreError> {
    let due = due(db, wanted, turns).await?.into_iter().filter(|due| may_take(due.kind));
    let ids: Vec<String> = due.map(|due| due.id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    assign(db, worker, ids).await
}

/// Assigns waiting jobs to a worker, whether they are due or not.
pub(crate) async fn assign(db: &mut Db, worker: &str, ids: Vec<String>) -> Result<Vec<Claimed>, StoreError> {
    let rows = sql::query(ASSIGN).bind(worker).bind(ids.clone()).fetch_all(db).await?;
    let mut claimed = rows.iter().map(from_row).collect::<Result<Vec<_>, _>>()?;
    // The statement returns them in any order.
    claimed.sort_by_key(|job| ids.iter().position(|id| *id == job.id));
    Ok(claimed)
}

struct DueJob {
    id: String,
    kind: &'static str,
    due_at: i64,
    /// Of more jobs than can run, it is not the one whose turn it is.
    is_later: bool,
}

/// Returns due jobs of each kind, at most as many as are wanted. As long as there are places for all of
/// them, that is one range of the index `jobs_waiting` for each kind, however many jobs wait.
async fn due(db: &mut Db, wanted: &[Wanted], turns: &mut Turns) -> Result<Vec<DueJob>, StoreError> {
    let now = now(&mut *db).await?;
    let mut oldest = oldest_due(db, wanted, now).await?;
    let mut due = Vec::new();
    for Wanted { kind, most } in wanted {
        let of_kind: Vec<_> = oldest.extract_if(.., |job| job.kind == *kind).collect();
        if of_kind.len() <= *most {
            due.extend(of_kind);
            continue;
        }
        let turn = turns.next(db, kind, now, *most).await?;
        let taken: HashSet<_> = turn.iter().map(|turn| turn.id.clone()).collect();
        let others = of_kind.into_iter().filter(|job| !taken.contains(&job.id)).take(most - turn.len());
        due.extend(others.map(|job| DueJob { is_later: true, ..job }));
        due.extend(turn.into_iter().map(|turn| DueJob { id: turn.id, kind, due_at: turn.due_at, is_later: false }));
    }
    due.sort_by(|a, b| (a.is_later, a.due_at, &a.id).cmp(&(b.is_later, b.due_at, &b.id)));
    Ok(due)
}

/// Returns the jobs of each kind that are due for the longest time: one more than are wanted, if there
/// are more.
async fn oldest_due(db: &mut Db, wanted: &[Wanted], now: i64) -> Result<Vec<DueJob>, StoreError> {
    let rows = find_due(QueryBuilder::new(""), wanted, now).build().fetch_all(db).await?;
    let mut due = Vec::new();
    for row in &rows {
        let name: &str = row.try_get("kind")?;
        // There are no others.
        let Some(Wanted { kind, .. }) = wanted.iter().find(|wanted| wanted.kind == name) else { continue };
        due.push(DueJob { id: row.try_get("id")?, kind, due_at: row.try_get("due_at")?, is_later: false });
    }
    Ok(due)
}

fn find_due(mut find: QueryBuilder, wanted: &[Wanted], now: i64) -> QueryBuilder {
    find.push("SELECT id, kind, due_at FROM (");
    for (index, Wanted { kind, most }) in wanted.iter().enumerate() {
        find.push(if index == 0 { "" } else { " UNION ALL " });
        find.push("SELECT * FROM (SELECT id, kind, due_at FROM jobs WHERE state = 'waiting' AND kind = ");
        find.push_bind(*kind).push(" AND due_at <= ").push_bind(now).push(" ORDER BY due_at, id LIMIT ");
        find.push_bind(i64::try_from(*most).map_or(i64::MAX, |most| most.saturating_add(1))).push(") AS one");
    }
    find.push(") AS due");
    find
}

fn from_row(row: &Row) -> Result<Claimed, StoreError> {
    Ok(Claimed {
        id: row.try_get("id")?,
        kind: row.try_get("kind")?,
        owner: row.try_get("owner")?,
        payload: row.try_get("payload")?,
        attempts: u32::try_from(row.try_get::<i64>("attempts")?).unwrap_or(u32::MAX),
        fence: row.try_get("fence")?,
        created_at: row.try_get("created_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::turns;
    use store::Store;

    /// Claiming does not read the jobs that wait.
    #[tokio::test]
    async fn due_jobs_are_found_by_the_index() {
        for url in test_postgres::databases_of_each_kind().await {
            let store = Store::open(&url).await.unwrap();
            let [oldest, turns] = store.write(|db| Box::pin(plans(db))).await.unwrap();
            assert_eq!(oldest.matches("jobs_waiting").count(), 2, "{oldest}");
            assert!(turns.matches("jobs_of_turns").count() >= 6, "{turns}");
            for plan in [oldest, turns] {
                assert!(!plan.contains("Seq Scan") && !plan.contains("SCAN jobs"), "{plan}");
            }
            store.close().await;
        }
    }

    async fn plans(db: &mut Db) -> Result<[String; 2], StoreError> {
        let fill = "
            WITH RECURSIVE numbers (no) AS (SELECT 1 UNION ALL SELECT no + 1 FROM numbers WHERE no < 20000)
            INSERT INTO jobs (id, kind, owner, payload, due_at, created_at)
            SELECT CAST(no AS TEXT), 'a', CAST(no % 100 AS TEXT), '{}', no, 0 FROM numbers";
        sql::query(fill).execute(&mut *db).await?;
        sql::query("ANALYZE jobs").execute(&mut *db).await?;
        let wanted = [Wanted { kind: "a", most: 4 }, Wanted { kind: "b", most: 4 }];
        let explain = find_due(QueryBuilder::new(Sql::pair("EXPLAIN QUERY PLAN ", "EXPLAIN ")), &wanted, 50);
        let is_postgres = db.is_postgres();
        let line =
            |row: &Row| if is_postgres { row.try_get::<String>(0_usize) } else { row.try_get::<String>("detail") };
        let mut plans = [String::new(), String::new()];
        for (plan, explain) in plans.iter_mut().zip([explain.build(), turns::explain("a", 50, 4)]) {
            let rows = explain.fetch_all(db).await?;
            *plan = rows.iter().map(|row| line(row).unwrap()).collect::<Vec<_>>().join("\n");
        }
        Ok(plans)
    }
}
