//! The tools that agents take of remote agents.

use super::agent_settings::approval;
use super::marks::Marker;
use anyhow::{Context, anyhow};
use chat::Caller;
use config::{Config, ConnectionKind};
use contract::ToolSource;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tools::remote_agent::{RemoteSelection, RemoteSource, UserToken, Versions};
use tools::{RemoteAgent, RemoteAgentSettings};

/// What is known of remote agents' tools, whatever becomes of the config: by connection, address and prefix. A config that names another
/// address names another agent.
#[derive(Default)]
pub(super) struct Remembered(Mutex<HashMap<Used, Arc<Versions>>>);

/// Connection, address and prefix.
type Used = (String, String, Option<String>);

/// Remote agents that are known; beyond it those are forgotten that no agent uses now.
const MAX_REMEMBERED: usize = 1_000;

impl Remembered {
    fn of(&self, key: Used) -> Arc<Versions> {
        let mut known = self.0.lock();
        if known.len() >= MAX_REMEMBERED {
            known.retain(|_, versions| Arc::strong_count(versions) > 1);
        }
        known.entry(key).or_default().clone()
    }
}

/// A remote agent of an agent.
pub(super) struct Remote {
    source: RemoteSource,
    marker: Arc<Marker>,
    /// Its calls carry what their user came with.
    pub(super) is_personal: bool,
}

impl Remote {
    /// Its tools without a user.
    pub(super) fn for_nobody(&self) -> Arc<dyn ToolSource> {
        self.marker.around(Arc::new(self.source.clone()))
    }

    /// Its tools for one turn of this user.
    pub(super) fn of(&self, caller: &Caller) -> Arc<dyn ToolSource> {
        let token = caller.bearer.as_ref().map(|bearer| bearer.expose().into());
        self.marker.around(Arc::new(self.source.on_behalf(token)))
    }
}

/// The remote agents of an agent.
pub(super) fn of_agent(config: &Config, agent: &config::Agent, remembered: &Remembered) -> anyhow::Result<Vec<Remote>> {
    let remotes = agent.remote_agents.iter().map(|used| {
        let ConnectionKind::RemoteAgent(connection) = &config.connections[&used.connection_id].kind else {
            return Err(anyhow!("{}: `{}` is no remote agent", agent.at, used.connection_id));
        };
        let settings = RemoteAgentSettings {
            base_url: connection.base_url.clone(),
            api_key: connection.api_key.clone(),
            user_token: match connection.user_token {
                true => Some(UserToken::Own),
                false => connection.token.clone().map(UserToken::Fixed),
            },
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
        let versions = remembered.of((used.connection_id.clone(), settings.base_url.to_string(), used.prefix.clone()));
        let remote = RemoteAgent::new(settings).map_err(|error| anyhow!(error));
        let source = remote.and_then(|remote| {
            RemoteSource::new(&used.connection_id, remote, &selection, versions).map_err(|error| anyhow!(error))
        });
        let source = source.with_context(|| format!("{}: the connection `{}`", agent.at, used.connection_id))?;
        let prefix = used.prefix.as_ref().map(|prefix| format!("{prefix}__")).unwrap_or_default();
        Ok(Remote { source, marker: Marker::new(&prefix, &used.marks)?, is_personal: connection.user_token })
    });
    remotes.collect()
}

/// One source for each remote agent of an agent, without a user.
pub(super) fn sources(config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn ToolSource>>> {
    Ok(of_agent(config, agent, &Remembered::default())?.iter().map(Remote::for_nobody).collect())
}

/// Whether any remote agent is asked with what its user came with.
pub(super) fn pass_tokens_on(config: &Config) -> bool {
    let mut kinds = config.connections.values().map(|connection| &connection.kind);
    kinds.any(|kind| matches!(kind, ConnectionKind::RemoteAgent(remote) if remote.user_token))
}
