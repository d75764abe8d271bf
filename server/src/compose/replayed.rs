//! The agents of a config for replays of recorded runs.

use super::{Composition, LoadSummary};
use crate::Site;
use agent::Agent;
use anyhow::anyhow;
use chat::{AgentRequest, AgentSource, Caller};
use config::Config;
use recordings::format::{Header, RecordedScope};
use std::sync::Arc;

/// The agents of a config, with an empty database in memory.
pub(crate) struct ReplayedConfig {
    composition: Composition,
    agent_ids: Vec<String>,
}

impl ReplayedConfig {
    /// Builds the agents. No job runs, and nothing is listened on.
    ///
    /// # Errors
    /// The config cannot be built, for example because a database of it cannot be opened.
    pub(crate) async fn build(config: Config, read: LoadSummary, site: Site) -> anyhow::Result<Self> {
        // A replay stores nothing.
        let config = Config { store: None, ..config };
        let agent_ids = config.agents.keys().cloned().collect();
        Ok(Self { composition: Composition::new(config, read, "sqlite::memory:", None, site).await?, agent_ids })
    }

    /// Returns the ids of the agents.
    pub(crate) fn agent_ids(&self) -> &[String] {
        &self.agent_ids
    }

    /// Returns a page on which this user may use an agent; empty if there is none.
    pub(crate) fn page_for(&self, agent_id: &str, scope: &RecordedScope) -> String {
        self.composition.current.page_for_agent(&caller(scope.clone()), agent_id).unwrap_or_default()
    }

    /// Returns the agent of a recorded run as its user gets it.
    ///
    /// # Errors
    /// The config does not have the agent, or its user may not use it.
    pub(crate) async fn agent(&self, header: &Header, scope: RecordedScope) -> anyhow::Result<Arc<Agent>> {
        let input = &header.input;
        let caller = caller(scope);
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
        let agent = self.composition.current.agent(&request).await;
        agent.map_err(|error| anyhow!("the agent `{}` cannot be replayed: {}", header.agent_id, error.message))
    }
}

fn caller(scope: RecordedScope) -> Caller {
    Caller::new(scope.user_id, scope.is_authenticated).with_roles(scope.roles)
}
