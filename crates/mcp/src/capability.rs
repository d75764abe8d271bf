//! The capability: the MCP servers of the config, and their tools for its agents.

use crate::{McpSelection, McpServer, McpSettings, McpSource};
use anyhow::anyhow;
use capability::{
    AgentTools, Capability, Context, Definition, Host, Job, LifecycleEvent, ToolServerStatus, annotated_source,
};
use config::{Config, McpConnection, McpRef};
use contract::{ApprovalTerms, ToolSource};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The capability.
pub const DEFINITION: Definition = Definition { start: Some(start), ..Definition::new("mcp") };

fn start(_: &Host) -> anyhow::Result<Arc<dyn Capability>> {
    Ok(Arc::new(McpServers::default()))
}

/// The MCP servers that agents use. Agents with the same settings share a server, which keeps its
/// connections across reloads of the config for as long as its settings stay the same.
#[derive(Clone, Default)]
struct McpServers(Arc<Mutex<Vec<Weak<McpServer>>>>);

/// How often idle connections are closed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

impl McpServers {
    /// Returns the servers that agents use.
    fn all(&self) -> Vec<Arc<McpServer>> {
        self.0.lock().iter().filter_map(Weak::upgrade).collect()
    }

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
        let server = self.server(settings(used));
        let selection = McpSelection {
            tools: used.tools.clone(),
            prefix: used.prefix.clone(),
            confirm: used.confirm.is_some(),
            approval: ApprovalTerms::new(used.confirm, None),
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
        self.all().iter().map(|server| server.status()).collect()
    }

    fn observe(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::UserDeleted { user_id } = event {
            self.all().iter().for_each(|server| server.forget_user(user_id));
        }
    }

    fn jobs(&self, _: &Context) -> Vec<Job> {
        let servers = self.clone();
        let sweep = move || {
            servers.all().iter().for_each(|server| server.close_idle());
            std::future::ready(Ok(()))
        };
        vec![Job::on_each_server("close idle MCP connections", SWEEP_INTERVAL, sweep)]
    }
}

/// Returns the settings of a server.
fn settings(used: &McpRef) -> McpSettings {
    let McpConnection { transport, shared, features } = used.server.clone();
    McpSettings { name: used.name.clone(), transport, shared, features }
}
