//! The state of the console: the services of the server that it uses.

use auth::Authentication;
use capability::CurrentConfig;
use chat::{AgentSource, Chat};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;
use store::Store;

/// The state of the console's routes.
#[derive(Clone)]
pub struct ConsoleState {
    /// The conversations and runs.
    pub chat: Chat,
    /// The database. All lists read it directly.
    pub store: Store,
    /// The server.
    pub host: Arc<dyn ConsoleHost>,
    /// The actions of capabilities, as the audit log names them.
    pub(crate) actions: Arc<[String]>,
}

impl ConsoleState {
    /// Creates the state.
    pub fn new(chat: Chat, store: Store, host: Arc<dyn ConsoleHost>) -> Self {
        Self { chat, store, host, actions: Arc::new([]) }
    }
}

/// The server, as the console sees it. Everything may change when the config is reloaded, so each
/// request asks again.
pub trait ConsoleHost: AgentSource + CurrentConfig {
    /// Returns the status of the config and its reloads.
    fn config_state(&self) -> ConfigState;

    /// Returns the authentication of callers.
    fn authentication(&self) -> Arc<Authentication>;

    /// Returns at which level the commands of this agent run; `None` if it has no shell.
    fn shell_level(&self, agent_id: &str) -> Option<&'static str>;
}

/// The config status for administrators.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigState {
    /// The version of the config in use, the same after a restart and on every replica.
    pub version: String,
    /// The problems of the newest config if it is invalid and an older one is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Arc<str>>,
    /// When the config in use was loaded, in Unix milliseconds.
    pub loaded_at: i64,
    /// The warnings of the config in use.
    pub warnings: Vec<String>,
    /// The files of the config in use.
    pub files: Vec<String>,
    /// The latest reloads, newest first.
    pub reloads: VecDeque<Reload>,
}

/// A reload of a changed config.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reload {
    /// The time in Unix milliseconds.
    pub at: i64,
    /// The version of the changed config.
    pub version: String,
    /// The problems of the changed config if it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Arc<str>>,
    /// The changes since the config that was in use.
    pub changes: Vec<ConfigChange>,
}

/// A changed entry of the config.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigChange {
    /// The section, with an id if it is a list: `agents/helper`, `limits`.
    pub what: String,
    /// `added`, `changed` or `removed`.
    pub how: &'static str,
}
