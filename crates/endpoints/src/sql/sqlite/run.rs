//! Running a statement, within its limits.

use super::{Access, Sql, Statement, value};
use futures::TryStreamExt;
use serde_json::{Map, Value, json};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{Sqlite, SqliteArguments};
use sqlx::{AssertSqlSafe, Either, Executor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many instructions SQLite runs before it asks whether to go on: well under a millisecond's worth.
const ASK_EVERY: i32 = 1_000;

/// What a statement answered.
struct Answer {
    rows: Vec<Value>,
    rows_affected: u64,
}

impl Sql {
    /// Runs a statement: a list of rows for one that reads, `{rowsAffected}` for one that writes, with `rows` if it returns any.
    ///
    /// # Errors
    /// For the caller: what is wrong with the statement or its parameters, without paths.
    pub(crate) async fn run(
        &self,
        statement: &Statement,
        access: Access,
        parameters: &Map<String, Value>,
    ) -> Result<Value, String> {
        if self.read_only && access == Access::Write {
            return Err("the connection is read-only".to_owned());
        }
        let arguments = bind(statement, parameters)?;
        let answer = tokio::time::timeout(self.limits.time, self.answer(statement, access, arguments));
        let Ok(answer) = answer.await else {
            return Err(format!("the statement did not finish within {} s", self.limits.time.as_secs_f64()));
        };
        let Answer { rows, rows_affected } = answer?;
        Ok(match access {
            Access::Read => Value::Array(rows),
            Access::Write if rows.is_empty() => json!({ "rowsAffected": rows_affected }),
            Access::Write => json!({ "rowsAffected": rows_affected, "rows": rows }),
        })
    }

    async fn answer(
        &self,
        statement: &Statement,
        access: Access,
        arguments: SqliteArguments,
    ) -> Result<Answer, String> {
        let mut connection = self.pool.acquire().await.map_err(explain)?;
        let _ends = interrupt_on_drop(&mut connection).await.map_err(explain)?;
        connection.execute(guard(access)).await.map_err(explain)?;
        let query = sqlx::query_with(AssertSqlSafe(statement.sql.clone()), arguments);
        let mut stream = connection.fetch_many(query);
        let (mut answer, mut bytes) = (Answer { rows: Vec::new(), rows_affected: 0 }, 0);
        while let Some(next) = stream.try_next().await.map_err(explain)? {
            let row = match next {
                Either::Left(done) => {
                    answer.rows_affected += done.rows_affected();
                    continue;
                }
                Either::Right(row) => value::object(&row),
            };
            bytes += value::size(&row);
            if answer.rows.len() == self.limits.rows {
                return Err(format!(
                    "the answer has more than {} rows; give the statement a `limit`",
                    self.limits.rows
                ));
            }
            if bytes > self.limits.bytes {
                return Err(format!("the answer has more than {} bytes; select less", self.limits.bytes));
            }
            answer.rows.push(Value::Object(row));
        }
        Ok(answer)
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
async fn interrupt_on_drop(connection: &mut PoolConnection<Sqlite>) -> Result<StopOnDrop, sqlx::Error> {
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

fn bind(statement: &Statement, parameters: &Map<String, Value>) -> Result<SqliteArguments, String> {
    let mut arguments = SqliteArguments::default();
    for name in &statement.names {
        let value = parameters.get(name).ok_or_else(|| format!("the parameter `{name}` is not given"))?;
        value::bind(&mut arguments, value).map_err(|error| error.to_string())?;
    }
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
