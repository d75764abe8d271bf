//! MCP servers. Agents with the same settings share a server, and it is kept across reloads if its
//! settings stay the same.

use super::annotations::annotated_source;
use anyhow::anyhow;
use config::{Config, McpConnection, McpRef};
use contract::{ApprovalTerms, ToolSource};
use std::sync::Arc;
use tools::mcp::{McpSelection, McpServer, McpSettings, McpSource, McpStatus};

/// The MCP servers of a config.
#[derive(Default)]
pub(super) struct McpServers(Vec<Arc<McpServer>>);

impl McpServers {
    /// Returns the servers of all agents; one that was there `before` keeps its connections.
    pub(super) fn open(config: &Config, before: &Self) -> Self {
        let mut servers = Self::default();
        for used in config.agents.values().flat_map(|agent| &agent.mcp) {
            let settings = settings(used);
            if servers.find(&settings).is_none() {
                let server = before.find(&settings).unwrap_or_else(|| Arc::new(McpServer::new(settings)));
                servers.0.push(server);
            }
        }
        servers
    }

    /// Returns the status of each server.
    pub(super) fn status(&self) -> Vec<McpStatus> {
        self.0.iter().map(|server| server.status()).collect()
    }

    fn find(&self, settings: &McpSettings) -> Option<Arc<McpServer>> {
        self.0.iter().find(|server| server.has_settings(settings)).cloned()
    }

    /// Returns the tool sources of an agent's servers.
    pub(super) fn sources(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn ToolSource>>> {
        let sources = agent.mcp.iter().map(|used| {
            let server = self.find(&settings(used));
            let server = server.ok_or_else(|| anyhow!("{}: the MCP server `{}` is not there", agent.at, used.name))?;
            let selection = McpSelection {
                tools: used.tools.clone(),
                prefix: used.prefix.clone(),
                confirm: used.confirm.is_some(),
                approval: ApprovalTerms::new(used.confirm, None),
                timeout: used.timeout.unwrap_or(config.limits.tool),
                idempotent_hint: used.idempotent_hint,
            };
            let source = McpSource::new(server, selection).map_err(|error| anyhow!("{}: {error}", agent.at))?;
            annotated_source(Arc::new(source), &used.prefix, &used.annotations)
        });
        sources.collect()
    }
}

/// Returns the settings of a server.
fn settings(used: &McpRef) -> McpSettings {
    let McpConnection { transport, shared } = &used.server;
    McpSettings { name: used.name.clone(), transport: transport.clone(), shared: *shared }
}
