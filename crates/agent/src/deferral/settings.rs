//! When tools are deferred (`deferTools`).

use schemars::JsonSchema;
use serde::Deserialize;

/// When an agent's tools of MCP servers and remote agents are found by search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "DeferToolsForm")]
pub enum DeferTools {
    /// If the agent has more tools than this in all.
    Above(usize),
    /// As [`DeferTools::Above`], by the search of the provider if all models of the agent have one.
    AtProvider(usize),
    /// Always.
    Always,
    /// Never: all tools are listed.
    Never,
}

/// How the setting is written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum DeferToolsForm {
    /// Always or never.
    Switch(bool),
    /// From a number of tools on.
    Above(Above),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Above {
    /// Tools are found by search if the agent has more tools than this, with those that are listed
    /// in any case.
    #[serde(default = "default_above")]
    #[schemars(range(max = 10_000))]
    above: usize,
    /// Whose search finds them. Default: `own`.
    #[serde(default)]
    by: SearchBy,
}

/// Whose search finds tools.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum SearchBy {
    /// The agent's own, which is the same with all models.
    #[default]
    Own,
    /// That of the provider, if all models of the agent have one: Claude models since 4.5, and OpenAI's since GPT-5.4
    /// in the Responses API. Otherwise the agent's own.
    Provider,
}

fn default_above() -> usize {
    40
}

impl From<DeferToolsForm> for DeferTools {
    fn from(form: DeferToolsForm) -> Self {
        match form {
            DeferToolsForm::Switch(true) => Self::Always,
            DeferToolsForm::Switch(false) => Self::Never,
            DeferToolsForm::Above(Above { above, by: SearchBy::Own }) => Self::Above(above),
            DeferToolsForm::Above(Above { above, by: SearchBy::Provider }) => Self::AtProvider(above),
        }
    }
}

impl Default for DeferTools {
    fn default() -> Self {
        Self::Above(default_above())
    }
}

impl DeferTools {
    /// Returns whether the search of the provider is preferred.
    pub fn is_at_provider(self) -> bool {
        matches!(self, Self::AtProvider(_))
    }

    /// Returns whether tools of an agent with this number of tools are deferred. `was_used` says
    /// whether the conversation has calls of deferred tools.
    pub(crate) fn applies(self, tools: usize, was_used: bool) -> bool {
        match self {
            Self::Above(most) | Self::AtProvider(most) => tools > most || was_used,
            Self::Always => true,
            Self::Never => false,
        }
    }
}
