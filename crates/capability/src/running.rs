//! The capabilities of a running server.

use crate::{AgentTools, Capability, Context, Definition, Host, Job, ToolServerStatus};
use anyhow::anyhow;
use chat::{LifecycleEvent, LifecycleObserver};
use config::Config;
use std::fmt;
use std::sync::Arc;
use web::admin::Section;

/// The capabilities of a running server; cheap to clone.
#[derive(Clone, Default)]
pub struct Capabilities(Arc<[(&'static str, Arc<dyn Capability>)]>);

impl Capabilities {
    /// Starts the capabilities.
    pub fn start(definitions: &[Definition], host: &Host) -> Self {
        let started = definitions.iter().filter_map(|definition| Some((definition.name, definition.start?(host))));
        Self(started.collect())
    }

    fn all(&self) -> impl Iterator<Item = &dyn Capability> {
        self.0.iter().map(|(_, capability)| &**capability)
    }

    /// Returns the tools that all capabilities offer to an agent.
    ///
    /// # Errors
    /// The config cannot be used; the message begins with the agent's location.
    pub fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let mut all = AgentTools::default();
        for capability in self.all() {
            let offered = capability.agent_tools(config, agent);
            let AgentTools { tools, sources } = offered.map_err(|error| anyhow!("{}: {error:#}", agent.at))?;
            all.tools.extend(tools);
            all.sources.extend(sources);
        }
        Ok(all)
    }

    /// Returns whether any tool needs the user's own token.
    pub fn need_user_tokens(&self, config: &Config) -> bool {
        self.all().any(|capability| capability.needs_user_tokens(config))
    }

    /// Returns the status of the servers whose tools are offered.
    pub fn tool_servers(&self) -> Vec<ToolServerStatus> {
        self.all().flat_map(Capability::tool_servers).collect()
    }

    /// Returns the parts of the admin console.
    pub fn console(&self, context: &Context) -> Vec<Section> {
        self.all().filter_map(|capability| capability.console(context)).collect()
    }

    /// Tells all capabilities which config is in use now.
    pub fn config_changed(&self, config: &Arc<Config>) {
        self.all().for_each(|capability| capability.config_changed(config));
    }

    /// Returns the background work.
    pub fn jobs(&self) -> Vec<Job> {
        self.all().flat_map(Capability::jobs).collect()
    }
}

impl LifecycleObserver for Capabilities {
    fn observe(&self, event: &LifecycleEvent) {
        self.all().for_each(|capability| capability.observe(event));
    }
}

/// Formats the names.
impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
