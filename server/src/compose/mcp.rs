//! MCP servers. Agents with the same settings share a server, and it is kept across reloads if its
//! settings stay the same.

use super::agent_settings::approval_terms;
use super::annotations::annotated_source;
use anyhow::anyhow;
use config::{Config, McpConnection, McpRef, McpTransport};
use contract::ToolSource;
use std::path::Path;
use std::sync::Arc;
use tools::mcp::{
    ClientCredentials, HttpServerSettings, McpSelection, McpServer, McpSettings, McpSource, McpStatus,
    McpTransport as Transport, StdioSettings,
};

/// The MCP servers of a config.
#[derive(Default)]
pub(super) struct McpServers(Vec<Arc<McpServer>>);

impl McpServers {
    /// Returns the servers of all agents; one that was there `before` keeps its connections.
    pub(super) fn open(config: &Config, before: &Self) -> Self {
        let mut servers = Self::default();
        for used in config.agents.values().flat_map(|agent| &agent.mcp) {
            let settings = settings(used, config.folder.as_deref());
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
            let server = self.find(&settings(used, config.folder.as_deref()));
            let server = server.ok_or_else(|| anyhow!("{}: the MCP server `{}` is not there", agent.at, used.name))?;
            let selection = McpSelection {
                allow: used.allow.clone(),
                deny: used.deny.clone(),
                prefix: used.prefix.clone(),
                confirm: used.confirm.is_some(),
                approval: approval_terms(used.confirm, None),
                timeout: used.timeout.unwrap_or(config.limits.tool),
                idempotent_hint: used.idempotent_hint,
            };
            let source = McpSource::new(server, selection).map_err(|error| anyhow!("{}: {error}", agent.at))?;
            annotated_source(Arc::new(source), &used.prefix, &used.annotations)
        });
        sources.collect()
    }
}

/// Returns the settings of a server. Programs run in the config's folder, so that relative paths do
/// not depend on where the server was started.
fn settings(used: &McpRef, folder: Option<&Path>) -> McpSettings {
    let McpConnection { transport, shared } = &used.server;
    let http = |of: &config::McpHttp| HttpServerSettings {
        url: of.url.clone(),
        headers: of.headers.clone(),
        allow_private: of.allow_private,
        oauth: of.oauth.as_ref().map(|oauth| ClientCredentials {
            token_url: oauth.token_url.clone(),
            client_id: oauth.client_id.clone(),
            client_secret: oauth.client_secret.clone(),
            refresh_token: oauth.refresh_token.clone(),
            scope: oauth.scope.clone(),
        }),
    };
    let transport = match transport {
        McpTransport::Http(of) => Transport::Http(http(of)),
        McpTransport::Sse(of) => Transport::Sse(http(of)),
        McpTransport::Stdio(of) => Transport::Stdio(StdioSettings {
            command: of.command.clone(),
            args: of.args.clone(),
            env: of.env.clone(),
            folder: folder.map(Path::to_owned),
        }),
    };
    McpSettings { name: used.name.clone(), transport, shared: *shared }
}
