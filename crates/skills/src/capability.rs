//! The capability: skills of agents.

use crate::catalog::{Catalog, CatalogSkill, stamp};
use crate::console;
use crate::policy::AllowedTools;
use crate::section::{AgentSkills, Skills};
use crate::source::SkillSource;
use crate::store::{self, TABLES};
use crate::tool::ReadSkill;
use ::capability::{AgentTools, Capability, ConfigAdditions, Context, Definition, Job};
use ::store::{Store, StoreError};
use config::{Config, SectionType};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use web::admin;
use web::openapi::ApiRouter;

/// How often the folders are looked at for changes.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(3);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Skills>(), SectionType::of::<AgentSkills>()],
    tables: Some(TABLES),
    config_additions: Some(ConfigAdditions {
        version: |store| Box::pin(store::version(store)),
        add: |store, config| Box::pin(with_catalog(store, config)),
    }),
    start: Some(|_| Ok(Arc::new(SkillCapability))),
    ..Definition::new("skills")
};

/// Returns the config with the skills of its folders, and with those that are installed.
async fn with_catalog(store: &Store, mut config: Config) -> Result<Config, StoreError> {
    let has_agent = config.agents.values().any(|agent| agent.section::<AgentSkills>().is_some());
    let skills = config.section::<Skills>().cloned();
    let Some(skills) = skills.or_else(|| has_agent.then(Skills::default)) else { return Ok(config) };
    let folders = skills.paths(config.folder.as_deref());
    let mut catalog = blocking(move || Catalog::read(&folders)).await?;
    catalog.switch_off(&store::switched_off(store).await?);
    catalog.add_installed(store).await?;
    for problem in &catalog.problems {
        let folder = problem.folder.and_then(|index| skills.folders.get(index)).map(|folder| folder.0.as_str());
        tracing::warn!(folder, problem = problem.message, "a problem of a skill");
    }
    config.set_section(Skills { catalog: Arc::new(catalog), ..skills });
    Ok(config)
}

/// Runs what reads folders.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    let failed = |error| StoreError::Failed(format!("the folders of skills cannot be read: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

/// Returns the skills of an agent.
pub(crate) fn skills(config: &Config, agent: &config::Agent) -> Vec<Arc<CatalogSkill>> {
    let both = agent.section::<AgentSkills>().zip(config.section::<Skills>());
    both.map(|(chosen, all)| chosen.select(&all.catalog)).unwrap_or_default()
}

/// The capability of a running server.
struct SkillCapability;

impl Capability for SkillCapability {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let skills = skills(config, agent);
        if skills.is_empty() {
            return Ok(AgentTools::default());
        }
        let mut offered = AgentTools {
            tools: vec![Arc::new(ReadSkill::new(skills.clone()))],
            sources: vec![Arc::new(SkillSource::new(skills.clone()))],
            ..AgentTools::default()
        };
        if skills.iter().any(|skill| skill.skill.allowed_tools.is_some()) {
            offered.policies.push(Arc::new(AllowedTools { agent_id: agent.id.clone(), skills }));
        }
        Ok(offered)
    }

    fn composer(&self, config: &Config, agent: &config::Agent) -> Map<String, Value> {
        let command = |CatalogSkill { skill, .. }: &CatalogSkill| json!({ "name": skill.name, "description": skill.description, "text": format!("/{} ", skill.name) });
        let commands: Vec<_> = skills(config, agent).iter().map(|skill| command(skill)).collect();
        let commands = (!commands.is_empty()).then(|| ("commands".to_owned(), commands.into()));
        commands.into_iter().collect()
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(console::routes(context.clone()))
    }

    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(console::upload_routes(context.clone()))
    }

    fn console(&self, context: &Context) -> Option<admin::Section> {
        Some(console::section(context.clone()))
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let context = context.clone();
        let follow = move || {
            let context = context.clone();
            async move { follow(&context).await }
        };
        vec![Job::on_each_server("skills.follow", FOLLOW_INTERVAL, follow)]
    }
}

/// Reads the folders again if their files have changed.
async fn follow(context: &Context) -> anyhow::Result<()> {
    let config = context.current.config();
    let Some(skills) = config.section::<Skills>().filter(|skills| !skills.folders.is_empty()) else { return Ok(()) };
    let folders: Vec<PathBuf> = skills.paths(config.folder.as_deref());
    if blocking(move || stamp(&folders)).await? != skills.catalog.stamp {
        context.current.refresh_additions().await?;
    }
    Ok(())
}
