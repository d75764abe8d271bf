//! A policy made of rules about tools, roles and arguments.

use crate::Ruling;
use contract::ToolCall;
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::Value;

/// The reason for a denial by a rule without one.
const NO_REASON: &str = "the agent's policy does not let this tool run.";

/// The rules in order; the first one that matches decides.
#[derive(Clone, Debug)]
pub struct RulePolicy {
    rules: Vec<CompiledRule>,
    /// The action for a call that no rule matches.
    otherwise: RuleAction,
}

/// The action of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleAction {
    /// The call may run.
    #[default]
    Allow,
    /// The user decides.
    Ask,
    /// The call may not run.
    Deny,
}

/// A compiled rule.
#[derive(Clone, Debug)]
pub struct CompiledRule {
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

/// A rule as it is configured. Patterns are globs such as `delete_*`.
#[derive(Clone, Debug, Default)]
pub struct RuleSettings {
    /// Patterns for the tool's name, one of which must match.
    pub tools: Vec<String>,
    /// The roles of the users to whom the rule applies; all users if absent.
    pub roles: Option<Vec<String>>,
    /// Patterns by dotted path (`to`, `message.to`), one of which must match. Text is matched as it
    /// is, a list by its items (see [`CompiledRule`]), any other value by its JSON.
    pub arguments: Vec<(String, Vec<String>)>,
    /// The action of the rule.
    pub action: RuleAction,
    /// The reason of a denial, for the model and the user.
    pub reason: Option<String>,
}

impl CompiledRule {
    /// Compiles a rule.
    ///
    /// # Errors
    /// The invalid pattern, in one line.
    pub fn new(settings: RuleSettings) -> Result<Self, String> {
        let arguments = settings.arguments.into_iter().map(|(path, texts)| Ok((path, patterns(&texts)?)));
        Ok(Self {
            tools: patterns(&settings.tools)?,
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
    /// Creates a policy of these rules; `otherwise` applies if none matches.
    pub fn new(rules: Vec<CompiledRule>, otherwise: RuleAction) -> Self {
        Self { rules, otherwise }
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

/// Compiles patterns of which one must match. `*` also matches slashes.
fn patterns(texts: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Glob::new(text).map_err(|error| format!("`{text}` is not a valid pattern: {}", error.kind()))?);
    }
    set.build().map_err(|error| error.to_string())
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
                arguments: vec![("mail.to".to_owned(), owned(&["*@example.com", "*@example.org"]))],
                ..rule(&["send"], RuleAction::Allow)
            },
            RuleSettings {
                arguments: vec![("cc".to_owned(), owned(&["*@evil.net"]))],
                ..rule(&["copy"], RuleAction::Deny)
            },
            RuleSettings { reason, ..rule(&["send"], RuleAction::Deny) },
            RuleSettings { arguments: vec![("n".to_owned(), owned(&["[0-9]"]))], ..rule(&["*"], RuleAction::Allow) },
        ];
        RulePolicy::new(rules.into_iter().map(|rule| CompiledRule::new(rule).unwrap()).collect(), RuleAction::Ask)
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
