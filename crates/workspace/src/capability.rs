//! The capability: workspaces of conversations.

use crate::routes;
#[cfg(feature = "shell")]
use crate::section::{ContainerKey, ShellSettings};
use crate::section::{ShellLevel, WorkspaceKey, WorkspaceLimits};
#[cfg(all(feature = "shell", target_os = "linux"))]
use crate::shell::probe_containers;
use crate::source::WorkspaceSource;
use crate::store::TABLES;
use crate::tools::AgentWorkspace;
use crate::workspace::Workspaces;
use ::capability::{AgentTools, Capability, Context, Definition};
#[cfg(all(feature = "shell", target_os = "linux"))]
use child_process::sandbox::shows as is_shown;
use config::{Config, SectionType};
#[cfg(feature = "shell")]
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
#[cfg(feature = "shell")]
use std::sync::OnceLock;
#[cfg(feature = "shell")]
use tokio::runtime::{Handle, RuntimeFlavor};
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
            #[cfg(feature = "shell")]
            runs_containers: Mutex::default(),
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
    /// The containers in which a script has run.
    #[cfg(feature = "shell")]
    runs_containers: Mutex<Vec<ContainerKey>>,
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
    let with_shell = agent_levels(config).filter(|(_, level)| *level != ShellLevel::None);
    with_shell.map(|(agent_id, level)| AgentShell { agent_id, level: level.name() }).collect()
}

/// Returns why this machine cannot run the commands of agents at their levels, and what to do; `None` if it can. It
/// starts processes, and blocks the thread for some hundredths of a second.
pub fn shell_problem(config: &Config) -> Option<String> {
    let needs_programs = agent_levels(config).any(|(_, level)| level == ShellLevel::Process);
    #[cfg(feature = "shell")]
    return needs_programs.then(|| crate::shell::ScriptShell::default().probe_programs().err()).flatten().or_else(
        || {
            let keys = config.agents.values().filter_map(|agent| agent.section::<WorkspaceKey>());
            keys.filter_map(contained).find_map(|(key, settings)| probe_containers(key, &settings).err())
        },
    );
    #[cfg(not(feature = "shell"))]
    return (needs_programs || agent_levels(config).any(|(_, level)| level == ShellLevel::Container))
        .then(|| "this program has no shell".to_owned());
}

/// Returns why a server with these files and folders may not run the commands of agents at their levels, and what to do;
/// `None` if it may. At the level `process`, commands read what the server's user can read where programs are.
pub fn shell_place_problem<'p>(config: &Config, mut places: impl Iterator<Item = &'p Path>) -> Option<String> {
    let needs_programs = agent_levels(config).any(|(_, level)| level == ShellLevel::Process);
    let shown = places.find(|place| needs_programs && is_shown(place))?;
    Some(format!(
        "`{}` is in a folder that commands at the level `process` can read: move it out of the folders of programs, such as \
         /usr, or write `shell: virtual`",
        shown.display()
    ))
}

/// There are no sandboxes.
#[cfg(not(all(feature = "shell", target_os = "linux")))]
fn is_shown(_: &Path) -> bool {
    false
}

/// Returns the levels of all agents with a workspace.
fn agent_levels(config: &Config) -> impl Iterator<Item = (&str, ShellLevel)> {
    let level = |agent: &config::Agent| Some(agent.section::<WorkspaceKey>()?.shell.level());
    config.agents.iter().filter_map(move |(id, agent)| Some((id.as_str(), level(agent)?)))
}

/// Returns the containers of an agent whose commands run in some.
#[cfg(feature = "shell")]
fn contained(key: &WorkspaceKey) -> Option<(&ContainerKey, ShellSettings)> {
    let settings = key.shell.settings().filter(|settings| settings.level == ShellLevel::Container)?;
    Some((key.container.as_ref()?, settings))
}

/// Containers are used on Linux only.
#[cfg(all(feature = "shell", not(target_os = "linux")))]
fn probe_containers(_: &ContainerKey, _: &ShellSettings) -> Result<(), String> {
    Err("containers are used on Linux only".to_owned())
}

/// Runs what blocks the thread for long, so that other tasks of the runtime continue meanwhile.
#[cfg(feature = "shell")]
fn blocking<T>(run: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) { tokio::task::block_in_place(run) } else { run() }
}

/// Returns the limits of an agent's workspaces, within those of the whole server.
pub(crate) fn limits(config: &Config, agent: Option<&config::Agent>) -> WorkspaceLimits {
    let limits = agent.and_then(|agent| agent.section::<WorkspaceKey>()).map(|key| key.limits).unwrap_or_default();
    WorkspaceLimits { user_bytes: limits.user_bytes.min(config.limits.user_file_bytes), ..limits }
}

#[cfg(feature = "shell")]
impl WorkspaceCapability {
    /// Checks that this machine can run the commands of an agent at its level. There is no lower one instead.
    fn check_level(&self, key: &WorkspaceKey) -> anyhow::Result<()> {
        let needs_programs = key.shell.level() == ShellLevel::Process;
        if needs_programs && self.runs_programs.get().is_none() {
            blocking(|| self.shell.probe_programs()).map_err(|reason| {
                anyhow::anyhow!("this machine cannot run commands at the level `process`: {reason}")
            })?;
            let _ = self.runs_programs.set(());
        }
        if let Some((container, settings)) = contained(key)
            && !self.runs_containers.lock().contains(container)
        {
            blocking(|| probe_containers(container, &settings)).map_err(|reason| {
                anyhow::anyhow!("this machine cannot run commands at the level `container`: {reason}")
            })?;
            self.runs_containers.lock().push(container.clone());
        }
        Ok(())
    }
}

impl Capability for WorkspaceCapability {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(key) = agent.section::<WorkspaceKey>() else { return Ok(AgentTools::default()) };
        #[cfg(feature = "shell")]
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
