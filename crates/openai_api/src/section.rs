//! The section `openaiApi` of the config.

use config::{PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Id;
use wire::invoke::AgentTier;

/// Lets clients of OpenAI's API use agents as models: `/v1/models`, `/v1/chat/completions` and
/// `/v1/responses`. `{}` switches it on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OpenAiApi {
    /// The agents that can be used. Default: all that the caller may use.
    pub(crate) agents: Option<Vec<Id>>,
    /// The limits of time and memory of a request: the name of one of `limits.invocationTiers`.
    pub(crate) agent_tier: AgentTier,
    /// The largest body of a request in bytes, with images and files. Callers who are not signed in may send
    /// no more than `limits.bodyBytes`.
    #[schemars(range(min = 1024, max = 67_108_864))]
    pub(crate) body_bytes: usize,
}

impl Default for OpenAiApi {
    fn default() -> Self {
        Self { agents: None, agent_tier: AgentTier::Complex, body_bytes: 24 << 20 }
    }
}

impl OpenAiApi {
    /// Returns whether an agent can be used, if the caller may use it.
    pub(crate) fn offers(&self, agent_id: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|id| id.0 == agent_id))
    }
}

impl Section for OpenAiApi {
    const KEY: &'static str = "openaiApi";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (at, id) in self.agents.iter().flatten().enumerate() {
            problems.check_agent(&[PathStep::Key("agents"), PathStep::Index(at)], &id.0);
        }
    }
}
