//! Checks an agent's `policy`: which tool calls may run.

use crate::section::Context;
use crate::section::access_rules::{EntryKind, EntryRef};
use crate::section::value::check_patterns;
use crate::source::{Node, PathStep};
use agent::PolicySettings;
use settings::Patterns;

/// Returns the endpoint that an agent's policy refers to.
pub(crate) fn references(agent: &Node) -> Vec<EntryRef<'_>> {
    let endpoint = agent.get("policy").and_then(|policy| policy.value.get("endpoint"));
    endpoint.and_then(|entry| Some((EntryKind::Endpoint, entry.value.text()?, entry.value.at))).into_iter().collect()
}

/// Reports patterns that are invalid and an endpoint that does not exist.
pub(crate) fn check(policy: &PolicySettings, agent: &Node, context: &mut Context<'_, '_>) {
    if let Some(id) = &policy.endpoint_id {
        context.endpoint(id, agent.span_at(&[PathStep::Key("policy"), PathStep::Key("endpoint")]));
    }
    for (number, rule) in policy.rules.iter().enumerate() {
        let place = [PathStep::Key("policy"), PathStep::Key("rules"), PathStep::Index(number)];
        let at = |path: &[PathStep<'_>]| agent.span_at(&[&place[..], path].concat());
        check_patterns(&rule.tools, at(&[PathStep::Key("tools")]), context);
        for (path, Patterns(texts)) in &rule.arguments {
            check_patterns(texts, at(&[PathStep::Key("arguments"), PathStep::Key(path)]), context);
        }
    }
}
