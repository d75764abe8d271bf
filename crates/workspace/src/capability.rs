//! The capability: workspaces of conversations.

use crate::routes;
use crate::section::{WorkspaceKey, WorkspaceLimits};
use crate::source::WorkspaceSource;
use crate::store::TABLES;
use crate::tools::AgentWorkspace;
use crate::workspace::Workspaces;
use ::capability::{AgentTools, Capability, Context, Definition};
use config::{Config, SectionType};
use std::sync::Arc;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<WorkspaceKey>()],
    tables: Some(TABLES),
    start: Some(|host| {
        Ok(Arc::new(WorkspaceCapability {
            all: Workspaces::new(host.store.clone()),
            #[cfg(feature = "shell")]
            shell: Arc::new(crate::shell::VirtualShell::new()),
        }))
    }),
    ..Definition::new("workspace")
};

/// The capability of a running server.
struct WorkspaceCapability {
    all: Workspaces,
    #[cfg(feature = "shell")]
    shell: Arc<crate::shell::VirtualShell>,
}

/// The shell of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentShell<'c> {
    /// The agent.
    pub agent_id: &'c str,
    /// The level at which its commands run, for operators.
    pub level: &'static str,
}

/// Returns the agents whose commands run, and at which level. There is no other level than that of the config:
/// a program that does not have it refuses the config.
pub fn shell_levels(config: &Config) -> Vec<AgentShell<'_>> {
    let shell = |agent: &'_ config::Agent| agent.section::<WorkspaceKey>()?.shell.settings();
    let agents = config.agents.iter().filter_map(|(id, agent)| Some((id, shell(agent)?)));
    agents.map(|(id, settings)| AgentShell { agent_id: id, level: settings.level.name() }).collect()
}

/// Returns the limits of an agent's workspaces, within those of the whole server.
pub(crate) fn limits(config: &Config, agent: Option<&config::Agent>) -> WorkspaceLimits {
    let limits = agent.and_then(|agent| agent.section::<WorkspaceKey>()).map(|key| key.limits).unwrap_or_default();
    WorkspaceLimits { user_bytes: limits.user_bytes.min(config.limits.user_file_bytes), ..limits }
}

impl Capability for WorkspaceCapability {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(key) = agent.section::<WorkspaceKey>() else { return Ok(AgentTools::default()) };
        let settings = WorkspaceKey { limits: limits(config, Some(agent)), ..key.clone() };
        let of = AgentWorkspace {
            all: self.all.clone(),
            settings: Arc::new(settings),
            #[cfg(feature = "shell")]
            shell: self.shell.clone(),
        };
        let source = Arc::new(WorkspaceSource::new(of, &agent.id));
        Ok(AgentTools { sources: vec![source], ..AgentTools::default() })
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(self.all.clone(), context))
    }

    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::upload_routes(self.all.clone(), context))
    }
}
