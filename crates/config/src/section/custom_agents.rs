//! The section `customAgents`: agents that administrators create.

use super::Context;
use super::rule_entry::{self, RuleEntry};
use super::value::Id;
use crate::operation::CustomAgents;
use crate::shape::{Shape, decode};
use crate::source::{Node, NodeKind, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// Agents that administrators create in the admin console. Each gets a page of its own.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CustomAgentsEntry {
    /// The agents of this config that custom agents may be based on. A custom agent has the model,
    /// the limits and the policy of its base, and a selection of its tools.
    #[schemars(length(min = 1))]
    from: Vec<Id>,
    /// Who may use custom agents. Default: all signed-in users.
    auth: Option<RuleEntry>,
}

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> Option<CustomAgents> {
    if matches!(section.kind, NodeKind::Null) {
        return None;
    }
    let CustomAgentsEntry { from, auth } = decode(section, Shape::for_type::<CustomAgentsEntry>()?, context.report)?;
    let mut bases = Vec::new();
    for (i, Id(id)) in from.into_iter().enumerate() {
        context.agent(&id, section.span_at(&[PathStep::Key("from"), PathStep::Index(i)]));
        bases.push(id);
    }
    Some(CustomAgents { from: bases, auth: rule_entry::read(auth, section, context.report) })
}
