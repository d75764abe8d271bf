//! Initializes a new database, once.

use super::Postgres;
use super::fault::StatementFault;
use crate::sql::SqlAccess;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor};
use std::time::Duration;
use tokio::sync::OnceCell;

/// The advisory lock that serializes the initialization by several servers; an arbitrary number.
const INIT_LOCK: i64 = 0x6368_6174_7772;

/// SQL for a database without tables, and whether the database was checked.
pub(super) struct DatabaseInit {
    sql: Option<String>,
    done: OnceCell<()>,
}

impl DatabaseInit {
    pub(super) fn new(sql: Option<String>) -> Self {
        Self { sql, done: OnceCell::new() }
    }
}

impl Postgres {
    /// Initializes the database if it has no tables yet. Called before every statement; a failed
    /// attempt is repeated by the next one.
    ///
    /// # Errors
    /// A message for the caller.
    pub(super) async fn init_once(&self, time: Duration) -> Result<(), String> {
        let Some(sql) = &self.init.sql else { return Ok(()) };
        self.init.done.get_or_try_init(|| self.run_init(sql, time)).await.copied()
    }

    async fn run_init(&self, sql: &str, time: Duration) -> Result<(), String> {
        let mut lease = self.lease_connection().await?;
        // Read-only, so that a role without write access can be used.
        lease.begin(SqlAccess::Read, time).await.map_err(|fault| fault.message)?;
        let known = has_tables(lease.connection()).await;
        if lease.end(known).await.map_err(|fault| fault.message)? {
            return Ok(());
        }
        lease.begin(SqlAccess::Write, time).await.map_err(|fault| fault.message)?;
        let filled = init_locked(lease.connection(), sql).await;
        lease.end(filled).await.map_err(|fault| format!("the database could not be set up: {}", fault.message))
    }
}

/// Checks again under the lock, and runs the SQL.
async fn init_locked(connection: &mut PgConnection, sql: &str) -> Result<(), StatementFault> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(INIT_LOCK).execute(&mut *connection).await?;
    if !has_tables(connection).await? {
        // The SQL is from the config.
        connection.execute(AssertSqlSafe(sql.to_owned())).await?;
    }
    Ok(())
}

/// Returns whether the schema in which new tables are created has any table or view.
async fn has_tables(connection: &mut PgConnection) -> Result<bool, StatementFault> {
    let tables = "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                  WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f'))";
    Ok(sqlx::query_scalar(tables).fetch_one(connection).await?)
}
