//! Running a statement, within its limits.

use super::answer::Answer;
use super::{Access, Database, Sql};
use dialect::Statement;
use serde_json::{Map, Value};
use std::time::Duration;

impl Sql {
    /// Runs a statement: a list of rows for one that reads, `{rowsAffected}` for one that writes, with `rows` if it returns any.
    /// When the future is dropped, the database stops.
    ///
    /// # Errors
    /// For the caller: what is wrong with the statement or its parameters, without paths and addresses.
    pub(crate) async fn run(
        &self,
        statement: &Statement,
        access: Access,
        parameters: &Map<String, Value>,
    ) -> Result<Value, String> {
        if self.read_only && access == Access::Write {
            return Err("the connection is read-only".to_owned());
        }
        let values = values(statement, parameters)?;
        let mut answer = Answer::new(self.limits);
        let time = self.limits.time;
        let running = async {
            match &self.database {
                Database::Sqlite(database) => database.run(statement, access, &values, &mut answer).await,
                Database::Postgres(database) => database.run(statement, access, &values, time, &mut answer).await,
            }
        };
        tokio::time::timeout(time, running).await.unwrap_or_else(|_| Err(too_slow(time)))?;
        Ok(answer.into_value(access))
    }
}

/// That a statement took longer than it may.
pub(super) fn too_slow(time: Duration) -> String {
    format!("the statement did not finish within {} s", time.as_secs_f64())
}

/// The value of each parameter.
fn values<'a>(statement: &Statement, parameters: &'a Map<String, Value>) -> Result<Vec<&'a Value>, String> {
    let value = |name| parameters.get(name).ok_or_else(|| format!("the parameter `{name}` is not given"));
    statement.names().iter().map(|name| value(name.as_str())).collect()
}
