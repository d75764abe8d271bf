//! The `policy` of an agent and that of the whole server: which tool calls may run.

use crate::agent::{Agent, ToolRef};
use crate::config::Config;
use crate::section::Context;
use crate::section::entry_ref::{EntryKind, EntryRef};
use crate::section::value::check_patterns;
use agent::{PolicySettings, RuleAction, RuleSettings};
use config_source::{Node, NodeKind, PathStep};
use indexmap::IndexMap;
use settings::{Patterns, compile_patterns};
use std::collections::BTreeSet;

/// Reads the policy of the whole server.
pub(in crate::section) fn read(root: &Node, context: &mut Context<'_, '_>) -> Option<PolicySettings> {
    let section = root.get("policy").map(|entry| &entry.value);
    let section = section.filter(|section| !matches!(section.kind, NodeKind::Null))?;
    let policy: PolicySettings = context.decode(section)?;
    check(&policy, root, context);
    Some(policy)
}

/// Returns the endpoint that the policy of an agent, or of the whole server, refers to.
pub(crate) fn references(agent: &Node) -> Vec<EntryRef<'_>> {
    let endpoint = agent.get("policy").and_then(|policy| policy.value.get("endpoint"));
    endpoint.and_then(|entry| Some((EntryKind::Endpoint, entry.value.text()?, entry.value.at))).into_iter().collect()
}

/// Reports patterns that are invalid and an endpoint that does not exist. `owner` is the agent, or
/// the root of the config.
pub(crate) fn check(policy: &PolicySettings, owner: &Node, context: &mut Context<'_, '_>) {
    if let Some(id) = &policy.endpoint_id {
        context.endpoint(id, owner.span_at(&[PathStep::Key("policy"), PathStep::Key("endpoint")]));
    }
    for (number, rule) in policy.rules.iter().enumerate() {
        let place = [PathStep::Key("policy"), PathStep::Key("rules"), PathStep::Index(number)];
        let at = |path: &[PathStep<'_>]| owner.span_at(&[&place[..], path].concat());
        check_patterns(&rule.tools, at(&[PathStep::Key("tools")]), context);
        for (path, Patterns(texts)) in &rule.arguments {
            check_patterns(texts, at(&[PathStep::Key("arguments"), PathStep::Key(path)]), context);
        }
    }
}

/// Warns about a rule that denies an endpoint by a name, while a sub-agent offers the endpoint under
/// another one. Rules go by the name that the calling agent uses.
pub(crate) fn check_other_names(agents: &IndexMap<String, Agent>, context: &mut Context<'_, '_>) {
    for (id, agent) in agents {
        let Some(policy) = &agent.policy else { continue };
        let below = agents_below(agents, agent);
        for sub in &below {
            for tool in sub.tools.iter().filter(|tool| !is_denied(policy, tool) && !is_denied_by(sub, tool)) {
                let names = names_of(&tool.endpoint_id, [agent].into_iter().chain(below.iter().copied()));
                if let Some(number) = policy.rules.iter().position(|rule| denies_one(rule, &names)) {
                    warn_about(id, number, sub, tool, context);
                }
            }
        }
    }
}

/// Warns about a rule of the whole server that denies an endpoint by a name, while an agent offers
/// the endpoint under another one.
pub(in crate::section) fn check_names_of_all(config: &Config, root: &Node, context: &mut Context<'_, '_>) {
    let Some(policy) = &config.policy else { return };
    for agent in config.agents.values() {
        for tool in agent.tools.iter().filter(|tool| !is_denied(policy, tool) && !is_denied_by(agent, tool)) {
            let names = names_of(&tool.endpoint_id, config.agents.values());
            let Some(number) = policy.rules.iter().position(|rule| denies_one(rule, &names)) else { continue };
            let rule = [PathStep::Key("policy"), PathStep::Key("rules"), PathStep::Index(number)];
            let at = root.span_at(&[&rule[..], &[PathStep::Key("tools")]].concat());
            let ToolRef { endpoint_id, name, .. } = tool;
            let id = &agent.id;
            let message =
                format!("this denies the endpoint `{endpoint_id}`, but the agent `{id}` offers it as `{name}`");
            context.report.warning(at, message, Some(format!("add `{name}` to the rule")));
        }
    }
}

fn warn_about(id: &str, number: usize, sub: &Agent, tool: &ToolRef, context: &mut Context<'_, '_>) {
    let path = [PathStep::Key("policy"), PathStep::Key("rules"), PathStep::Index(number), PathStep::Key("tools")];
    let Some(at) = context.agents.get(id).map(|node| node.span_at(&path)) else { return };
    let ToolRef { endpoint_id, name, .. } = tool;
    let message =
        format!("this denies the endpoint `{endpoint_id}`, but the sub-agent `{}` offers it as `{name}`", sub.id);
    context.report.warning(at, message, Some(format!("add `{name}` to the rule")));
}

/// Returns the sub-agents at all levels, each once.
fn agents_below<'a>(agents: &'a IndexMap<String, Agent>, agent: &'a Agent) -> Vec<&'a Agent> {
    let mut below: Vec<&Agent> = Vec::new();
    let mut pending = vec![agent];
    while let Some(above) = pending.pop() {
        for sub in above.agents.iter().filter_map(|sub| agents.get(&sub.agent_id)) {
            if sub.id != agent.id && !below.iter().any(|known| known.id == sub.id) {
                below.push(sub);
                pending.push(sub);
            }
        }
    }
    below
}

/// Returns the names under which agents offer an endpoint, and its default name.
fn names_of<'a>(endpoint_id: &str, agents: impl Iterator<Item = &'a Agent>) -> BTreeSet<String> {
    let tools = agents.flat_map(|agent| &agent.tools).filter(|tool| tool.endpoint_id == endpoint_id);
    tools.map(|tool| tool.name.clone()).chain([endpoint_id.replace('/', "__")]).collect()
}

fn denies_one(rule: &RuleSettings, names: &BTreeSet<String>) -> bool {
    rule.action == RuleAction::Deny && names.iter().any(|name| fits(rule, name))
}

fn fits(rule: &RuleSettings, name: &str) -> bool {
    // An invalid pattern has been reported.
    compile_patterns(&rule.tools).is_ok_and(|tools| tools.is_match(name))
}

/// Returns whether a policy denies a tool by the tool's name.
fn is_denied(policy: &PolicySettings, tool: &ToolRef) -> bool {
    let mut fitting = policy.rules.iter().filter(|rule| fits(rule, &tool.name)).peekable();
    let is_default = fitting.peek().is_none();
    fitting.any(|rule| rule.action == RuleAction::Deny) || (is_default && policy.default == RuleAction::Deny)
}

fn is_denied_by(agent: &Agent, tool: &ToolRef) -> bool {
    agent.policy.as_ref().is_some_and(|policy| is_denied(policy, tool))
}
