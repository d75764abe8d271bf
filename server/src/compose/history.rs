//! The reload history of the config since the server started, for administrators, and its version,
//! for open pages.

use admin_console::{ConfigChange, ConfigState, Reload};
use auth::password::now_millis;
use config::{ChangeKind, LoadAttempt, Outline};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// The number of recent reloads that are kept.
const MAX_RELOADS: usize = 20;
/// The number of changes that are listed per reload.
const MAX_CHANGES: usize = 50;

/// A summary of a load of the config.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadSummary {
    fingerprint: u64,
    outline: Outline,
    warnings: Vec<String>,
    files: Vec<String>,
}

impl LoadSummary {
    /// Summarizes a load. File names are relative to the config's folder.
    pub(crate) fn from_attempt(reading: &LoadAttempt) -> Self {
        let (warnings, folder) = match &reading.outcome {
            Ok((config, warnings)) => (warnings.iter().map(ToString::to_string).collect(), config.folder.as_deref()),
            Err(_) => (Vec::new(), None),
        };
        let name = |file: &std::path::PathBuf| {
            let inside = folder.and_then(|folder| file.strip_prefix(folder).ok());
            inside.or_else(|| file.file_name().map(Path::new)).unwrap_or(file).display().to_string()
        };
        let files = reading.files.iter().map(name).collect();
        Self { fingerprint: reading.fingerprint, outline: reading.outline.clone(), warnings, files }
    }

    /// The version of the config: a hash of its text, the same after a restart and on every
    /// replica.
    fn version(&self) -> String {
        format!("{:016x}", self.fingerprint)
    }
}

/// The config status for an open page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ConfigStatus {
    /// The version of the config in use, the same after a restart and on every replica.
    version: String,
    /// The version of the requested page; it changes when the page looks different.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    /// The problems of the newest config if it is invalid and an older one is in use. For
    /// developers only: they quote the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<Arc<str>>,
}

/// The config in use and the latest reloads.
pub(super) struct ConfigHistory {
    read: LoadSummary,
    state: ConfigState,
}

impl ConfigHistory {
    pub(super) fn new(read: LoadSummary) -> Self {
        let state = ConfigState {
            version: read.version(),
            problems: None,
            loaded_at: now_millis(),
            warnings: read.warnings.clone(),
            files: read.files.clone(),
            reloads: VecDeque::new(),
        };
        Self { read, state }
    }

    /// Records a successful reload.
    pub(super) fn record_replaced(&mut self, read: LoadSummary) {
        self.push_reload(&read, None);
        let reloads = std::mem::take(&mut self.state.reloads);
        *self = Self::new(read);
        self.state.reloads = reloads;
    }

    /// Records a reload that was rejected; the config in use stays.
    pub(super) fn record_rejected(&mut self, read: &LoadSummary, problems: &str) {
        let problems: Arc<str> = problems.into();
        self.push_reload(read, Some(problems.clone()));
        self.state.problems = Some(problems);
    }

    fn push_reload(&mut self, read: &LoadSummary, problems: Option<Arc<str>>) {
        let changes = read.outline.changes(&self.read.outline).into_iter().take(MAX_CHANGES);
        let changes = changes.map(|change| ConfigChange {
            what: change.path,
            how: match change.kind {
                ChangeKind::Added => "added",
                ChangeKind::Changed => "changed",
                ChangeKind::Removed => "removed",
            },
        });
        self.state.reloads.push_front(Reload {
            at: now_millis(),
            version: read.version(),
            problems,
            changes: changes.collect(),
        });
        self.state.reloads.truncate(MAX_RELOADS);
    }

    pub(super) fn status(&self) -> ConfigStatus {
        ConfigStatus { version: self.state.version.clone(), page: None, problems: self.state.problems.clone() }
    }

    pub(super) fn state(&self) -> ConfigState {
        self.state.clone()
    }
}

impl ConfigStatus {
    /// Adds the version of a page.
    pub(crate) fn with_page_version(self, page: Option<String>) -> Self {
        Self { page, ..self }
    }

    /// Removes the parts that only administrators may see.
    pub(super) fn without_problems(self) -> Self {
        Self { problems: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_recent_reloads_are_kept() {
        let mut history = ConfigHistory::new(LoadSummary::default());
        for number in 0..30 {
            let read = LoadSummary { fingerprint: number, ..LoadSummary::default() };
            if number % 2 == 0 { history.record_replaced(read) } else { history.record_rejected(&read, "wrong") }
        }
        let state = history.state();
        assert_eq!(state.reloads.len(), MAX_RELOADS);
        assert_eq!((state.version.as_str(), state.problems.as_deref()), ("000000000000001c", Some("wrong")));
        assert_eq!(state.reloads[0].version, "000000000000001d");
        history.record_replaced(LoadSummary::default());
        assert_eq!(history.state().problems, None);
    }
}
