//! `auth` of a page, an agent or an endpoint: who may use it.

use super::value::Text;
use crate::rule::AccessRule;
use config_source::{Node, Report};
use schemars::JsonSchema;
use serde::Deserialize;

/// Who may use it: `public`, `protected`, or `{ roles: [...] }`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RuleEntry {
    /// The rule as a word.
    Word(RuleWord),
    /// The rule as a mapping.
    Mapping(RuleMapping),
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "rule"))]
pub(crate) enum RuleWord {
    /// Everybody, signed in or not.
    Public,
    /// All signed-in users.
    Protected,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub(crate) struct RuleMapping {
    /// Everybody, signed in or not.
    #[serde(default)]
    #[schemars(extend("enum" = [true]))]
    public: bool,
    /// All signed-in users.
    #[serde(default)]
    #[schemars(extend("enum" = [true]))]
    protected: bool,
    /// All signed-in users who have one of these roles.
    #[serde(default)]
    #[schemars(extend("minItems" = 1))]
    roles: Vec<Text>,
}

/// A key `roles` without a value has no role.
impl From<RuleEntry> for AccessRule {
    fn from(entry: RuleEntry) -> Self {
        match entry {
            RuleEntry::Word(RuleWord::Public) | RuleEntry::Mapping(RuleMapping { public: true, .. }) => Self::Public,
            RuleEntry::Word(RuleWord::Protected) | RuleEntry::Mapping(RuleMapping { protected: true, .. }) => {
                Self::Protected
            }
            RuleEntry::Mapping(RuleMapping { roles, .. }) => {
                Self::Roles(roles.into_iter().map(|Text(role)| role).collect())
            }
        }
    }
}

/// Converts the rule of an entry. Without one it is [`AccessRule::Protected`].
pub(super) fn read(entry: Option<RuleEntry>, owner: &Node, report: &mut Report) -> AccessRule {
    let rule = entry.map_or_else(AccessRule::default, AccessRule::from);
    check(&rule, owner, report);
    rule
}

/// Reports a rule that admits nobody. The rule is written under `auth` of its `owner`.
pub(crate) fn check(rule: &AccessRule, owner: &Node, report: &mut Report) {
    if matches!(rule, AccessRule::Roles(roles) if roles.is_empty()) {
        let at = owner.get("auth").map_or(owner.at, |entry| entry.value.at);
        report.error(at, "this does not say who", Some("name roles: `{ roles: [admin] }`".to_owned()));
    }
}
