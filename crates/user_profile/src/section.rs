//! The key `profile` of an agent.

use config::{Agent, Section, SectionPlace};
use schemars::JsonSchema;
use serde::Deserialize;

/// Whether the agent reads the profiles of its users, in which they write at `/account/profile` how
/// they want to be answered. Default: `false`, so that an operator decides which agents follow such
/// wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct AgentProfile(pub(crate) bool);

impl Section for AgentProfile {
    const KEY: &'static str = "profile";
    const PLACE: SectionPlace = SectionPlace::Agent;
}

/// Returns whether an agent reads profiles.
pub(crate) fn reads_profile(agent: &Agent) -> bool {
    agent.section::<AgentProfile>().is_some_and(|profile| profile.0)
}
