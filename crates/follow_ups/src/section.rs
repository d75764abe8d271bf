//! The key `followUps` of an agent.

use config::{Config, ModelRef, Paid, PaidUse, PathStep, Section, SectionPlace, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// The most suggestions after an answer.
pub(crate) const MAX_COUNT: u8 = 5;

/// Suggests follow-up questions below the newest answer of the agent: `true` when the user asks for
/// them with a button, or settings.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum FollowUps {
    /// `true` or `false`.
    Switch(bool),
    /// With settings.
    Settings(FollowUpSettings),
}

/// The settings of suggestions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FollowUpSettings {
    /// The number of questions that are suggested.
    #[schemars(range(min = 1, max = MAX_COUNT))]
    pub(crate) count: u8,
    /// The time at which they are suggested.
    pub(crate) when: SuggestionTiming,
    /// The model that writes them. Default: that of the agent.
    pub(crate) model: Option<ModelRef>,
}

/// The time at which questions are suggested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SuggestionTiming {
    /// When the user asks for them with a button.
    #[default]
    OnDemand,
    /// After each answer.
    Always,
}

impl Default for FollowUpSettings {
    fn default() -> Self {
        Self { count: 3, when: SuggestionTiming::default(), model: None }
    }
}

impl FollowUps {
    /// Returns the settings; `None` if nothing is suggested.
    pub(crate) fn settings(&self) -> Option<FollowUpSettings> {
        match self {
            Self::Switch(false) => None,
            Self::Switch(true) => Some(FollowUpSettings::default()),
            Self::Settings(settings) => Some(settings.clone()),
        }
    }
}

impl Section for FollowUps {
    const KEY: &'static str = "followUps";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn paid_uses(&self, _config: &Config) -> Vec<PaidUse> {
        let Self::Settings(FollowUpSettings { model: Some(model), .. }) = self else { return Vec::new() };
        let path = vec![PathStep::Key("model"), PathStep::Key("model")];
        vec![PaidUse { path, what: Paid::Model(model.model.clone()) }]
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let Self::Settings(FollowUpSettings { model: Some(model), .. }) = self else { return };
        if !config.connections.contains_key(&model.connection_id) {
            let at = [PathStep::Key("model"), PathStep::Key("connectionId")];
            let help = SectionProblems::name_help(&model.connection_id, config.connections.keys().map(String::as_str));
            problems.error(&at, format!("there is no connection `{}`", model.connection_id), help);
        }
    }
}
