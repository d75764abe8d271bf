//! Filling a new database, once.

use super::Postgres;
use super::fault::Fault;
use crate::sql::Access;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor};
use std::time::Duration;
use tokio::sync::OnceCell;

/// Two servers that start at once fill a database once: who fills it holds this lock, a number like any other.
const LOCK: i64 = 0x6368_6174_7772;

/// SQL for a database without tables, and whether it was looked at.
pub(super) struct Init {
    sql: Option<String>,
    done: OnceCell<()>,
}

impl Init {
    pub(super) fn new(sql: Option<String>) -> Self {
        Self { sql, done: OnceCell::new() }
    }
}

impl Postgres {
    /// Fills the database if it has no tables yet. Asked before each statement; one that failed is tried again.
    ///
    /// # Errors
    /// For the caller.
    pub(super) async fn fill_once(&self, time: Duration) -> Result<(), String> {
        let Some(sql) = &self.init.sql else { return Ok(()) };
        self.init.done.get_or_try_init(|| self.fill(sql, time)).await.copied()
    }

    async fn fill(&self, sql: &str, time: Duration) -> Result<(), String> {
        let mut lease = self.lease().await?;
        // A role that may only read never tries to write.
        lease.begin(Access::Read, time).await.map_err(|fault| fault.text)?;
        let known = has_tables(lease.connection()).await;
        if lease.end(known).await.map_err(|fault| fault.text)? {
            return Ok(());
        }
        lease.begin(Access::Write, time).await.map_err(|fault| fault.text)?;
        let filled = fill_alone(lease.connection(), sql).await;
        lease.end(filled).await.map_err(|fault| format!("the database could not be set up: {}", fault.text))
    }
}

/// Looks again when nobody else can be at it.
async fn fill_alone(connection: &mut PgConnection, sql: &str) -> Result<(), Fault> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *connection).await?;
    if !has_tables(connection).await? {
        // The config's own text.
        connection.execute(AssertSqlSafe(sql.to_owned())).await?;
    }
    Ok(())
}

/// Whether the schema that new tables go to has any table or view.
async fn has_tables(connection: &mut PgConnection) -> Result<bool, Fault> {
    let tables = "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                  WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f'))";
    Ok(sqlx::query_scalar(tables).fetch_one(connection).await?)
}
