//! The keys of the config: `skills` of the root, and `skills` of an agent.

use crate::catalog::{Catalog, CatalogSkill};
use crate::content::MAX_AGENT_SKILLS;
use crate::tool::READ_SKILL;
use config::{Config, PathStep, Section, SectionPlace, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Text;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Skills for agents: instructions for certain tasks, in the format of agentskills.io.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Skills {
    /// Folders with skills, relative to that of the config's main file. Each folder below them that has a
    /// `SKILL.md` is a skill. Changes are noticed within seconds.
    #[schemars(length(max = 20))]
    pub(crate) folders: Vec<Text>,
    /// The skills, once they are read.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) catalog: Arc<Catalog>,
}

impl Skills {
    /// Returns the paths of the folders.
    pub(crate) fn paths(&self, base: Option<&Path>) -> Vec<PathBuf> {
        self.folders.iter().map(|folder| base.unwrap_or(Path::new("")).join(&folder.0)).collect()
    }
}

impl Section for Skills {
    const KEY: &'static str = "skills";

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let base = config.folder.as_deref();
        for (index, folder) in self.folders.iter().enumerate() {
            let at = [PathStep::Key("folders"), PathStep::Index(index)];
            if base.is_none() && !Path::new(&folder.0).is_absolute() {
                problems.error(&at, "this config is in no folder, so the folder must be absolute", None);
                return;
            }
        }
        // A config without a folder may be written on another machine than that where it is used.
        if base.is_none() {
            return;
        }
        for problem in Catalog::read(&self.paths(base)).problems {
            let Some(index) = problem.folder else { continue };
            let at = [PathStep::Key("folders"), PathStep::Index(index)];
            problems.warning(&at, format!("in `{}`: {}", self.folders[index].0, problem.message), None);
        }
    }
}

/// The skills of the agent: their names, or `all`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum AgentSkills {
    /// All skills.
    All(AllSkills),
    /// These.
    These(#[schemars(length(min = 1, max = 100))] Vec<Text>),
}

/// All skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AllSkills {
    /// All skills.
    All,
}

impl AgentSkills {
    /// Returns the skills that there are, by their names.
    pub(crate) fn select(&self, catalog: &Catalog) -> Vec<Arc<CatalogSkill>> {
        let mut skills: Vec<_> = match self {
            Self::All(AllSkills::All) => catalog.all().take(MAX_AGENT_SKILLS).cloned().collect(),
            Self::These(names) => names.iter().filter_map(|name| catalog.get(&name.0)).cloned().collect(),
        };
        skills.sort_by(|one, other| one.skill.name.cmp(&other.skill.name));
        skills.dedup_by(|one, other| one.skill.name == other.skill.name);
        skills
    }
}

impl Section for AgentSkills {
    const KEY: &'static str = "skills";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let (Self::These(names), Some(base)) = (self, &config.folder) else { return };
        let skills = config.section::<Skills>().cloned().unwrap_or_default();
        let catalog = Catalog::read(&skills.paths(Some(base)));
        for (index, name) in names.iter().enumerate().filter(|(_, name)| catalog.get(&name.0).is_none()) {
            let help = match SectionProblems::nearest_name(&name.0, catalog.names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add its folder to one of `skills.folders`, or install it in the admin console".to_owned(),
            };
            problems.warning(&[PathStep::Index(index)], format!("no folder has the skill `{}`", name.0), Some(help));
        }
    }

    fn tool_names(&self) -> Vec<String> {
        vec![READ_SKILL.to_owned()]
    }

    /// The enabled skills. The roles of users do not matter: who may use an agent may use its skills.
    fn parts(&self, config: &Config, _: Option<&[String]>) -> Vec<String> {
        let Some(skills) = config.section::<Skills>() else { return Vec::new() };
        self.select(&skills.catalog).iter().map(|skill| skill.skill.name.clone()).collect()
    }

    fn with_parts(&self, parts: &[&str]) -> Option<Self> {
        let has = |name: &&&str| match self {
            Self::All(_) => true,
            Self::These(names) => names.iter().any(|own| own.0 == **name),
        };
        let names: Vec<_> = parts.iter().filter(has).map(|name| Text((*name).to_owned())).collect();
        (!names.is_empty()).then_some(Self::These(names))
    }
}
