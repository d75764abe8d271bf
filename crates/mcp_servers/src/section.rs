//! The section `mcpServers` of the config: what administrators may add at run time.

use crate::catalog::Catalog;
use config::{PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::{Text, Variable};
use std::sync::Arc;

/// MCP servers that administrators add, switch and remove while the server runs, at `/admin/mcp-servers` and
/// over the API.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct McpServers {
    /// Whether administrators may add servers, and switch those of the config.
    pub(crate) at_run_time: bool,
    /// The environment variables that added servers may send to their addresses, as `{ _secret: NAME }`. An
    /// administrator may send each of them to any address.
    #[schemars(length(max = 100))]
    pub(crate) secrets: Vec<Variable>,
    /// Environment variables with keys of at least 32 characters. Secrets that administrators enter are
    /// encrypted with the first one and can be read with all of them. Without a key none can be entered.
    #[schemars(length(max = 5))]
    pub(crate) keys: Vec<Variable>,
    /// The command lines that added servers may start as a program, exactly, with spaces between the
    /// arguments. Without any, added servers are reached over HTTP only.
    #[schemars(length(max = 50))]
    pub(crate) commands: Vec<Text>,
    /// Whether the addresses of added servers may be on this machine and its networks, also over `http://`.
    pub(crate) allow_private: bool,
    /// The servers of the config, once the config was built.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) catalog: Arc<Catalog>,
}

impl Default for McpServers {
    fn default() -> Self {
        Self {
            at_run_time: true,
            secrets: Vec::new(),
            keys: Vec::new(),
            commands: Vec::new(),
            allow_private: false,
            catalog: Arc::default(),
        }
    }
}

impl McpServers {
    /// Returns whether added servers may send this environment variable.
    pub(crate) fn may_send(&self, variable: &str) -> bool {
        self.secrets.iter().any(|allowed| allowed.0 == variable)
    }

    /// Returns the allowed command lines, as words.
    pub(crate) fn command_lines(&self) -> impl Iterator<Item = Vec<String>> {
        self.commands.iter().map(|line| line.0.split_whitespace().map(str::to_owned).collect())
    }
}

impl Section for McpServers {
    const KEY: &'static str = "mcpServers";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, line) in self.commands.iter().enumerate() {
            if line.0.trim().is_empty() {
                problems.error(&[PathStep::Key("commands"), PathStep::Index(index)], "this names no program", None);
            }
        }
    }
}
