//! The counts for alerts and for the menu of the console.

use crate::console::{RunList, TaskList};
use crate::store;
use ::store::{Store, StoreError};
use config::Config;
use web::admin::list::List;
use web::admin::{MAX_MENU_COUNT, MenuCount};
use workflow_definition::Workflows;

/// Returns the ids of the workflows of a config.
pub fn workflow_ids(config: &Config) -> Vec<&str> {
    let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    all.iter().map(|workflow| workflow.id.0.as_str()).collect()
}

/// Returns how many runs have failed after a time (Unix, milliseconds), of a workflow or of all. Runs of child
/// workflows count with those above.
///
/// # Errors
/// The database failed.
pub async fn count_failed(store: &Store, after: i64, workflow_id: Option<&str>) -> Result<i64, StoreError> {
    store::count_failed(store, after, workflow_id).await
}

/// Returns how many runs wait for a decision about a step, because their server was killed while it ran.
///
/// # Errors
/// The database failed.
pub async fn count_undecided(store: &Store) -> Result<i64, StoreError> {
    store::count_undecided(store).await
}

/// Returns how many open questions there are, and how many runs wait for a decision about a step, for the menu.
///
/// # Errors
/// The database failed.
pub(crate) async fn menu_counts(store: &Store) -> Result<Vec<MenuCount>, StoreError> {
    let (tasks, runs) = store::count_waiting(store, MAX_MENU_COUNT + 1).await?;
    Ok(vec![MenuCount { path: TaskList::PATH, count: tasks }, MenuCount { path: RunList::PATH, count: runs }])
}
