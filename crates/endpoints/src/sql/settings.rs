//! Which database, and what its statements may take.

use dialect::Dialect;
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// Which database, and how it may be used.
#[derive(Clone, Debug)]
pub struct SqlSettings {
    /// `sqlite://PATH`, `sqlite::memory:` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    pub url: SecretString,
    /// Refuse every statement that writes.
    pub read_only: bool,
    /// SQL that is run once, when the database is new: when it has no tables yet. All of it or, if it fails, none.
    pub init: Option<String>,
}

impl PartialEq for SqlSettings {
    fn eq(&self, other: &Self) -> bool {
        let Self { url, read_only, init } = self;
        url.expose_secret() == other.url.expose_secret() && *read_only == other.read_only && *init == other.init
    }
}

impl Eq for SqlSettings {}

impl SqlSettings {
    pub(super) fn dialect(&self) -> Result<Dialect, String> {
        Dialect::of_address(self.url.expose_secret()).map_err(|error| error.to_string())
    }
}

/// What one statement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlLimits {
    /// Rows of its answer.
    pub rows: usize,
    /// Bytes of its answer, counted roughly.
    pub bytes: usize,
    /// How long it may run, and how long it may wait for its turn.
    pub time: Duration,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self { rows: 1_000, bytes: 4 << 20, time: Duration::from_secs(30) }
    }
}
