//! Checks the changes of the config that were published in the console.

use super::CheckResult;
use crate::capabilities::{config_language, database_schema};
use config::Config;

/// Reports published changes that cannot be used with the files as they are now. Without a database there are none.
pub(super) async fn check_published_changes(config: &Config, database: &str) -> Option<CheckResult> {
    let overlay = config_editor::DEFINITION.config_overlay?;
    let store = database_schema().open_existing(database).await.ok()?;
    let changed = (overlay.apply)(&store, config_language(), config.clone()).await;
    store.close().await;
    match changed {
        Ok(changed) => config_editor::warning(&changed).map(|warning| CheckResult::note("config changes", warning)),
        Err(error) => Some(CheckResult::wrong("config changes", error.to_string())),
    }
}
