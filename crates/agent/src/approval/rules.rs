//! A policy made of rules about tools, roles and arguments.

use crate::Ruling;
use contract::ToolCall;
use globset::GlobSet;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use settings::{Patterns, compile_patterns};
use std::collections::BTreeMap;

/// The reason for a denial by a rule without one.
const NO_REASON: &str = "the policy does not let this tool run.";

/// The rules in order; the first one that matches decides.
#[derive(Clone, Debug)]
pub struct RulePolicy {
    rules: Vec<CompiledRule>,
    /// The action for a call that no rule matches.
    otherwise: RuleAction,
}

/// The action for a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "ruling"))]
pub enum RuleAction {
    /// The call runs.
    #[default]
    Allow,
    /// The user must approve the call.
    Ask,
    /// The call does not run.
    Deny,
}

/// Which tool calls may run: the first rule that matches decides, and an endpoint may decide as
/// well. The strictest decision applies: a tool with `confirm` needs approval even if a rule allows
/// it. The policy of an agent also applies to its sub-agents, in addition to their own policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicySettings {
    /// The rules in the order in which they are tried.
    pub rules: Vec<RuleSettings>,
    /// The action for calls that no rule matches. Default: `allow`.
    pub default: RuleAction,
    /// The id of an endpoint that decides about each call that the rules do not deny. Its payload
    /// is `toolName`, `toolInput`, `agentId`, `userId`, `conversationId`, `isSubAgent` and
    /// `timestamp`; it returns `{ allow, ask, reasons: [{ code, message }] }`. A call is denied
    /// unless the endpoint clearly allows it, also if the endpoint fails.
    #[serde(rename = "endpoint")]
    #[schemars(regex(pattern = settings::pattern::ENDPOINT_ID))]
    pub endpoint_id: Option<String>,
}

/// A compiled rule.
#[derive(Clone, Debug)]
struct CompiledRule {
    tools: GlobSet,
    /// The roles of the users to whom the rule applies; all users if absent.
    roles: Option<Vec<String>>,
    /// Patterns by dotted path. Each path must exist and match. Of a list all items must match if
    /// the rule allows, and one if it asks or denies, so that an additional item never lets a call
    /// pass.
    arguments: Vec<(String, GlobSet)>,
    action: RuleAction,
    reason: Option<String>,
}

/// A rule of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleSettings {
    /// Names of tools, or patterns such as `delete_*`.
    #[schemars(length(min = 1), inner(length(min = 1)))]
    pub tools: Vec<String>,
    /// Applies the rule only to users with one of these roles.
    #[schemars(inner(length(min = 1)))]
    pub roles: Option<Vec<String>>,
    /// Applies the rule only to calls with matching arguments: one pattern or several, by the
    /// argument's name or a path with dots. If the argument is a list, `allow` requires that all
    /// items match, `ask` and `deny` that one does.
    // Text is matched as it is, any other value by its JSON.
    #[serde(default)]
    pub arguments: BTreeMap<String, Patterns>,
    /// The action for matching calls.
    pub action: RuleAction,
    /// The reason that the model and the user are given for a denied call.
    #[schemars(length(min = 1))]
    pub reason: Option<String>,
}

impl CompiledRule {
    /// Compiles a rule, or returns the invalid pattern.
    fn new(settings: RuleSettings) -> Result<Self, String> {
        let arguments =
            settings.arguments.into_iter().map(|(path, Patterns(texts))| Ok((path, compile_patterns(&texts)?)));
        Ok(Self {
            tools: compile_patterns(&settings.tools)?,
            roles: settings.roles,
            arguments: arguments.collect::<Result<_, String>>()?,
            action: settings.action,
            reason: settings.reason,
        })
    }

    fn fits(&self, call: &ToolCall, roles: &[String]) -> bool {
        self.tools.is_match(&call.name)
            && self.roles.as_ref().is_none_or(|wanted| wanted.iter().any(|role| roles.contains(role)))
            && self.arguments.iter().all(|(path, patterns)| matches(&call.input, path, patterns, self.action))
    }

    fn ruling(&self) -> Ruling {
        match self.action {
            RuleAction::Allow => Ruling::Allow,
            RuleAction::Ask => Ruling::Ask,
            RuleAction::Deny => Ruling::Deny(self.reason.clone().unwrap_or_else(|| NO_REASON.to_owned())),
        }
    }
}

impl RulePolicy {
    /// Compiles the rules of a policy.
    ///
    /// # Errors
    /// The invalid pattern, in one line.
    pub fn new(policy: &PolicySettings) -> Result<Self, String> {
        let rules = policy.rules.iter().cloned().map(CompiledRule::new).collect::<Result<_, _>>()?;
        Ok(Self { rules, otherwise: policy.default })
    }

