//! The keys of the config: `memory` of the root, and `memory` of an agent.

use crate::tools::{SAVE, SEARCH};
use config::{Config, ModelRef, Paid, PaidUse, PathStep, Section, SectionPlace, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// The memory of agents with the key `memory`: facts about their users, over all conversations.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct MemorySettings {
    /// Whether facts are stored and read. With `false`, stored facts stay, and users can still see
    /// and delete them.
    pub(crate) enabled: bool,
    /// The model that finds facts in the messages of users. Default: that of the agent.
    pub(crate) model: Option<ModelRef>,
    /// The most facts of a user, and of a user with an agent that has facts of its own. Beyond
    /// that, the least certain ones are forgotten.
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) max_facts: u32,
    /// The confidence that a fact needs to be stored, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) threshold: f64,
    /// The approximate number of tokens of the facts that an agent gets.
    #[schemars(range(min = 100, max = 20_000))]
    pub(crate) max_tokens: u64,
    /// The most facts that an agent gets, the most certain ones first.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) max_told: u32,
    /// The time without a message after which a conversation is read, in seconds.
    #[serde(rename = "restSeconds", with = "settings::seconds")]
    #[schemars(with = "u32", range(min = 1, max = 86_400))]
    pub(crate) rest: Duration,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            enabled: true,
            model: None,
            max_facts: 100,
            threshold: 0.7,
            max_tokens: 2_000,
            max_told: 15,
            rest: Duration::from_secs(30),
        }
    }
}

impl Section for MemorySettings {
    const KEY: &'static str = "memory";

    fn paid_uses(&self, _config: &Config) -> Vec<PaidUse> {
        let Some(model) = self.model.as_ref().filter(|_| self.enabled) else { return Vec::new() };
        let path = vec![PathStep::Key("model"), PathStep::Key("model")];
        vec![PaidUse { path, what: Paid::Model(model.model.clone()) }]
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let Some(model) = &self.model else { return };
        if !config.connections.contains_key(&model.connection_id) {
            let at = [PathStep::Key("model"), PathStep::Key("connectionId")];
            let help = SectionProblems::name_help(&model.connection_id, config.connections.keys().map(String::as_str));
            problems.error(&at, format!("there is no connection `{}`", model.connection_id), help);
        }
    }
}

/// Whether the agent remembers facts about its users, and how. Default: `false`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum AgentMemory {
    /// `true` or `false`.
    Switch(bool),
    /// With options.
    Options(MemoryOptions),
}

/// The options of an agent's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct MemoryOptions {
    /// The facts that the agent uses.
    pub(crate) scope: MemoryScope,
    /// Whether the agent has the tools `memory_search` and `memory_save`.
    pub(crate) tools: bool,
}

/// The facts that an agent uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum MemoryScope {
    /// The facts about the user that it shares with all agents of this scope.
    #[default]
    User,
    /// Facts of its own about the user, which no other agent knows.
    Agent,
}

impl AgentMemory {
    /// Returns the options; `None` if the agent does not remember.
    pub(crate) fn options(&self) -> Option<MemoryOptions> {
        match self {
            Self::Switch(false) => None,
            Self::Switch(true) => Some(MemoryOptions::default()),
            Self::Options(options) => Some(*options),
        }
    }
}

impl MemoryOptions {
    /// Returns the id of the agent whose facts the agent uses; empty for those of all agents.
    pub(crate) fn facts_agent(self, agent_id: &str) -> String {
        match self.scope {
            MemoryScope::User => String::new(),
            MemoryScope::Agent => agent_id.to_owned(),
        }
    }
}

impl Section for AgentMemory {
    const KEY: &'static str = "memory";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn tool_names(&self) -> Vec<String> {
        match self.options() {
            Some(MemoryOptions { tools: true, .. }) => vec![SEARCH.to_owned(), SAVE.to_owned()],
            _ => Vec::new(),
        }
    }
}
