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
    /// that are `idempotent`, and those in the user's browser.
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
}