    /// Returns the ruling on a call by a user with these roles.
    pub fn ruling(&self, call: &ToolCall, roles: &[String]) -> Ruling {
        let first = self.rules.iter().find(|rule| rule.fits(call, roles));
        first.map_or_else(
            || match self.otherwise {
                RuleAction::Allow => Ruling::Allow,
                RuleAction::Ask => Ruling::Ask,
                RuleAction::Deny => Ruling::Deny(NO_REASON.to_owned()),
            },
            CompiledRule::ruling,
        )
    }
}

/// Returns whether the value at the path matches, for a rule with this action.
fn matches(input: &Value, path: &str, patterns: &GlobSet, action: RuleAction) -> bool {
    let found = path.split('.').try_fold(input, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    });
    match found {
        None => false,
        Some(Value::Array(items)) if action == RuleAction::Allow => {
            !items.is_empty() && items.iter().all(|item| matches_one(item, patterns))
        }
        Some(Value::Array(items)) => items.iter().any(|item| matches_one(item, patterns)),
        Some(value) => matches_one(value, patterns),
    }
}

fn matches_one(value: &Value, patterns: &GlobSet) -> bool {
    match value {
        Value::String(text) => patterns.is_match(text),
        other => patterns.is_match(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    fn rules() -> RulePolicy {
        let rule = |tools: &[&str], action| RuleSettings { tools: owned(tools), action, ..RuleSettings::default() };
        let reason = Some("mail stays in the company.".to_owned());
        let rules = [
            RuleSettings { roles: Some(owned(&["admin"])), ..rule(&["delete_*"], RuleAction::Ask) },
            rule(&["delete_*", "drop"], RuleAction::Deny),
            RuleSettings {
                arguments: [("mail.to".to_owned(), Patterns(owned(&["*@example.com", "*@example.org"])))].into(),
                ..rule(&["send"], RuleAction::Allow)
            },
            RuleSettings {
                arguments: [("cc".to_owned(), Patterns(owned(&["*@evil.net"])))].into(),
                ..rule(&["copy"], RuleAction::Deny)
            },
            RuleSettings { reason, ..rule(&["send"], RuleAction::Deny) },
            RuleSettings {
                arguments: [("n".to_owned(), Patterns(owned(&["[0-9]"])))].into(),
                ..rule(&["*"], RuleAction::Allow)
            },
        ];
        let policy = PolicySettings { rules: rules.into(), default: RuleAction::Ask, endpoint_id: None };
        RulePolicy::new(&policy).unwrap()
    }

    #[test]
    fn the_first_matching_rule_decides() {
        let check = |name: &str, input: Value, roles: &[&str], expected: Ruling| {
            let (id, name) = (String::new(), name.to_owned());
            let call = ToolCall { id, name, input, provider_executed: false, metadata: None };
            assert_eq!(rules().ruling(&call, &owned(roles)), expected, "{call:?} by {roles:?}");
        };
        let denied = || Ruling::Deny(NO_REASON.to_owned());
        check("delete_all", json!({}), &["user"], denied());
        check("delete_all", json!({}), &["user", "admin"], Ruling::Ask);
        check("drop", json!({}), &["admin"], denied());
        let outside = || Ruling::Deny("mail stays in the company.".to_owned());
        check("send", json!({ "mail": { "to": "ada@example.com" } }), &[], Ruling::Allow);
        check("send", json!({ "mail": { "to": "ada@example.com.evil.net" } }), &[], outside());
        check("send", json!({ "mail": { "to": ["ada@example.com", "bob@example.org"] } }), &[], Ruling::Allow);
        check("send", json!({ "mail": { "to": ["ada@example.com", "eve@evil.net"] } }), &[], outside());
        check("send", json!({ "mail": { "to": [] } }), &[], outside());
        check("send", json!({ "mail": {} }), &[], outside());
        check("send", json!({ "to": "ada@example.com" }), &[], outside());
        // One matching item is enough for a denial.
        check("copy", json!({ "cc": ["ada@example.com", "eve@evil.net"] }), &[], denied());
        check("copy", json!({ "cc": ["ada@example.com"] }), &[], Ruling::Ask);
        check("read", json!({ "n": 7 }), &[], Ruling::Allow);
        check("read", json!({ "n": 77 }), &[], Ruling::Ask);
        check("read", json!({}), &[], Ruling::Ask);
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        let settings = RuleSettings { tools: owned(&["["]), ..RuleSettings::default() };
        assert!(CompiledRule::new(settings).unwrap_err().starts_with("`[` is not a valid pattern: "));
    }
}
