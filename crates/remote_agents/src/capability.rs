//! The capability: the remote agents of the config, and their tools for its agents.

use crate::{
    EnteredVariables, RemoteAgent, RemoteAgentSettings, RemoteSelection, RemoteSource, ToolVersions, UserService,
    UserToken,
};
use anyhow::{Context, anyhow};
use capability::{AgentTools, Capability, Definition, Host, LifecycleEvent, ServiceTokens, annotated_source};
use config::{Config, ConnectionKind, RemoteAgentRef};
use contract::{ApprovalTerms, ToolSource};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The capability.
pub const DEFINITION: Definition = Definition { start: Some(start), ..Definition::new("remote_agents") };

fn start(host: &Host) -> anyhow::Result<Arc<dyn Capability>> {
    Ok(Arc::new(RemoteAgents { versions: Mutex::default(), tokens: host.tokens.clone() }))
}

/// The known tool versions of remote agents, kept across reloads by connection, URL and prefix.
/// Another URL is another remote agent.
struct RemoteAgents {
    versions: Mutex<HashMap<RemoteKey, Arc<ToolVersions>>>,
    /// The tokens of users, and what they have entered.
    tokens: ServiceTokens,
}

/// Connection, URL and prefix.
type RemoteKey = (String, String, Option<String>);

/// The limit on known remote agents; beyond it, those that no agent uses are removed.
const MAX_REMEMBERED: usize = 1_000;

impl RemoteAgents {
    fn versions(&self, key: RemoteKey) -> Arc<ToolVersions> {
        let mut known = self.versions.lock();
        if known.len() >= MAX_REMEMBERED {
            known.retain(|_, versions| Arc::strong_count(versions) > 1);
        }
        known.entry(key).or_default().clone()
    }

    fn source(&self, config: &Config, used: &RemoteAgentRef) -> anyhow::Result<Arc<dyn ToolSource>> {
        let ConnectionKind::RemoteAgent(connection) = &config.connections[&used.connection_id].kind else {
            return Err(anyhow!("`{}` is not a remote agent", used.connection_id));
        };
        let settings = RemoteAgentSettings {
            base_url: connection.base_url.clone(),
            api_key: connection.api_key.clone(),
            user_token: match connection.user_service(&used.connection_id) {
                Some(service) => {
                    Some(UserToken::Service(Box::new(UserService { service, tokens: self.tokens.clone() })))
                }
                None if connection.user_token => Some(UserToken::Own),
                None => connection.token.clone().map(UserToken::Fixed),
            },
            user_variables: connection
                .variables_of_users(&used.connection_id)
                .map(|wanted| EnteredVariables { wanted, entered: self.tokens.clone() }),
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
        let versions = self.versions((used.connection_id.clone(), settings.base_url.to_string(), used.prefix.clone()));
        let remote = RemoteAgent::new(settings).map_err(|error| anyhow!(error));
        let source = remote.and_then(|remote| {
            RemoteSource::new(&used.connection_id, remote, &selection, versions).map_err(|error| anyhow!(error))
        });
        let source = source.with_context(|| format!("the connection `{}`", used.connection_id))?;
        let prefix = used.prefix.as_ref().map(|prefix| format!("{prefix}__")).unwrap_or_default();
        annotated_source(Arc::new(source), &prefix, &used.annotations)
    }
}

impl Capability for RemoteAgents {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let sources = agent.remote_agents.iter().map(|used| self.source(config, used));
        Ok(AgentTools { sources: sources.collect::<anyhow::Result<_>>()?, ..AgentTools::default() })
    }

    fn observe(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::UserDeleted { user_id } = event {
            self.versions.lock().values().for_each(|versions| versions.forget_user(user_id));
        }
    }

    fn needs_user_tokens(&self, config: &Config) -> bool {
        let mut kinds = config.connections.values().map(|connection| &connection.kind);
        kinds.any(|kind| matches!(kind, ConnectionKind::RemoteAgent(remote) if remote.user_token))
    }
}
