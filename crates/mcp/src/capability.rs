//! The capability: the MCP servers of the config, and their tools for its agents.

use crate::{
    ClientCredentials, HttpServerSettings, McpSelection, McpServer, McpSettings, McpSource, McpTransport as Transport,
    StdioSettings,
};
use anyhow::anyhow;
use capability::{AgentTools, Capability, Definition, Host, ToolServerStatus, annotated_source, approval_terms};
use config::{Config, McpConnection, McpRef, McpTransport};
use contract::ToolSource;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::{Arc, Weak};

/// The capability.
pub const DEFINITION: Definition = Definition { start: Some(start), ..Definition::new("mcp") };

fn start(_: &Host) -> Arc<dyn Capability> {
    Arc::new(McpServers::default())
}

/// The MCP servers that agents use. Agents with the same settings share a server, which keeps its
/// connections across reloads of the config for as long as its settings stay the same.
#[derive(Default)]
struct McpServers(Mutex<Vec<Weak<McpServer>>>);

impl McpServers {
    /// Returns the server with these settings.
    fn server(&self, settings: McpSettings) -> Arc<McpServer> {
        let mut servers = self.0.lock();
        servers.retain(|server| server.strong_count() > 0);
        let known = servers.iter().filter_map(Weak::upgrade).find(|server| server.has_settings(&settings));
        known.unwrap_or_else(|| {
            let server = Arc::new(McpServer::new(settings));
            servers.push(Arc::downgrade(&server));
            server
        })
    }

    fn source(&self, config: &Config, used: &McpRef) -> anyhow::Result<Arc<dyn ToolSource>> {
        let server = self.server(settings(used, config.folder.as_deref()));
        let selection = McpSelection {
            allow: used.allow.clone(),
            deny: used.deny.clone(),
            prefix: used.prefix.clone(),
            confirm: used.confirm.is_some(),
            approval: approval_terms(used.confirm, None),
            timeout: used.timeout.unwrap_or(config.limits.tool),
            idempotent_hint: used.idempotent_hint,
        };
        let source = McpSource::new(server, selection).map_err(|error| anyhow!(error))?;
        annotated_source(Arc::new(source), &used.prefix, &used.annotations)
    }
}

impl Capability for McpServers {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let sources = agent.mcp.iter().map(|used| self.source(config, used));
        Ok(AgentTools { sources: sources.collect::<anyhow::Result<_>>()?, ..AgentTools::default() })
    }

    fn tool_servers(&self) -> Vec<ToolServerStatus> {
        let servers: Vec<_> = self.0.lock().iter().filter_map(Weak::upgrade).collect();
        servers.iter().map(|server| server.status()).collect()
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
