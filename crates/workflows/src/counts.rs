//! What alerts count.

use crate::definition::Workflows;
use crate::store;
use ::store::{Store, StoreError};
use config::Config;

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
