//! The key `planMode` of an agent.

use crate::tool::WRITE_TODOS;
use config::{Section, SectionPlace};
use schemars::JsonSchema;
use serde::Deserialize;

/// Lets the agent write a plan for tasks with several steps, with the tool `write_todos`: `true` always,
/// `optional` if the user switches it on in the composer, or settings.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PlanModeKey {
    /// Always (`true`), or never.
    Always(bool),
    /// A mode.
    Mode(PlanMode),
    /// Settings.
    Settings(PlanSettings),
}

/// When the agent plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum PlanMode {
    /// In every conversation.
    #[default]
    Always,
    /// If the user switches it on.
    Optional,
}

/// How the agent plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PlanSettings {
    /// `always`, or `optional`: if the user switches it on.
    pub(crate) mode: PlanMode,
    /// Whether the user approves the steps of a plan. Until then no tool with an effect runs: only those
    /// that change nothing (`readsOnly`), and questions to the user.
    pub(crate) approve: bool,
}

impl PlanModeKey {
    /// Returns the settings; `None` if the agent does not plan.
    pub(crate) fn settings(&self) -> Option<PlanSettings> {
        match self {
            Self::Always(false) => None,
            Self::Always(true) => Some(PlanSettings::default()),
            Self::Mode(mode) => Some(PlanSettings { mode: *mode, ..PlanSettings::default() }),
            Self::Settings(settings) => Some(*settings),
        }
    }
}

impl Section for PlanModeKey {
    const KEY: &'static str = "planMode";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn tool_names(&self) -> Vec<String> {
        self.settings().map(|_| WRITE_TODOS.to_owned()).into_iter().collect()
    }

    /// With `approve` it is a gate for the agent's tools, which the maker of a custom agent cannot leave out.
    fn always_stays(&self) -> bool {
        self.settings().is_some_and(|settings| settings.approve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Language, SectionType};

    #[test]
    fn a_custom_agent_keeps_the_approval_of_plans() {
        let check = |key: &str, choices: &[&str], has_key: bool| {
            let text = format!(
                "
connections: [{{ id: demo, type: Demo }}]
agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: demo }}, planMode: {key} }}]
pages: [{{ id: p }}]
"
            );
            let (mut config, _) = Language::new(&[SectionType::of::<PlanModeKey>()], &[]).read_text(&text).unwrap();
            assert_eq!(config.agents["helper"].sections.choices(&config, None), choices, "{key}");
            let sections = &mut config.agents["helper"].sections;
            sections.retain_chosen(&[]);
            assert_eq!(sections.get::<PlanModeKey>().is_some(), has_key, "{key}");
        };
        check("true", &["planMode"], false);
        check("{ approve: false }", &["planMode"], false);
        check("{ approve: true }", &[], true);
        check("{ mode: optional, approve: true }", &[], true);
    }
}
