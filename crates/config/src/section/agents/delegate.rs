//! An agent's `delegate`: whether it may hand tasks to a copy of itself.

use crate::agent::{Delegation, SubAgentRef, ToolRef};
use crate::section::Context;
use config_source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// The key.
const KEY: &str = "delegate";
/// The name of the tool.
pub(crate) const TOOL: &str = "task";

/// Whether an agent may hand tasks to a copy of itself.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DelegateEntry {
    /// Always (`true`), or never.
    Switch(bool),
    /// When.
    Mode(DelegateMode),
    /// In this way.
    Settings(DelegateSettings),
}

/// When an agent may delegate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DelegateMode {
    /// In every answer.
    #[default]
    Always,
    /// If the user switches it on for the answer.
    Optional,
}

/// How an agent delegates.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DelegateSettings {
    /// `always`, or `optional`: if the user switches it on for the answer.
    mode: DelegateMode,
    /// The most requests to the model for one task.
    #[schemars(range(min = 1, max = 200))]
    max_turns: u32,
}

impl Default for DelegateSettings {
    fn default() -> Self {
        Self { mode: DelegateMode::default(), max_turns: Delegation::MAX_TURNS }
    }
}

impl DelegateEntry {
    /// Returns how the agent delegates; `None` if it does not.
    pub(crate) fn delegation(&self) -> Option<Delegation> {
        let (mode, max_turns) = match self {
            Self::Switch(false) => return None,
            Self::Switch(true) => (DelegateMode::Always, Delegation::MAX_TURNS),
            Self::Mode(mode) => (*mode, Delegation::MAX_TURNS),
            Self::Settings(DelegateSettings { mode, max_turns }) => (*mode, *max_turns),
        };
        Some(Delegation { is_optional: mode == DelegateMode::Optional, max_turns })
    }
}

/// Reports another tool with the name of the tool that delegates.
pub(crate) fn check(node: &Node, tools: &[ToolRef], agents: &[SubAgentRef], context: &mut Context<'_, '_>) {
    let mut names = tools.iter().map(|tool| &tool.name).chain(agents.iter().map(|sub| &sub.name));
    if names.any(|name| name == TOOL) {
        let help = format!("give the other one another `name`, or leave out `{KEY}`");
        let message = format!("this agent has two tools with the name `{TOOL}`: one of them is that of `{KEY}`");
        context.report.error(node.span_at(&[PathStep::Key(KEY)]), message, Some(help));
    }
}
