//! An agent's `policy`: which of its tools may run (D-8).

use super::Context;
use super::reach::{Thing, Use};
use super::value::{EndpointId, Text, patterns};
use crate::agent::{Policy, PolicyAction, PolicyRule};
use crate::source::{Node, Step};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// Which calls may run: by rules, of which the first that fits decides, and by an endpoint. What is stricter counts: a tool with
/// `confirm` is asked for even where a rule allows it. It holds for the agents below, too, whose calls their own policies judge besides.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyEntry {
    /// In this order.
    #[serde(default)]
    rules: Vec<PolicyRuleEntry>,
    /// For calls that no rule fits; `allow` without it.
    default: Option<RulingEntry>,
    /// Is asked about each call that the rules do not deny, with `toolName`, `toolInput`, `agentId`, `userId`, `conversationId`,
    /// `isSubAgent`, `timestamp`. It returns `{ allow, ask, reasons: [{ code, message }] }`; a call that it does not plainly allow is
    /// denied, also when it fails.
    endpoint: Option<EndpointId>,
}

/// A rule.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PolicyRuleEntry {
    /// Names of tools, or patterns such as `delete_*`.
    #[schemars(length(min = 1))]
    tools: Vec<Text>,
    /// Only for users with one of these roles.
    roles: Option<Vec<Text>>,
    /// Only for calls whose arguments match: by name, or by a path with dots, a pattern or several. Of a list each
    /// item must match to be allowed, and one to be asked for or denied.
    #[serde(default)]
    arguments: IndexMap<String, PatternsEntry>,
    /// What is done.
    action: RulingEntry,
    /// What the model and the user read when it denies.
    reason: Option<Text>,
}

/// One pattern or several.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum PatternsEntry {
    /// One.
    One(Text),
    /// One of them must match.
    Many(Vec<Text>),
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "ruling"))]
enum RulingEntry {
    /// The call runs.
    Allow,
    /// The user decides.
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

/// The endpoint that an agent's policy names.
pub(super) fn uses(agent: &Node) -> Vec<Use<'_>> {
    let endpoint = agent.get("policy").and_then(|policy| policy.value.get("endpoint"));
    endpoint.and_then(|entry| Some((Thing::Endpoint, entry.value.text()?, entry.value.at))).into_iter().collect()
}

/// Checks the patterns and the endpoint.
pub(super) fn read(entry: PolicyEntry, agent: &Node, context: &mut Context<'_, '_>) -> Policy {
    if let Some(EndpointId(id)) = &entry.endpoint {
        context.endpoint(id, agent.at(&[Step::Key("policy"), Step::Key("endpoint")]));
    }
    let rules = entry.rules.into_iter().enumerate().map(|(number, rule)| {
        let place = [Step::Key("policy"), Step::Key("rules"), Step::Index(number)];
        self::rule(rule, |path| agent.at(&[&place[..], path].concat()), context)
    });
    Policy {
        rules: rules.collect(),
        default: entry.default.map_or(PolicyAction::Allow, PolicyAction::from),
        endpoint_id: entry.endpoint.map(|EndpointId(id)| id),
    }
}

fn rule(
    rule: PolicyRuleEntry,
    at: impl Fn(&[Step<'_>]) -> crate::source::Span,
    context: &mut Context<'_, '_>,
) -> PolicyRule {
    let arguments = rule.arguments.into_iter().map(|(path, texts)| {
        let texts = match texts {
            PatternsEntry::One(text) => vec![text],
            PatternsEntry::Many(texts) => texts,
        };
        let texts = patterns(texts, at(&[Step::Key("arguments"), Step::Key(&path)]), context);
        (path, texts)
    });
    let arguments = arguments.collect();
    PolicyRule {
        tools: patterns(rule.tools, at(&[Step::Key("tools")]), context),
        roles: rule.roles.map(|roles| roles.into_iter().map(|Text(role)| role).collect()),
        arguments,
        action: rule.action.into(),
        reason: rule.reason.map(|Text(text)| text),
    }
}
