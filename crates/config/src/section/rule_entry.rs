//! `auth` of an endpoint, an agent and a page: who may use it.

use super::value::Text;
use crate::rule::Rule;
use crate::source::{Node, Report};
use schemars::JsonSchema;
use serde::Deserialize;

/// Who may use it: `public`, `protected`, or `{ roles: [...] }`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RuleEntry {
    /// In one word.
    Word(RuleWord),
    /// With a key.
    Mapping(RuleMapping),
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "rule"))]
pub(crate) enum RuleWord {
    /// Everybody, signed in or not.
    Public,
    /// Whoever is signed in.
    Protected,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub(crate) struct RuleMapping {
    /// Everybody, signed in or not.
    #[serde(default)]
    #[schemars(extend("enum" = [true]))]
    public: bool,
    /// Whoever is signed in.
    #[serde(default)]
    #[schemars(extend("enum" = [true]))]
    protected: bool,
    /// Whoever is signed in and has one of these roles.
    #[serde(default)]
    #[schemars(extend("minItems" = 1))]
    roles: Vec<Text>,
}

/// The rule of an entry; without one, [`Rule::Protected`].
pub(super) fn read(entry: Option<RuleEntry>, owner: &Node, report: &mut Report) -> Rule {
    let Some(entry) = entry else { return Rule::default() };
    match entry {
        RuleEntry::Word(RuleWord::Public) => Rule::Public,
        RuleEntry::Word(RuleWord::Protected) => Rule::Protected,
        RuleEntry::Mapping(RuleMapping { public: true, .. }) => Rule::Public,
        RuleEntry::Mapping(RuleMapping { protected: true, .. }) => Rule::Protected,
        RuleEntry::Mapping(RuleMapping { roles, .. }) => {
            // A key without a value.
            if roles.is_empty() {
                let at = owner.get("auth").map_or(owner.at, |entry| entry.value.at);
                report.error(at, "this does not say who", Some("name roles: `{ roles: [admin] }`".to_owned()));
            }
            Rule::Roles(roles.into_iter().map(|Text(role)| role).collect())
        }
    }
}
