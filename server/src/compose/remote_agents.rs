//! The tools that agents take of remote agents.

use super::agent_settings::approval;
use super::marks::marked_source;
use anyhow::{Context, anyhow};
use config::{Config, ConnectionKind};
use contract::ToolSource;
use std::sync::Arc;
use tools::remote_agent::{RemoteSelection, RemoteSource, UserToken};
use tools::{RemoteAgent, RemoteAgentSettings};

/// One source for each remote agent of an agent.
pub(super) fn sources(config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn ToolSource>>> {
    let sources = agent.remote_agents.iter().map(|used| {
        let ConnectionKind::RemoteAgent(connection) = &config.connections[&used.connection_id].kind else {
            return Err(anyhow!("{}: `{}` is no remote agent", agent.at, used.connection_id));
        };
        let settings = RemoteAgentSettings {
            base_url: connection.base_url.clone(),
            api_key: connection.api_key.clone(),
            user_token: connection.token.clone().map(UserToken::Fixed),
            variables: connection.variables.clone(),
            prefix: used.prefix.clone(),
            allow_private: connection.allow_private,
            call_time: connection.timeout,
        };
        let selection = RemoteSelection {
            allow: used.allow.clone(),
            deny: used.deny.clone(),
            confirm: used.confirm.is_some(),
            approval: approval(used.confirm, None),
        };
        let remote = RemoteAgent::new(settings).map_err(|error| anyhow!(error));
        let source = remote.and_then(|remote| {
            RemoteSource::new(&used.connection_id, remote, &selection).map_err(|error| anyhow!(error))
        });
        let source = source.with_context(|| format!("{}: the connection `{}`", agent.at, used.connection_id))?;
        let prefix = used.prefix.as_ref().map(|prefix| format!("{prefix}__")).unwrap_or_default();
        marked_source(Arc::new(source), &prefix, &used.marks)
    });
    sources.collect()
}
