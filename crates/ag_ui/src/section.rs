//! The section `agUi` of the config.

use config::{PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Id;

/// Lets frontends that speak AG-UI use agents, at `/ag-ui/AGENT`. `{}` switches it on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AgUi {
    /// The agents that can be used. Default: all that the caller may use.
    pub(crate) agents: Option<Vec<Id>>,
    /// The largest body of a request in bytes. A request has the whole thread, with its files. Callers who are not
    /// signed in may send no more than `limits.bodyBytes`.
    #[schemars(range(min = 1024, max = 67_108_864))]
    pub(crate) body_bytes: usize,
}

impl Default for AgUi {
    fn default() -> Self {
        Self { agents: None, body_bytes: 24 << 20 }
    }
}

impl AgUi {
    /// Returns whether an agent can be used, if the caller may use it.
    pub(crate) fn offers(&self, agent_id: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|id| id.0 == agent_id))
    }
}

impl Section for AgUi {
    const KEY: &'static str = "agUi";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (at, id) in self.agents.iter().flatten().enumerate() {
            problems.check_agent(&[PathStep::Key("agents"), PathStep::Index(at)], &id.0);
        }
    }
}
