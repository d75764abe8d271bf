//! Applies the published changes to the config.

use crate::check;
use crate::section::{ConfigEditor, OverlayState, Rejected};
use crate::store::{self, StoredVersion};
use ::store::{Store, StoreError};
use config::{Config, Language, render_short};
use std::sync::Arc;

/// How many versions are tried until one can be used.
const MAX_TRIED: usize = 10;

/// Returns the config with the newest published changes that are valid.
///
/// # Errors
/// The database failed.
pub(crate) async fn apply(store: &Store, language: &'static Language, config: Config) -> Result<Config, StoreError> {
    let Some(section) = config.section::<ConfigEditor>().cloned() else { return Ok(config) };
    if section.roles.is_empty() {
        return Ok(config);
    }
    let (mut rejected, mut below) = (None, i64::MAX);
    for _ in 0..MAX_TRIED {
        let Some(candidate) = store::newest_below(store, below).await? else { break };
        below = candidate.version;
        match with_changes(language, &config, &section, &candidate).await {
            Ok((config, state)) => return Ok(with_state(config, OverlayState { rejected, ..state })),
            Err(problems) => {
                let version = candidate.version;
                tracing::error!(version, "published changes of the config cannot be used\n{problems}");
                rejected.get_or_insert(Rejected { version: Some(version), problems });
            }
        }
    }
    Ok(with_state(config, OverlayState { rejected, ..OverlayState::default() }))
}

/// Returns the config with some changes, and the state in which they are used; otherwise what is wrong with them.
async fn with_changes(
    language: &'static Language,
    config: &Config,
    section: &ConfigEditor,
    changes: &StoredVersion,
) -> Result<(Config, OverlayState), String> {
    let used = Some(changes.version);
    if changes.text.trim().is_empty() {
        return Ok((config.clone(), OverlayState { used, ..OverlayState::default() }));
    }
    let read = check::read(language, config, section, &changes.text).await.map_err(|error| error.message)?;
    match read.outcome {
        Ok((changed, warnings)) => Ok((changed, OverlayState { used, warnings: check::own(warnings), rejected: None })),
        Err(problems) => Err(render_short(&problems)),
    }
}

/// Returns a config without its published changes, because they cannot be used for this reason.
pub(crate) fn leave_out(config: Config, reason: &str) -> Config {
    if config.section::<ConfigEditor>().is_none_or(|section| section.roles.is_empty()) {
        return config;
    }
    tracing::error!(reason, "the config with its published changes cannot be used; the files alone are in use");
    let rejected = Rejected { version: None, problems: reason.to_owned() };
    with_state(config, OverlayState { rejected: Some(rejected), ..OverlayState::default() })
}

fn with_state(mut config: Config, state: OverlayState) -> Config {
    let section = config.section::<ConfigEditor>().cloned().unwrap_or_default();
    config.set_section(ConfigEditor { state: Arc::new(state), ..section });
    config
}
