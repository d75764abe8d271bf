//! The keys of the config: `projects` of the root, and `projects` of an agent.

use config::{Config, Section, SectionPlace, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// Projects: folders of conversations with instructions, libraries and members. Signed-in users
/// make them at `/account/projects`. Without this section there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ProjectsSection {
    /// The most projects that a user owns.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) per_user: u32,
    /// The most users of a project, its owner included.
    #[schemars(range(min = 1, max = 200))]
    pub(crate) members: u32,
    /// The longest instructions of a project, in characters.
    #[schemars(range(min = 100, max = 32_000))]
    pub(crate) instruction_characters: u32,
}

impl Default for ProjectsSection {
    fn default() -> Self {
        Self { per_user: 50, members: 50, instruction_characters: 8_000 }
    }
}

impl Section for ProjectsSection {
    const KEY: &'static str = "projects";
}

/// Whether the instructions and the libraries of projects hold for the agent. Default: `true` if
/// the config has the section `projects`. `false` is for agents that answer all users in the same
/// way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct AgentProjects(pub(crate) bool);

impl Section for AgentProjects {
    const KEY: &'static str = "projects";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        if self.0 && config.section::<ProjectsSection>().is_none() {
            let help = "add `projects: {}` to the config".to_owned();
            problems.error(&[], "there are no projects, because the config has no section `projects`", Some(help));
        }
    }

    /// It is no choice of those who make custom agents.
    fn always_stays(&self) -> bool {
        true
    }
}

/// Returns whether projects hold for an agent.
pub(crate) fn joins_projects(config: &Config, agent: &config::Agent) -> bool {
    config.section::<ProjectsSection>().is_some() && agent.section::<AgentProjects>().is_none_or(|joins| joins.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Language, SectionType};
    use insta::assert_snapshot;

    const AGENT: &str = "
connections: [{ id: demo, type: Demo }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo }";

    fn check(text: &str) -> String {
        let language = Language::new(&[SectionType::of::<ProjectsSection>(), SectionType::of::<AgentProjects>()], &[]);
        match language.read_text(text) {
            Ok((config, _)) => {
                let joining = config.agents.values().filter(|agent| joins_projects(&config, agent));
                format!("{:?} {}", config.section::<ProjectsSection>(), joining.count())
            }
            Err(problems) => config::render(&problems),
        }
    }

    #[test]
    fn section_is_read_with_its_defaults() {
        assert_snapshot!(check(&format!("{AGENT} }}]\n")), @"None 0");
        assert_snapshot!(check(&format!("{AGENT} }}]\nprojects: {{}}\n")), @"Some(ProjectsSection { per_user: 50, members: 50, instruction_characters: 8000 }) 1");
        assert_snapshot!(check(&format!("{AGENT}, projects: false }}]\nprojects: {{ perUser: 5 }}\n")), @"Some(ProjectsSection { per_user: 5, members: 50, instruction_characters: 8000 }) 0");
        let problems = check(&format!("{AGENT}, projects: true }}]\n"));
        assert!(problems.contains("there are no projects, because the config has no section `projects`"), "{problems}");
    }
}
