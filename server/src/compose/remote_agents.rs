//! The tools of remote agents.

use super::annotations::SourceAnnotator;
use anyhow::{Context, anyhow};
use chat::Caller;
use config::{Config, ConnectionKind};
use contract::{ApprovalTerms, ToolSource};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tools::remote_agent::{RemoteSelection, RemoteSource, ToolVersions, UserToken};
use tools::{RemoteAgent, RemoteAgentSettings};

/// The known tool versions of remote agents, kept across reloads by connection, URL and prefix.
/// Another URL is another remote agent.
#[derive(Default)]
pub(super) struct VersionCache(Mutex<HashMap<RemoteKey, Arc<ToolVersions>>>);

/// Connection, URL and prefix.
type RemoteKey = (String, String, Option<String>);

/// The limit on known remote agents; beyond it, those that no agent uses are removed.
const MAX_REMEMBERED: usize = 1_000;

impl VersionCache {
    fn versions(&self, key: RemoteKey) -> Arc<ToolVersions> {
        let mut known = self.0.lock();
        if known.len() >= MAX_REMEMBERED {
            known.retain(|_, versions| Arc::strong_count(versions) > 1);
        }
        known.entry(key).or_default().clone()
    }
}

/// The tools of a remote agent for one of the config's agents.
pub(super) struct RemoteTools {
    source: RemoteSource,
    marker: Arc<SourceAnnotator>,
    /// Whether its calls carry the user's token.
    pub(super) is_per_user: bool,
}

impl RemoteTools {
    /// Returns the tool source without a user.
    pub(super) fn without_user(&self) -> Arc<dyn ToolSource> {
        self.marker.annotate(Arc::new(self.source.clone()))
    }

    /// Returns the tool source for a turn of this caller.
    pub(super) fn for_caller(&self, caller: &Caller) -> Arc<dyn ToolSource> {
        let token = caller.bearer.as_ref().map(|bearer| bearer.expose().into());
        self.marker.annotate(Arc::new(self.source.on_behalf(token)))
    }
}

/// Returns the remote agents of an agent.
pub(super) fn for_agent(
    config: &Config,
    agent: &config::Agent,
    remembered: &VersionCache,
) -> anyhow::Result<Vec<RemoteTools>> {
    let remotes = agent.remote_agents.iter().map(|used| {
        let ConnectionKind::RemoteAgent(connection) = &config.connections[&used.connection_id].kind else {
            return Err(anyhow!("{}: `{}` is not a remote agent", agent.at, used.connection_id));
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
            tools: used.tools.clone(),
            confirm: used.confirm.is_some(),
            approval: ApprovalTerms::new(used.confirm, None),
        };
        let versions =
            remembered.versions((used.connection_id.clone(), settings.base_url.to_string(), used.prefix.clone()));
        let remote = RemoteAgent::new(settings).map_err(|error| anyhow!(error));
        let source = remote.and_then(|remote| {
            RemoteSource::new(&used.connection_id, remote, &selection, versions).map_err(|error| anyhow!(error))
        });
        let source = source.with_context(|| format!("{}: the connection `{}`", agent.at, used.connection_id))?;
        let prefix = used.prefix.as_ref().map(|prefix| format!("{prefix}__")).unwrap_or_default();
        Ok(RemoteTools {
            source,
            marker: SourceAnnotator::new(&prefix, &used.annotations)?,
            is_per_user: connection.user_token,
        })
    });
    remotes.collect()
}

/// Returns the tool sources of an agent's remote agents, without a user.
pub(super) fn sources(config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn ToolSource>>> {
    Ok(for_agent(config, agent, &VersionCache::default())?.iter().map(RemoteTools::without_user).collect())
}

/// Returns whether any remote agent is called with the user's token.
pub(super) fn forwards_tokens(config: &Config) -> bool {
    let mut kinds = config.connections.values().map(|connection| &connection.kind);
    kinds.any(|kind| matches!(kind, ConnectionKind::RemoteAgent(remote) if remote.user_token))
}
