//! The agents of a config for replays of recorded runs.

use super::{Composition, LoadSummary};
use crate::Site;
use agent::Agent;
use anyhow::anyhow;
use chat::{AgentRequest, AgentSource, Caller};
use config::Config;
use recordings::format::Recording;
use std::sync::Arc;

/// The agents of a config, with an empty database in memory.
pub(crate) struct ReplayedConfig(Composition);

impl ReplayedConfig {
    /// Builds the agents. No job runs, and nothing is listened on.
    ///
    /// # Errors
    /// The config cannot be built, for example because a database of it cannot be opened.
    pub(crate) async fn build(config: Config, read: LoadSummary, site: Site) -> anyhow::Result<Self> {
        // Nothing of a replay is stored.
        let config = Config { store: None, ..config };
        Ok(Self(Composition::new(config, read, "sqlite::memory:", None, site).await?))
    }

    /// Returns the agent of a recorded run as its user gets it.
    ///
    /// # Errors
    /// The config does not have the agent, or its user may not use it.
    pub(crate) async fn agent(&self, recording: &Recording) -> anyhow::Result<Arc<Agent>> {
        let (header, input) = (&recording.header, &recording.header.input);
        let scope = recording.turn().map(|turn| turn.scope.clone()).unwrap_or_default();
        let caller =
            Caller { is_authenticated: scope.is_authenticated, roles: scope.roles, ..Caller::visitor(scope.user_id) };
        let request = AgentRequest {
            page_id: &input.page_id,
            block_id: input.block_id.as_deref(),
            conversation_id: &header.conversation_id,
            shared_state: &input.shared_state,
            url_query: &input.url_query,
            switches: &input.switches,
            options: &input.options,
            ..AgentRequest::without_page(&caller, &header.agent_id)
        };
        let agent = self.0.current.agent(&request).await;
        agent.map_err(|error| anyhow!("the agent `{}` cannot be replayed: {}", header.agent_id, error.message))
    }
}
