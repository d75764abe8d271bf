//! Finds due jobs and assigns them to a worker.

use super::now;
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

/// Assigns due jobs to a worker, the longest due first. `may_take` is asked before each.
pub(crate) async fn claim(
    db: &mut Db,
    worker: &str,
    wanted: &[Wanted],
    mut may_take: impl FnMut(&str) -> bool,
) -> Result<Vec<Claimed>, StoreError> {
    let due = due(db, wanted).await?.into_iter().filter(|due| may_take(&due.kind));
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
    kind: String,
}

/// Returns jobs of each kind that are due, the longest due first. One range of the index
/// `jobs_waiting` for each kind, however many jobs wait.
async fn due(db: &mut Db, wanted: &[Wanted]) -> Result<Vec<DueJob>, StoreError> {
    let now = now(&mut *db).await?;
    let rows = find_due(QueryBuilder::new(""), wanted, now).build().fetch_all(db).await?;
    rows.iter().map(|row| Ok(DueJob { id: row.try_get("id")?, kind: row.try_get("kind")? })).collect()
}

fn find_due(mut find: QueryBuilder, wanted: &[Wanted], now: i64) -> QueryBuilder {
    find.push("SELECT id, kind, due_at FROM (");
    for (index, Wanted { kind, most }) in wanted.iter().enumerate() {
        find.push(if index == 0 { "" } else { " UNION ALL " });
        find.push("SELECT * FROM (SELECT id, kind, due_at FROM jobs WHERE state = 'waiting' AND kind = ");
        find.push_bind(*kind).push(" AND due_at <= ").push_bind(now).push(" ORDER BY due_at, id LIMIT ");
        find.push_bind(i64::try_from(*most).unwrap_or(i64::MAX)).push(") AS one");
    }
    find.push(") AS due ORDER BY due_at, id");
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
    use store::Store;

    /// Claiming does not read the jobs that wait.
    #[tokio::test]
    async fn due_jobs_are_found_by_the_index() {
        let mut urls = vec!["sqlite::memory:".to_owned()];
        urls.extend(test_postgres::new_database().await);
        for url in urls {
            let store = Store::open(&url).await.unwrap();
            let plan = store.write(|db| Box::pin(plan(db))).await.unwrap();
            assert_eq!(plan.matches("jobs_waiting").count(), 2, "{plan}");
            assert!(!plan.contains("Seq Scan") && !plan.contains("SCAN jobs"), "{plan}");
            store.close().await;
        }
    }

    async fn plan(db: &mut Db) -> Result<String, StoreError> {
        let fill = "
            WITH RECURSIVE numbers (no) AS (SELECT 1 UNION ALL SELECT no + 1 FROM numbers WHERE no < 20000)
            INSERT INTO jobs (id, kind, payload, due_at, created_at)
            SELECT CAST(no AS TEXT), 'a', '{}', no, 0 FROM numbers";
        sql::query(fill).execute(&mut *db).await?;
        sql::query("ANALYZE jobs").execute(&mut *db).await?;
        let wanted = [Wanted { kind: "a", most: 4 }, Wanted { kind: "b", most: 4 }];
        let explain = find_due(QueryBuilder::new(Sql::pair("EXPLAIN QUERY PLAN ", "EXPLAIN ")), &wanted, 50);
        let is_postgres = db.is_postgres();
        let rows = explain.build().fetch_all(db).await?;
        let line =
            |row: &Row| if is_postgres { row.try_get::<String>(0_usize) } else { row.try_get::<String>("detail") };
        Ok(rows.iter().map(|row| line(row).unwrap()).collect::<Vec<_>>().join("\n"))
    }
}
