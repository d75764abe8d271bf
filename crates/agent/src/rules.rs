//! A policy of rules: which tools may run, for whom, with which arguments.

use crate::Ruling;
use contract::ToolCall;
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::Value;

/// What is read for a call that a rule without a reason denies.
const NO_REASON: &str = "the agent's policy does not let this tool run.";

/// Rules in their order; the first that fits decides.
#[derive(Clone, Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    /// For a call that none fits.
    otherwise: Action,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// The call may run.
    #[default]
    Allow,
    /// The user decides.
    Ask,
    /// It may not run.
    Deny,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    tools: GlobSet,
    /// Users with one of these roles; everyone without it.
    roles: Option<Vec<String>>,
    /// By a path with dots; each must be there and match. Of a list each item must match where the rule allows, and one where it asks or
    /// denies: an item more must not get a call through.
    arguments: Vec<(String, GlobSet)>,
    action: Action,
    reason: Option<String>,
}

/// A rule as it is written; patterns are globs such as `delete_*`.
#[derive(Clone, Debug, Default)]
pub struct RuleSettings {
    /// Patterns over the names of tools; one must match.
    pub tools: Vec<String>,
    /// Users with one of these roles; everyone without it.
    pub roles: Option<Vec<String>>,
    /// By a path with dots (`to`, `message.to`), patterns of which one must match. A text is matched as it is, a list by its
    /// items (see [`Rule`]), anything else by its JSON.
    pub arguments: Vec<(String, Vec<String>)>,
    /// What it does.
    pub action: Action,
    /// For the model and the user, when it denies.
    pub reason: Option<String>,
}

impl Rule {
    /// # Errors
    /// In one line, which pattern cannot be read.
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
            Action::Allow => Ruling::Allow,
            Action::Ask => Ruling::Ask,
            Action::Deny => Ruling::Deny(self.reason.clone().unwrap_or_else(|| NO_REASON.to_owned())),
        }
    }
}

impl Rules {
    /// These rules, and what is done where none fits.
    pub fn new(rules: Vec<Rule>, otherwise: Action) -> Self {
        Self { rules, otherwise }
    }

    /// What they say of a call by a user with these roles.
    pub fn ruling(&self, call: &ToolCall, roles: &[String]) -> Ruling {
        let first = self.rules.iter().find(|rule| rule.fits(call, roles));
        first.map_or_else(
            || match self.otherwise {
                Action::Allow => Ruling::Allow,
                Action::Ask => Ruling::Ask,
                Action::Deny => Ruling::Deny(NO_REASON.to_owned()),
            },
            Rule::ruling,
        )
    }
}

/// Whether what the path leads to matches, for a rule that does this.
fn matches(input: &Value, path: &str, patterns: &GlobSet, action: Action) -> bool {
    let found = path.split('.').try_fold(input, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    });
    match found {
        None => false,
        Some(Value::Array(items)) if action == Action::Allow => {
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

/// Patterns of which one must match. `*` does not stop at a slash.
fn patterns(texts: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Glob::new(text).map_err(|error| format!("`{text}` is no pattern: {}", error.kind()))?);
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

    fn rules() -> Rules {
        let rule = |tools: &[&str], action| RuleSettings { tools: owned(tools), action, ..RuleSettings::default() };
        let reason = Some("mail stays in the house.".to_owned());
        let rules = [
            RuleSettings { roles: Some(owned(&["admin"])), ..rule(&["delete_*"], Action::Ask) },
            rule(&["delete_*", "drop"], Action::Deny),
            RuleSettings {
                arguments: vec![("mail.to".to_owned(), owned(&["*@example.com", "*@example.org"]))],
                ..rule(&["send"], Action::Allow)
            },
            RuleSettings {
                arguments: vec![("cc".to_owned(), owned(&["*@evil.net"]))],
                ..rule(&["copy"], Action::Deny)
            },
            RuleSettings { reason, ..rule(&["send"], Action::Deny) },
            RuleSettings { arguments: vec![("n".to_owned(), owned(&["[0-9]"]))], ..rule(&["*"], Action::Allow) },
        ];
        Rules::new(rules.into_iter().map(|rule| Rule::new(rule).unwrap()).collect(), Action::Ask)
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let check = |name: &str, input: Value, roles: &[&str], expected: Ruling| {
            let (id, name) = (String::new(), name.to_owned());
            let call = ToolCall { id, name, input, provider_executed: false, metadata: None };
            assert_eq!(rules().ruling(&call, &owned(roles)), expected, "{call:?} by {roles:?}");
        };
        let denied = || Ruling::Deny(NO_REASON.to_owned());
        check("delete_all", json!({}), &["user"], denied());
        check("delete_all", json!({}), &["user", "admin"], Ruling::Ask);
        check("drop", json!({}), &["admin"], denied());
        let outside = || Ruling::Deny("mail stays in the house.".to_owned());
        check("send", json!({ "mail": { "to": "ada@example.com" } }), &[], Ruling::Allow);
        check("send", json!({ "mail": { "to": "ada@example.com.evil.net" } }), &[], outside());
        check("send", json!({ "mail": { "to": ["ada@example.com", "bob@example.org"] } }), &[], Ruling::Allow);
        check("send", json!({ "mail": { "to": ["ada@example.com", "eve@evil.net"] } }), &[], outside());
        check("send", json!({ "mail": { "to": [] } }), &[], outside());
        check("send", json!({ "mail": {} }), &[], outside());
        check("send", json!({ "to": "ada@example.com" }), &[], outside());
        // One item is enough to be denied.
        check("copy", json!({ "cc": ["ada@example.com", "eve@evil.net"] }), &[], denied());
        check("copy", json!({ "cc": ["ada@example.com"] }), &[], Ruling::Ask);
        check("read", json!({ "n": 7 }), &[], Ruling::Allow);
        check("read", json!({ "n": 77 }), &[], Ruling::Ask);
        check("read", json!({}), &[], Ruling::Ask);
    }

    #[test]
    fn patterns_that_cannot_be_read() {
        let settings = RuleSettings { tools: owned(&["["]), ..RuleSettings::default() };
        assert!(Rule::new(settings).unwrap_err().starts_with("`[` is no pattern: "));
    }
}
