//! Compares the access rules of entries that refer to each other: who may use an entry should also
//! be able to use what it refers to.

use super::Context;
use super::agents::hooks;
use super::agents::policy;
use super::agents::sub_agents;
use super::agents::tools;
use super::api::{routine, steps};
use super::entry_ref::{EntryKind, EntryRef};
use super::pages::events;

use crate::agent::Agent;
use crate::auth::AuthMode;
use crate::config::Config;
use crate::rule::{AccessRule, OWNER_ROLES};
use agent::TurnLimits;
use config_source::{Node, Report, Span};
use indexmap::IndexMap;
use std::collections::HashSet;

/// An entry with its access rule.
#[derive(Clone, Copy)]
struct RuledEntry<'a> {
    rule: &'a AccessRule,
    node: &'a Node,
}

impl RuledEntry<'_> {
    /// Returns the position of the rule, or of the entry if it has none.
    fn at(&self) -> Span {
        self.node.get("auth").map_or(self.node.at, |entry| entry.value.at)
    }
}

type RuledEntries<'a> = IndexMap<(EntryKind, &'a str), RuledEntry<'a>>;

/// Warns of access rules that do not fit together.
pub(super) fn check(config: &Config, root: &Node, context: &mut Context<'_, '_>) {
    let (pages, agents, endpoints) = (context.pages.clone(), context.agents.clone(), context.endpoints.clone());
    let of_pages = config.pages.iter().map(|page| (EntryKind::Page, page.definition.id.as_str(), &page.auth, &pages));
    let of_agents = config.agents.values().map(|agent| (EntryKind::Agent, agent.id.as_str(), &agent.auth, &agents));
    let of_endpoints =
        config.endpoints.values().map(|one| (EntryKind::Endpoint, one.id.as_str(), &one.auth, &endpoints));
    let ruled = of_pages.chain(of_agents).chain(of_endpoints).filter_map(|(thing, id, rule, nodes)| {
        let node = nodes.get(id)?;
        Some(((thing, id), RuledEntry { rule, node }))
    });
    let all: RuledEntries<'_> = ruled.collect();
    // The policy of the whole server is asked for everybody who uses an agent.
    let of_all = policy::references(root);
    for (&(thing, id), one) in &all {
        let of_all = of_all.iter().copied().filter(|_| thing == EntryKind::Agent);
        for used in entry_references(thing, one.node).into_iter().chain(of_all) {
            check_reference((thing, id), one, used, &all, context.report);
        }
        check_local_roles(one, &config.auth.mode, context.report);
    }
    // In `local` everybody is the owner.
    let in_reach = !matches!(config.auth.mode, AuthMode::Local);
    for agent in config.agents.values().filter(|one| in_reach && one.auth == AccessRule::Public) {
        if let Some(one) = all.get(&(EntryKind::Agent, agent.id.as_str())) {
            check_public_agent(agent, one, config, context.report);
        }
    }
    for endpoint in config.endpoints.values().filter(|one| one.auth == AccessRule::Public && !one.is_internal) {
        if let Some(one) = all.get(&(EntryKind::Endpoint, endpoint.id.as_str()))
            && writes(&endpoint.id, &all, &mut HashSet::new())
        {
            let message = format!("everybody, signed in or not, may call `{}`, which changes data", endpoint.id);
            let help = "if that is not meant, write `auth: protected`, or name roles".to_owned();
            context.report.warning(one.at(), message, Some(help));
        }
    }
}

fn entry_references(thing: EntryKind, node: &Node) -> Vec<EntryRef<'_>> {
    match thing {
        EntryKind::Page => events::page_references(node),
        EntryKind::Agent => {
            [tools::references(node), sub_agents::references(node), hooks::references(node), policy::references(node)]
                .concat()
        }
        EntryKind::Endpoint => {
            steps::called_endpoints(node).into_iter().map(|(id, at)| (EntryKind::Endpoint, id, at)).collect()
        }
    }
}

/// Warns of a public agent with tools that have no access rule of their own, or without a cost
/// limit.
fn check_public_agent(agent: &Agent, one: &RuledEntry<'_>, config: &Config, report: &mut Report) {
    let id = &agent.id;
    let reach: Vec<_> = [
        (agent.file_system.is_some(), "reads files"),
        (!agent.mcp.is_empty(), "has the tools of MCP servers"),
        (!agent.remote_agents.is_empty(), "has the tools of remote agents"),
    ]
    .into_iter()
    .filter_map(|(has, what)| has.then_some(what))
    .collect();
    if !reach.is_empty() && agent.policy.is_none() && config.policy.is_none() {
        let message = format!("everybody, signed in or not, may ask the agent `{id}`, which {}", reach.join(" and "));
        let help =
            "if that is not meant, write `auth: protected`; otherwise say under `policy` what it may do".to_owned();
        report.warning(one.at(), message, Some(help));
    }
    if config.quotas.is_empty() && agent.settings.limits == TurnLimits::default() {
        let message = format!("everybody, signed in or not, may ask the agent `{id}` as much as they like");
        let help = "bound what it costs with `limits.quotas`, or with the agent's own `limits`".to_owned();
        report.warning(one.at(), message, Some(help));
    }
}

/// Warns if some users may use an entry but not what it refers to.
fn check_reference(
    (thing, id): (EntryKind, &str),
    one: &RuledEntry<'_>,
    used: EntryRef<'_>,
    all: &RuledEntries<'_>,
    report: &mut Report,
) {
    let (what, used_id, at) = used;
    let Some(used) = all.get(&(what, used_id)).filter(|used| !used.rule.admits_all_of(one.rule)) else { return };
    let (name, verb) = (thing.name(), thing.verb());
    let (used_name, used_verb) = (what.name(), what.verb());
    let message = format!("not everybody who may {verb} the {name} `{id}` may {used_verb} the {used_name} `{used_id}`");
    let (one_at, used_at) = (report.location(one.at()), report.location(used.at()));
    let help = format!("`{id}` is {} ({one_at}), `{used_id}` is {} ({used_at})", one.rule, used.rule);
    report.warning(at, message, Some(help));
}

/// Warns of roles that nobody has in this mode.
fn check_local_roles(one: &RuledEntry<'_>, mode: &AuthMode, report: &mut Report) {
    let (AuthMode::Local, AccessRule::Roles(roles)) = (mode, one.rule) else { return };
    if !roles.is_empty() && !roles.iter().any(|role| OWNER_ROLES.contains(&role.as_str())) {
        let message = "nobody may use this: in the auth mode `local` the one owner has the role `admin` only";
        report.warning(one.at(), message, Some("add `admin` to the roles".to_owned()));
    }
}

/// Whether an endpoint changes data, itself or through endpoints that it calls.
fn writes<'a>(id: &'a str, all: &RuledEntries<'a>, seen: &mut HashSet<&'a str>) -> bool {
    let Some(RuledEntry { node, .. }) = all.get(&(EntryKind::Endpoint, id)).filter(|_| seen.insert(id)) else {
        return false;
    };
    routine::writes(node) || steps::called_endpoints(node).into_iter().any(|(called, _)| writes(called, all, seen))
}
