//! Running a statement.

use super::{Sqlite, value};
use crate::sql::Access;
use crate::sql::answer::Answer;
use dialect::Statement;
use futures::TryStreamExt;
use serde_json::Value;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Either, Executor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many instructions SQLite runs before it asks whether to go on: well under a millisecond's worth.
const ASK_EVERY: i32 = 1_000;

impl Sqlite {
    /// Runs a statement; see [`crate::sql::Sql::run`].
    pub(in crate::sql) async fn run(
        &self,
        statement: &Statement,
        access: Access,
        values: &[&Value],
        answer: &mut Answer,
    ) -> Result<(), String> {
        let arguments = bind(values)?;
        let mut connection = self.pool.acquire().await.map_err(explain)?;
        let _ends = interrupt_on_drop(&mut connection).await.map_err(explain)?;
        connection.execute(guard(access)).await.map_err(explain)?;
        let sql = statement.text(|at| format!("?{}", at + 1));
        let mut stream = connection.fetch_many(sqlx::query_with(AssertSqlSafe(sql), arguments));
        while let Some(next) = stream.try_next().await.map_err(explain)? {
            match next {
                Either::Left(done) => answer.add_affected(done.rows_affected()),
                Either::Right(row) => answer.add(value::object(&row))?,
            }
        }
        Ok(())
    }
}

/// Each statement says anew what it may do: connections are shared, and the one before may have been allowed more.
fn guard(access: Access) -> &'static str {
    match access {
        Access::Read => "PRAGMA query_only = 1",
        Access::Write => "PRAGMA query_only = 0",
    }
}

/// Tells the connection's thread to let go when nobody waits for the statement any more: because it took too long, or because
/// its caller has gone. Otherwise it would run on, and the next statement would wait for it.
async fn interrupt_on_drop(connection: &mut PoolConnection<sqlx::Sqlite>) -> Result<StopOnDrop, sqlx::Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    connection.lock_handle().await?.set_progress_handler(ASK_EVERY, move || !asked.load(Ordering::Relaxed));
    Ok(StopOnDrop(stop))
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn bind(values: &[&Value]) -> Result<SqliteArguments, String> {
    let mut arguments = SqliteArguments::default();
    values.iter().try_for_each(|value| value::bind(&mut arguments, value)).map_err(|error| error.to_string())?;
    Ok(arguments)
}

/// What the caller may know. What SQLite says about a statement is about the config's text; what it says about files is not told.
fn explain(error: sqlx::Error) -> String {
    tracing::warn!(%error, "a statement failed");
    let sqlx::Error::Database(error) = &error else {
        return "the database failed".to_owned();
    };
    let code = error.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or_default();
    // The primary result code: https://sqlite.org/rescode.html
    match code & 0xff {
        // ERROR, READONLY, TOOBIG, CONSTRAINT, MISMATCH, AUTH
        1 | 8 | 18 | 19 | 20 | 23 => error.message().to_owned(),
        // BUSY, LOCKED
        5 | 6 => "the database is busy; try again".to_owned(),
        _ => "the database failed".to_owned(),
    }
}
