//! MCP servers: one for all agents that reach it in the same way, kept when the config changes and it does not.

use super::agent_settings::approval;
use super::marks::marked_source;
use anyhow::anyhow;
use config::{Config, McpConnection, McpRef, McpTransport};
use contract::ToolSource;
use std::path::Path;
use std::sync::Arc;
use tools::mcp::{
    ClientCredentials, HttpTransport, McpSelection, McpServer, McpSettings, McpSource, McpStatus,
    McpTransport as Transport, StdioTransport,
};

/// The servers of a config.
#[derive(Default)]
pub(super) struct McpServers(Vec<Arc<McpServer>>);

impl McpServers {
    /// The servers of all agents; one that was there `before` keeps its connections.
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

    /// How they do.
    pub(super) fn status(&self) -> Vec<McpStatus> {
        self.0.iter().map(|server| server.status()).collect()
    }

    fn find(&self, settings: &McpSettings) -> Option<Arc<McpServer>> {
        self.0.iter().find(|server| server.has(settings)).cloned()
    }

    /// The tools that an agent takes of its servers.
    pub(super) fn sources(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn ToolSource>>> {
        let sources = agent.mcp.iter().map(|used| {
            let server = self.find(&settings(used, config.folder.as_deref()));
            let server = server.ok_or_else(|| anyhow!("{}: the MCP server `{}` is not there", agent.at, used.name))?;
            let selection = McpSelection {
                allow: used.allow.clone(),
                deny: used.deny.clone(),
                prefix: used.prefix.clone(),
                confirm: used.confirm.is_some(),
                approval: approval(used.confirm, None),
                timeout: used.timeout.unwrap_or(config.limits.tool),
                idempotent_hint: used.idempotent_hint,
            };
            let source = McpSource::new(server, selection).map_err(|error| anyhow!("{}: {error}", agent.at))?;
            marked_source(Arc::new(source), &used.prefix, &used.marks)
        });
        sources.collect()
    }
}

/// A program is started in the config's folder, so that relative paths mean the same wherever the server is started.
fn settings(used: &McpRef, folder: Option<&Path>) -> McpSettings {
    let McpConnection { transport, shared } = &used.server;
    let http = |of: &config::McpHttp| HttpTransport {
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
        McpTransport::Stdio(of) => Transport::Stdio(StdioTransport {
            command: of.command.clone(),
            args: of.args.clone(),
            env: of.env.clone(),
            folder: folder.map(Path::to_owned),
        }),
    };
    McpSettings { name: used.name.clone(), transport, shared: *shared }
}
