//! When tools are deferred (`deferTools`).

use schemars::JsonSchema;
use serde::Deserialize;

/// When an agent's tools of MCP servers and remote agents are found by search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "DeferToolsForm")]
pub enum DeferTools {
    /// If the agent has more tools than this in all.
    Above(usize),
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
    #[schemars(range(max = 10_000))]
    above: usize,
}

impl From<DeferToolsForm> for DeferTools {
    fn from(form: DeferToolsForm) -> Self {
        match form {
            DeferToolsForm::Switch(true) => Self::Always,
            DeferToolsForm::Switch(false) => Self::Never,
            DeferToolsForm::Above(Above { above }) => Self::Above(above),
        }
    }
}

impl Default for DeferTools {
    fn default() -> Self {
        Self::Above(40)
    }
}

impl DeferTools {
    /// Returns whether tools of an agent with this number of tools are deferred. `was_used` says
    /// whether the conversation has calls of deferred tools.
    pub(crate) fn applies(self, tools: usize, was_used: bool) -> bool {
        match self {
            Self::Above(most) => tools > most || was_used,
            Self::Always => true,
            Self::Never => false,
        }
    }
}
