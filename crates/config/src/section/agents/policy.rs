//! An agent's `policy`: which tool calls may run.

use crate::agent::{Policy, PolicyAction, PolicyRule};
use crate::section::Context;
use crate::section::access_rules::{EntryKind, EntryRef};
use crate::section::value::{EndpointId, Text, check_patterns};
use crate::source::{Node, PathStep};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// Which tool calls may run: the first rule that matches decides, and an endpoint may decide as
/// well. The strictest decision applies: a tool with `confirm` needs approval even if a rule allows
/// it. The policy also applies to sub-agents, in addition to their own policies.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyEntry {
    /// The rules in the order in which they are tried.
    #[serde(default)]
    rules: Vec<PolicyRuleEntry>,
    /// The action for calls that no rule matches. Default: `allow`.
    default: Option<RulingEntry>,
    /// The id of an endpoint that decides about each call that the rules do not deny. Its payload
    /// is `toolName`, `toolInput`, `agentId`, `userId`, `conversationId`, `isSubAgent` and
    /// `timestamp`; it returns `{ allow, ask, reasons: [{ code, message }] }`. A call is denied
    /// unless the endpoint clearly allows it, also if the endpoint fails.
    endpoint: Option<EndpointId>,
}

/// A rule of a policy.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PolicyRuleEntry {
    /// Names of tools, or patterns such as `delete_*`.
    #[schemars(length(min = 1))]
    tools: Vec<Text>,
    /// Applies the rule only to users with one of these roles.
    roles: Option<Vec<Text>>,
    /// Applies the rule only to calls with matching arguments: one pattern or several, by the
    /// argument's name or a path with dots. If the argument is a list, `allow` requires that all
    /// items match, `ask` and `deny` that one does.
    #[serde(default)]
    arguments: IndexMap<String, PatternsEntry>,
    /// The action for matching calls.
    action: RulingEntry,
    /// The reason that the model and the user are given for a denied call.
    reason: Option<Text>,
}

/// One pattern or several.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum PatternsEntry {
    /// One pattern.
    One(Text),
    /// Several patterns, of which one must match.
    Many(Vec<Text>),
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "ruling"))]
enum RulingEntry {
    /// The call runs.
    Allow,
    /// The user must approve the call.
    Ask,
    /// The call does not run.
    Deny,
}

impl From<RulingEntry> for PolicyAction {
    fn from(entry: RulingEntry) -> Self {
        match entry {
            RulingEntry::Allow => Self::Allow,
            RulingEntry::Ask => Self::Ask,
            RulingEntry::Deny => Self::Deny,
        }
    }
}

/// Returns the endpoint that an agent's policy refers to.
pub(crate) fn references(agent: &Node) -> Vec<EntryRef<'_>> {
    let endpoint = agent.get("policy").and_then(|policy| policy.value.get("endpoint"));
    endpoint.and_then(|entry| Some((EntryKind::Endpoint, entry.value.text()?, entry.value.at))).into_iter().collect()
}

/// Checks the patterns and the endpoint.
pub(crate) fn read(entry: PolicyEntry, agent: &Node, context: &mut Context<'_, '_>) -> Policy {
    if let Some(EndpointId(id)) = &entry.endpoint {
        context.endpoint(id, agent.span_at(&[PathStep::Key("policy"), PathStep::Key("endpoint")]));
    }
    let rules = entry.rules.into_iter().enumerate().map(|(number, rule)| {
        let place = [PathStep::Key("policy"), PathStep::Key("rules"), PathStep::Index(number)];
        self::rule(rule, |path| agent.span_at(&[&place[..], path].concat()), context)
    });
    Policy {
        rules: rules.collect(),
        default: entry.default.map_or(PolicyAction::Allow, PolicyAction::from),
        endpoint_id: entry.endpoint.map(|EndpointId(id)| id),
    }
}

fn rule(
    rule: PolicyRuleEntry,
    at: impl Fn(&[PathStep<'_>]) -> crate::source::Span,
    context: &mut Context<'_, '_>,
) -> PolicyRule {
    let arguments = rule.arguments.into_iter().map(|(path, texts)| {
        let texts = match texts {
            PatternsEntry::One(text) => vec![text],
            PatternsEntry::Many(texts) => texts,
        };
        let texts = check_patterns(texts, at(&[PathStep::Key("arguments"), PathStep::Key(&path)]), context);
        (path, texts)
    });
    let arguments = arguments.collect();
    PolicyRule {
        tools: check_patterns(rule.tools, at(&[PathStep::Key("tools")]), context),
        roles: rule.roles.map(|roles| roles.into_iter().map(|Text(role)| role).collect()),
        arguments,
        action: rule.action.into(),
        reason: rule.reason.map(|Text(text)| text),
    }
}
