//! `customAgents`: what administrators may make agents of.

use super::Context;
use super::rule_entry::{self, RuleEntry};
use super::value::Id;
use crate::operation::CustomAgents;
use crate::shape::{Shape, decode};
use crate::source::{Kind, Node, Step};
use schemars::JsonSchema;
use serde::Deserialize;

/// Agents that administrators make, in the administration. Each has a page of its own.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CustomAgentsEntry {
    /// Agents of this config that they are made from: a custom agent has the model, the limits and the policy of one of them, and of its
    /// tools those that are chosen.
    #[schemars(length(min = 1))]
    from: Vec<Id>,
    /// Who may ask them; without it, whoever is signed in.
    auth: Option<RuleEntry>,
}

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> Option<CustomAgents> {
    if matches!(section.kind, Kind::Null) {
        return None;
    }
    let CustomAgentsEntry { from, auth } = decode(section, Shape::of::<CustomAgentsEntry>()?, context.report)?;
    let mut bases = Vec::new();
    for (i, Id(id)) in from.into_iter().enumerate() {
        context.agent(&id, section.at(&[Step::Key("from"), Step::Index(i)]));
        bases.push(id);
    }
    Some(CustomAgents { from: bases, auth: rule_entry::read(auth, section, context.report) })
}
