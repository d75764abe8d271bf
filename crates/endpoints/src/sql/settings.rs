//! The settings of an SQL connection, and the limits of its statements.

use dialect::Dialect;
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// The settings of an SQL connection.
#[derive(Clone, Debug)]
pub struct SqlSettings {
    /// The URL: `sqlite://PATH`, `sqlite::memory:` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    pub url: SecretString,
    /// Whether statements that write are rejected.
    pub read_only: bool,
    /// SQL that initializes a new database, that is, one without tables. It is run once, and rolled
    /// back if it fails.
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
        Dialect::from_address(self.url.expose_secret()).map_err(|error| error.to_string())
    }
}

/// The limits of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlLimits {
    /// The maximum number of rows in the result.
    pub rows: usize,
    /// The maximum size of the result in bytes, approximately.
    pub bytes: usize,
    /// The time limit, including the wait for a connection.
    pub timeout: Duration,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self { rows: 1_000, bytes: 4 << 20, timeout: Duration::from_secs(30) }
    }
}
