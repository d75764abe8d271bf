//! Runs statements.

use super::{Sqlite, value};
use crate::sql::statement_result::StatementResult;
use crate::sql::{BUSY, FAILED, SqlAccess};
use dialect::Statement;
use futures::TryStreamExt;
use serde_json::Value;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Either, Executor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of instructions between two calls of the progress handler: well under a millisecond.
const PROGRESS_INTERVAL: i32 = 1_000;

impl Sqlite {
    /// Runs a statement; see [`crate::sql::SqlConnection::run`].
    pub(in crate::sql) async fn run(
        &self,
        statement: &Statement,
        access: SqlAccess,
        values: &[&Value],
        answer: &mut StatementResult,
    ) -> Result<(), String> {
        let arguments = bind_all(values)?;
        let mut connection = self.pool.acquire().await.map_err(error_message)?;
        let _ends = interrupt_on_drop(&mut connection).await.map_err(error_message)?;
        connection.execute(access_pragma(access)).await.map_err(error_message)?;
        let sql = statement.render(|at| format!("?{}", at + 1));
        let mut stream = connection.fetch_many(sqlx::query_with(AssertSqlSafe(sql), arguments));
        while let Some(next) = stream.try_next().await.map_err(error_message)? {
            match next {
                Either::Left(done) => answer.add_affected(done.rows_affected()),
                Either::Right(row) => answer.add_row(value::row_object(&row))?,
            }
        }
        Ok(())
    }
}

/// Returns the pragma for the access mode. It is set for each statement, because connections are
/// shared and an earlier statement may have had another mode.
fn access_pragma(access: SqlAccess) -> &'static str {
    match access {
        SqlAccess::Read => "PRAGMA query_only = 1",
        SqlAccess::Write => "PRAGMA query_only = 0",
    }
}

/// Interrupts the statement when the returned value is dropped, because of a timeout or because the
/// caller has gone. Otherwise it would continue and block the next statement.
async fn interrupt_on_drop(connection: &mut PoolConnection<sqlx::Sqlite>) -> Result<InterruptOnDrop, sqlx::Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    connection.lock_handle().await?.set_progress_handler(PROGRESS_INTERVAL, move || !asked.load(Ordering::Relaxed));
    Ok(InterruptOnDrop(stop))
}

struct InterruptOnDrop(Arc<AtomicBool>);

impl Drop for InterruptOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn bind_all(values: &[&Value]) -> Result<SqliteArguments, String> {
    let mut arguments = SqliteArguments::default();
    values.iter().try_for_each(|value| value::bind(&mut arguments, value)).map_err(|error| error.to_string())?;
    Ok(arguments)
}

/// Returns the message for the caller. Errors of statements concern the text from the config;
/// errors of files are only logged.
fn error_message(error: sqlx::Error) -> String {
    tracing::warn!(%error, "a statement failed");
    let sqlx::Error::Database(error) = &error else {
        return FAILED.to_owned();
    };
    let code = error.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or_default();
    // The primary result code: <https://sqlite.org/rescode.html>
    match code & 0xff {
        // ERROR, READONLY, TOOBIG, CONSTRAINT, MISMATCH, AUTH
        1 | 8 | 18 | 19 | 20 | 23 => error.message().to_owned(),
        // BUSY, LOCKED
        5 | 6 => BUSY.to_owned(),
        _ => FAILED.to_owned(),
    }
}
