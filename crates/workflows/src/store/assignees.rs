//! Table `workflow_task_assignees`: who may answer a question.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// A user or a role who may answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Assignee {
    Role(String),
    User(String),
}

impl Assignee {
    /// Returns the kind that is stored, and the name of the role or the id of the user.
    pub(crate) fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Role(name) => ("role", name),
            Self::User(id) => ("user", id),
        }
    }
}

const INSERT: &str = "
    INSERT INTO workflow_task_assignees (task_id, kind, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

const ADD: &str = "
    INSERT INTO workflow_task_assignees (task_id, kind, name, added_at)
    SELECT id, $2, $3, CAST($4 AS BIGINT) FROM workflow_tasks WHERE id = $1 AND state = 'open' ON CONFLICT DO NOTHING";

const OF_TASK: &str = "SELECT kind, name FROM workflow_task_assignees WHERE task_id = $1 ORDER BY kind, name";

/// Stores who may answer a new question.
pub(super) async fn insert(db: &mut Db, task_id: &str, assignees: &[Assignee]) -> Result<(), StoreError> {
    for assignee in assignees {
        let (kind, name) = assignee.parts();
        sql::query(INSERT).bind(task_id).bind(kind).bind(name).execute(&mut *db).await?;
    }
    Ok(())
}

/// Lets another user answer an open question, too. Returns false if it is not open any more, or if they may
/// already.
pub(crate) async fn add_assignee(
    db: &mut Db,
    task_id: &str,
    assignee: &Assignee,
    now: i64,
) -> Result<bool, StoreError> {
    let (kind, name) = assignee.parts();
    let add = sql::query(ADD).bind(task_id).bind(kind).bind(name).bind(now);
    Ok(add.execute(db).await?.rows_affected() > 0)
}

/// Returns who may answer a question: roles, then users.
pub(crate) async fn assignees(store: &Store, task_id: &str) -> Result<Vec<Assignee>, StoreError> {
    let list = sql::query(OF_TASK).bind(task_id.to_owned());
    let read = |row: &Row| {
        let name = row.try_get("name")?;
        Ok(if row.try_get::<String>("kind")? == "role" { Assignee::Role(name) } else { Assignee::User(name) })
    };
    store.rows(list, read).await
}
