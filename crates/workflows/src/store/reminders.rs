//! The reminders of `workflow_tasks`.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// The reminders of a new task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewReminders {
    pub(crate) interval_ms: i64,
    pub(crate) most: u32,
}

/// A task of which people are to be reminded.
#[derive(Clone, Debug)]
pub(crate) struct DueReminder {
    pub(crate) task_id: String,
    pub(crate) run_id: String,
    pub(crate) path: String,
    pub(crate) workflow_id: String,
    /// The workflows that led to the run that asks.
    pub(crate) causes: Vec<String>,
    pub(crate) title: String,
    /// The reminders so far.
    pub(crate) count: i64,
    /// The roles and the users who may answer.
    pub(crate) assignees: (Vec<String>, Vec<String>),
    pub(crate) due_at: Option<i64>,
}

const DUE: &str = "
    SELECT task.id, run_id, path, task.workflow_id, title, reminders, due_at, causes
    FROM workflow_tasks AS task JOIN workflow_runs ON workflow_runs.id = run_id
    WHERE task.state = 'open' AND remind_at <= $1 ORDER BY remind_at, task.id LIMIT $2";

const ASSIGNEES: &str =
    "SELECT kind, name FROM workflow_task_assignees WHERE task_id = $1 ORDER BY kind, name LIMIT 100";

/// The next reminder is an interval after this one, however late it is.
const COUNT: &str = "
    UPDATE workflow_tasks SET reminders = reminders + 1, reminded_at = $2,
        remind_at = CASE WHEN reminders + 1 < max_reminders THEN $2 + remind_ms ELSE NULL END
    WHERE id = $1 AND state = 'open' AND reminders = $3";

/// Returns the tasks that are due for a reminder, at most `most`.
pub(crate) async fn due_reminders(store: &Store, now: i64, most: u32) -> Result<Vec<DueReminder>, StoreError> {
    let find = sql::query(DUE).bind(now).bind(most);
    let read = store.read(move |db| {
        Box::pin(async move {
            let mut due = Vec::new();
            for row in find.fetch_all(&mut *db).await? {
                let mut reminder = reminder(&row)?;
                for row in sql::query(ASSIGNEES).bind(&reminder.task_id).fetch_all(&mut *db).await? {
                    let (kind, name): (String, String) = (row.try_get("kind")?, row.try_get("name")?);
                    let (roles, users) = &mut reminder.assignees;
                    if kind == "role" { roles.push(name) } else { users.push(name) }
                }
                due.push(reminder);
            }
            Ok(due)
        })
    });
    read.await
}

/// Counts a reminder, and sets when the next one is due. Returns false if it is counted already, or the
/// task is not open any more.
pub(crate) async fn count_reminder(db: &mut Db, reminder: &DueReminder, now: i64) -> Result<bool, StoreError> {
    let count = sql::query(COUNT).bind(&reminder.task_id).bind(now).bind(reminder.count);
    Ok(count.execute(db).await?.rows_affected() > 0)
}

fn reminder(row: &Row) -> Result<DueReminder, StoreError> {
    Ok(DueReminder {
        task_id: row.try_get("id")?,
        run_id: row.try_get("run_id")?,
        path: row.try_get("path")?,
        workflow_id: row.try_get("workflow_id")?,
        causes: super::json(row.try_get("causes")?)?,
        title: row.try_get("title")?,
        count: row.try_get("reminders")?,
        assignees: (Vec::new(), Vec::new()),
        due_at: row.try_get("due_at")?,
    })
}
