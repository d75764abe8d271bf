//! What became of the config since the server began: for administrators, and for pages that want to know whether it is another one.

use crate::auth::password::now;
use config::{Changed, Outline, Reading};
use serde::Serialize;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Reloads that are remembered, the last ones.
const MAX_RELOADS: usize = 20;
/// Differences of one reload that are named.
const MAX_CHANGES: usize = 50;

/// What came of reading the config, besides the config.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    fingerprint: u64,
    outline: Outline,
    warnings: Vec<String>,
    files: Vec<String>,
}

impl Read {
    /// Files are named as they stand in the config's folder.
    pub(crate) fn of(reading: &Reading) -> Self {
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

    /// A name for this text: the same again after a restart, and on every replica.
    fn version(&self) -> String {
        format!("{:016x}", self.fingerprint)
    }
}

/// What an open page needs to know of the config behind it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Status {
    /// Another one when the config is another one; the same again after a restart, and on every replica.
    version: String,
    /// Another one when a page that was asked for looks different.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    /// What is wrong with the text as it stands, which is why the version is an older one. For developers: it quotes the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<Arc<str>>,
}

/// What an administrator reads of the config.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigState {
    #[serde(flatten)]
    status: Status,
    /// When the config that is in use was taken over; Unix time, milliseconds.
    pub(crate) loaded_at: i64,
    /// What its author should know about it.
    pub(crate) warnings: Vec<String>,
    /// What it was read from.
    pub(crate) files: Vec<String>,
    /// The last times that the text was another one, the newest first.
    pub(crate) reloads: VecDeque<Reload>,
}

/// The text was another one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reload {
    /// Unix time, milliseconds.
    pub(crate) at: i64,
    /// The version of that text.
    pub(crate) version: String,
    /// Why it was not taken over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problems: Option<Arc<str>>,
    /// What was other than in the config that was in use then.
    pub(crate) changes: Vec<Difference>,
}

/// A difference.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Difference {
    /// The section, with an id where it is a list of things: `agents/helper`, `limits`.
    pub(crate) what: String,
    /// `added`, `changed` or `removed`.
    pub(crate) how: &'static str,
}

impl ConfigState {
    pub(crate) fn version(&self) -> &str {
        &self.status.version
    }

    pub(crate) fn problems(&self) -> Option<&str> {
        self.status.problems.as_deref()
    }
}

/// The config that is in use, and what came before it.
pub(super) struct History {
    read: Read,
    state: ConfigState,
}

impl History {
    pub(super) fn begin(read: Read) -> Self {
        let status = Status { version: read.version(), page: None, problems: None };
        let (warnings, files) = (read.warnings.clone(), read.files.clone());
        let state = ConfigState { status, loaded_at: now(), warnings, files, reloads: VecDeque::new() };
        Self { read, state }
    }

    /// Another config is in use.
    pub(super) fn replaced(&mut self, read: Read) {
        self.enter(&read, None);
        let reloads = std::mem::take(&mut self.state.reloads);
        *self = Self::begin(read);
        self.state.reloads = reloads;
    }

    /// Another text is wrong, and the config stays as it is.
    pub(super) fn refused(&mut self, read: &Read, problems: &str) {
        let problems: Arc<str> = problems.into();
        self.enter(read, Some(problems.clone()));
        self.state.status.problems = Some(problems);
    }

    fn enter(&mut self, read: &Read, problems: Option<Arc<str>>) {
        let changes = read.outline.changes(&self.read.outline).into_iter().take(MAX_CHANGES);
        let changes = changes.map(|change| Difference {
            what: change.what,
            how: match change.how {
                Changed::Added => "added",
                Changed::Changed => "changed",
                Changed::Removed => "removed",
            },
        });
        self.state.reloads.push_front(Reload {
            at: now(),
            version: read.version(),
            problems,
            changes: changes.collect(),
        });
        self.state.reloads.truncate(MAX_RELOADS);
    }

    pub(super) fn status(&self) -> Status {
        self.state.status.clone()
    }

    pub(super) fn state(&self) -> ConfigState {
        self.state.clone()
    }
}

impl Status {
    /// With the version of a page.
    pub(crate) fn of_page(self, page: Option<String>) -> Self {
        Self { page, ..self }
    }

    /// Without what is for administrators only.
    pub(super) fn for_all(self) -> Self {
        Self { problems: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_has_an_end() {
        let mut history = History::begin(Read::default());
        for number in 0..30 {
            let read = Read { fingerprint: number, ..Read::default() };
            if number % 2 == 0 { history.replaced(read) } else { history.refused(&read, "wrong") }
        }
        let state = history.state();
        assert_eq!(state.reloads.len(), MAX_RELOADS);
        assert_eq!((state.version(), state.problems()), ("000000000000001c", Some("wrong")));
        assert_eq!(state.reloads[0].version, "000000000000001d");
        history.replaced(Read::default());
        assert_eq!(history.state().problems(), None);
    }
}
