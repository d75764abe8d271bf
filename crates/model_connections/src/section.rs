//! The section `modelConnections` of the config: what administrators may add at run time.

use crate::catalog::Catalog;
use config::{AuthMode, Config, Section};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Variable;
use std::sync::Arc;

/// The environment variable with the key, if the config names no other.
pub(crate) const DEFAULT_KEY: &str = "CHATWRIGHT_SECRETS_KEY";

/// Connections to model providers that administrators add, switch and remove while the server runs, at
/// `/admin/models` and over the API.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ModelConnections {
    /// Whether administrators may add connections.
    pub(crate) at_run_time: bool,
    /// Environment variables with keys of at least 32 characters. API keys that administrators enter are
    /// encrypted with the first one and can be read with all of them.
    #[schemars(length(max = 5))]
    pub(crate) keys: Vec<Variable>,
    /// Whether the addresses of added connections may be on this machine and its networks, also over `http://`.
    /// Default: only in the auth mode `local`.
    pub(crate) allow_private: Option<bool>,
    /// The catalog of the config, once it was built.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) catalog: Arc<Catalog>,
}

impl Default for ModelConnections {
    fn default() -> Self {
        let keys = vec![Variable(DEFAULT_KEY.to_owned())];
        Self { at_run_time: true, keys, allow_private: None, catalog: Arc::default() }
    }
}

impl ModelConnections {
    /// Returns the section of a config.
    pub(crate) fn from_config(config: &Config) -> Self {
        config.section::<Self>().cloned().unwrap_or_default()
    }

    /// Returns whether private addresses are allowed in this config.
    pub(crate) fn allows_private(&self, config: &Config) -> bool {
        self.allow_private.unwrap_or(matches!(config.auth.mode, AuthMode::Local))
    }
}

impl Section for ModelConnections {
    const KEY: &'static str = "modelConnections";
}
