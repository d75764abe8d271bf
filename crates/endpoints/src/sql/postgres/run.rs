//! Runs statements.

use super::bind;
use super::fault::{ConnectionAction, StatementFault};
use super::{Postgres, value};
use crate::sql::SqlAccess;
use crate::sql::statement_result::StatementResult;
use dialect::Statement;
use futures::TryStreamExt;
use serde_json::Value;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Either, Executor};
use std::time::Duration;

impl Postgres {
    /// Runs a statement; see [`crate::sql::SqlConnection::run`]. `time` is enforced by the database,
    /// too, because it may notice late that the client has gone.
    pub(in crate::sql) async fn run(
        &self,
        statement: &Statement,
        access: SqlAccess,
        values: &[&Value],
        time: Duration,
        answer: &mut StatementResult,
    ) -> Result<(), String> {
        self.init_once(time).await?;
        let mut lease = self.lease_connection().await?;
        let mut again = true;
        loop {
            lease.begin(access, time).await.map_err(|fault| fault.message)?;
            let done = execute(lease.connection(), statement, values, answer).await;
            match lease.end(done).await {
                // No statement was run, and the prepared statements were cleared.
                Err(fault) if fault.connection == ConnectionAction::ClearStatements && again => again = false,
                done => return done.map_err(|fault| fault.message),
            }
        }
    }
}

async fn execute(
    connection: &mut PgConnection,
    statement: &Statement,
    values: &[&Value],
    answer: &mut StatementResult,
) -> Result<(), StatementFault> {
    let (sql, arguments) = bind::bind(connection, statement, values).await?;
    let mut stream = connection.fetch_many(sqlx::query_with(AssertSqlSafe(sql), arguments));
    while let Some(next) = stream.try_next().await? {
        match next {
            Either::Left(done) => answer.add_affected(done.rows_affected()),
            Either::Right(row) => {
                value::row_object(&row).and_then(|row| answer.add_row(row)).map_err(StatementFault::during_fetch)?
            }
        }
    }
    Ok(())
}
