//! Runs statements within their limits.

use super::statement_result::StatementResult;
use super::{SqlAccess, SqlBackend, SqlConnection};
use dialect::Statement;
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::time::Instant;

impl SqlConnection {
    /// Runs a statement. Returns a list of rows for one that reads, otherwise `{rowsAffected}`,
    /// with `rows` if the statement returned any. Dropping the future cancels the statement in the
    /// database.
    ///
    /// # Errors
    /// A message for the caller about the statement or its parameters, without paths and URLs.
    pub(crate) async fn run(
        &self,
        statement: &Statement,
        access: SqlAccess,
        parameters: &Map<String, Value>,
    ) -> Result<Value, String> {
        if self.read_only && access == SqlAccess::Write {
            return Err("the connection is read-only".to_owned());
        }
        let values = parameter_values(statement, parameters)?;
        let mut answer = StatementResult::new(self.limits);
        let (time, begun) = (self.limits.timeout, Instant::now());
        let running = async {
            match &self.backend {
                SqlBackend::Sqlite(database) => database.run(statement, access, &values, &mut answer).await,
                SqlBackend::Postgres(database) => database.run(statement, access, &values, time, &mut answer).await,
            }
        };
        let ended = tokio::time::timeout(time, running).await;
        match ended {
            Ok(Ok(())) => Ok(answer.into_value(access)),
            // On a busy machine, the limit of the database itself may end the statement before this timer is polled.
            Ok(Err(message)) if begun.elapsed() < time => Err(message),
            _ => Err(timeout_message(time)),
        }
    }
}

/// Returns the error message of a statement that exceeded its time limit.
pub(super) fn timeout_message(time: Duration) -> String {
    format!("the statement did not finish within {} s", time.as_secs_f64())
}

/// Returns the values of the parameters in order.
fn parameter_values<'a>(statement: &Statement, parameters: &'a Map<String, Value>) -> Result<Vec<&'a Value>, String> {
    let value = |name| parameters.get(name).ok_or_else(|| format!("the parameter `{name}` is missing"));
    statement.names().iter().map(|name| value(name.as_str())).collect()
}
