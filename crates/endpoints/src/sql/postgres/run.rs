//! Running a statement.

use super::bind;
use super::fault::{Fault, Then};
use super::{Postgres, value};
use crate::sql::Access;
use crate::sql::answer::Answer;
use dialect::Statement;
use futures::TryStreamExt;
use serde_json::Value;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Either, Executor};
use std::time::Duration;

impl Postgres {
    /// Runs a statement; see [`crate::sql::Sql::run`]. `time` is for the database, which may notice late that nobody waits.
    pub(in crate::sql) async fn run(
        &self,
        statement: &Statement,
        access: Access,
        values: &[&Value],
        time: Duration,
        answer: &mut Answer,
    ) -> Result<(), String> {
        self.fill_once(time).await?;
        let mut lease = self.lease().await?;
        let mut again = true;
        loop {
            lease.begin(access, time).await.map_err(|fault| fault.text)?;
            let done = execute(lease.connection(), statement, values, answer).await;
            match lease.end(done).await {
                // Nothing has run, and the connection knows better now.
                Err(fault) if fault.then == Then::Forget && again => again = false,
                done => return done.map_err(|fault| fault.text),
            }
        }
    }
}

async fn execute(
    connection: &mut PgConnection,
    statement: &Statement,
    values: &[&Value],
    answer: &mut Answer,
) -> Result<(), Fault> {
    let (sql, arguments) = bind::bind(connection, statement, values).await?;
    let mut stream = connection.fetch_many(sqlx::query_with(AssertSqlSafe(sql), arguments));
    while let Some(next) = stream.try_next().await? {
        match next {
            Either::Left(done) => answer.add_affected(done.rows_affected()),
            Either::Right(row) => value::object(&row).and_then(|row| answer.add(row)).map_err(Fault::amid)?,
        }
    }
    Ok(())
}
