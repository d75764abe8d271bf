//! The capability: workspaces of conversations.

use crate::routes;
use crate::section::{ShellLevel, WorkspaceKey, WorkspaceLimits};
use crate::source::WorkspaceSource;
use crate::store::TABLES;
use crate::tools::AgentWorkspace;
use crate::workspace::Workspaces;
use ::capability::{AgentTools, Capability, Context, Definition};
use config::{Config, SectionType};
use std::sync::Arc;
#[cfg(feature = "shell")]
use std::sync::OnceLock;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<WorkspaceKey>()],
    tables: Some(TABLES),
    start: Some(|host| {
        Ok(Arc::new(WorkspaceCapability {
            all: Workspaces::new(host.store.clone()),
            #[cfg(feature = "shell")]
            shell: Arc::default(),
            #[cfg(feature = "shell")]
            runs_programs: OnceLock::new(),
        }))
    }),
    ..Definition::new("workspace")
};

/// The capability of a running server.
struct WorkspaceCapability {
    all: Workspaces,
    #[cfg(feature = "shell")]
    shell: Arc<crate::shell::ScriptShell>,
    /// Set when a script has run with the programs of this machine.
    #[cfg(feature = "shell")]
    runs_programs: OnceLock<()>,
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
    agent_levels(config).map(|(agent_id, level)| AgentShell { agent_id, level: level.name() }).collect()
}

/// Returns why this machine cannot run the commands of agents at their levels, and what to do; `None` if it can. It
/// starts processes, and blocks the thread for some hundredths of a second.
pub fn shell_problem(config: &Config) -> Option<String> {
    let needs_programs = agent_levels(config).any(|(_, level)| level == ShellLevel::Process);
    #[cfg(feature = "shell")]
    return needs_programs.then(|| crate::shell::ScriptShell::default().probe_programs().err()).flatten();
    #[cfg(not(feature = "shell"))]
    return needs_programs.then(|| "this program has no shell".to_owned());
}

fn agent_levels(config: &Config) -> impl Iterator<Item = (&str, ShellLevel)> {
    let level = |agent: &config::Agent| Some(agent.section::<WorkspaceKey>()?.shell.settings()?.level);
    config.agents.iter().filter_map(move |(id, agent)| Some((id.as_str(), level(agent)?)))
}

/// Returns the limits of an agent's workspaces, within those of the whole server.
pub(crate) fn limits(config: &Config, agent: Option<&config::Agent>) -> WorkspaceLimits {
    let limits = agent.and_then(|agent| agent.section::<WorkspaceKey>()).map(|key| key.limits).unwrap_or_default();
    WorkspaceLimits { user_bytes: limits.user_bytes.min(config.limits.user_file_bytes), ..limits }
}

impl WorkspaceCapability {
    /// Checks that this machine can run the commands of an agent at its level. There is no lower one instead.
    #[cfg(feature = "shell")]
    fn check_level(&self, key: &WorkspaceKey) -> anyhow::Result<()> {
        let needs_programs = key.shell.settings().is_some_and(|settings| settings.level == ShellLevel::Process);
        if needs_programs && self.runs_programs.get().is_none() {
            self.shell.probe_programs().map_err(|reason| {
                anyhow::anyhow!("this machine cannot run commands at the level `process`: {reason}")
            })?;
            let _ = self.runs_programs.set(());
        }
        Ok(())
    }

    #[cfg(not(feature = "shell"))]
    fn check_level(&self, _: &WorkspaceKey) -> anyhow::Result<()> {
        Ok(())
    }
}

impl Capability for WorkspaceCapability {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(key) = agent.section::<WorkspaceKey>() else { return Ok(AgentTools::default()) };
        self.check_level(key)?;
        let settings = WorkspaceKey { limits: limits(config, Some(agent)), ..key.clone() };
        let of = AgentWorkspace {
            all: self.all.clone(),
            settings: Arc::new(settings),
            #[cfg(feature = "shell")]
            shell: self.shell.clone(),
        };
        let levels = agent_levels(config).map(|(id, level)| (id.to_owned(), level)).collect();
        let source = Arc::new(WorkspaceSource::new(of, &agent.id, levels));
        Ok(AgentTools { sources: vec![source], ..AgentTools::default() })
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(self.all.clone(), context))
    }

    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::upload_routes(self.all.clone(), context))
    }
}
