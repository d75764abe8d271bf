//! Table `agent_run_approvers`: the roles whose users decide on the calls of a run without a
//! conversation, until it ends.

use crate::sql::{self, Db, QueryBuilder, Row};
use crate::{Store, StoreError};
use serde_json::Value;

const INSERT: &str = "INSERT INTO agent_run_approvers (run_id, role) VALUES ($1, $2)";
const ROLES: &str = "SELECT role FROM agent_run_approvers WHERE run_id = $1 ORDER BY role";
const WAITING_BEFORE_USER: &str = "
    SELECT i.id, i.owner, i.agent_id, i.created_at, a.caller, a.questions, a.updated_at
    FROM invocations i JOIN agent_runs a ON a.id = i.id
    WHERE i.status = 'running' AND a.phase = 'waiting' AND a.questions IS NOT NULL
    AND ((a.owner = ";
const WAITING_BEFORE_ROLES: &str = " AND NOT EXISTS (SELECT 1 FROM agent_run_approvers r WHERE r.run_id = a.id))
        OR i.id IN (SELECT run_id FROM agent_run_approvers WHERE role IN (";

const AFTER: &str = "))) AND (i.created_at > ";
const AFTER_EQUAL: &str = " OR i.created_at = ";
const AFTER_ID: &str = " AND i.id > ";
const ORDER: &str = ") ORDER BY i.created_at, i.id LIMIT ";

/// A run that waits for the decision of its owner, or of a user with one of its roles.
#[derive(Clone, Debug, PartialEq)]
pub struct UndecidedRunRow {
    /// Its id.
    pub id: String,
    /// The user for whom it runs.
    pub owner: String,
    /// The agent.
    pub agent_id: String,
    /// As whom it runs, as JSON.
    pub caller: String,
    /// The questions, as JSON.
    pub questions: Value,
    /// When it was requested; Unix time, milliseconds.
    pub created_at: i64,
    /// When it began to wait, or a part of its questions was answered; Unix time, milliseconds.
    pub changed_at: i64,
}

/// Adds the roles of a run, each once.
pub(super) async fn insert(db: &mut Db, run_id: &str, roles: &[String]) -> Result<(), StoreError> {
    for role in roles {
        sql::query(INSERT).bind(run_id).bind(role).execute(&mut *db).await?;
    }
    Ok(())
}

/// Returns the roles of a run.
pub(super) async fn roles(db: &mut Db, run_id: &str) -> Result<Vec<String>, StoreError> {
    let rows = sql::query(ROLES).bind(run_id).fetch_all(db).await?;
    rows.iter().map(|row| Ok(row.try_get("role")?)).collect()
}

impl Store {
    /// Returns the runs that wait for this user, who has these roles, oldest first, at most `limit`: those after a
    /// time of creation and an id.
    ///
    /// # Errors
    /// The database failed.
    pub async fn undecided_runs(
        &self,
        user_id: &str,
        roles: &[String],
        after: (i64, &str),
        limit: u32,
    ) -> Result<Vec<UndecidedRunRow>, StoreError> {
        let mut find = QueryBuilder::new(WAITING_BEFORE_USER);
        find.push_bind(user_id).push(WAITING_BEFORE_ROLES);
        for (at, role) in roles.iter().enumerate() {
            find.push(if at == 0 { "" } else { ", " }).push_bind(role.as_str());
        }
        if roles.is_empty() {
            find.push("NULL");
        }
        let (at, id) = after;
        find.push(AFTER).push_bind(at).push(AFTER_EQUAL).push_bind(at).push(AFTER_ID).push_bind(id);
        find.push(ORDER).push_bind(limit);
        let find = find.build();
        self.rows(find, read).await
    }
}

fn read(row: &Row) -> Result<UndecidedRunRow, StoreError> {
    let questions = serde_json::from_str(row.try_get("questions")?);
    Ok(UndecidedRunRow {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        agent_id: row.try_get("agent_id")?,
        caller: row.try_get("caller")?,
        questions: questions.map_err(|error| StoreError::Failed(error.to_string()))?,
        created_at: row.try_get("created_at")?,
        changed_at: row.try_get("updated_at")?,
    })
}
