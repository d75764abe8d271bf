//! Access rules.

use crate::section::rule_entry::RuleEntry;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::borrow::Cow;

/// The roles of the owner in the auth mode `local`.
pub const OWNER_ROLES: [&str; 1] = ["admin"];

/// Who may use an endpoint, an agent or a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "RuleEntry")]
pub enum AccessRule {
    /// Everybody, signed in or not.
    Public,
    /// All signed-in users.
    #[default]
    Protected,
    /// All signed-in users who have one of these roles; there is at least one.
    Roles(Vec<String>),
    /// The user with this id, once signed in. No config writes it: it is the rule of what a user has made.
    User(String),
    /// Whoever one of these rules admits. No config writes it.
    Any(Vec<Self>),
    /// Whoever all of these rules admit. No config writes it.
    All(Vec<Self>),
}

impl AccessRule {
    /// Whether everybody whom `other` admits is admitted here as well, as far as the rules of a config say.
    pub(crate) fn admits_all_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Public, _) => true,
            (_, Self::Public) | (Self::Roles(_), Self::Protected) => false,
            (Self::Protected, _) => true,
            (Self::Roles(here), Self::Roles(there)) => there.iter().all(|role| here.contains(role)),
            (Self::User(_) | Self::Any(_) | Self::All(_), _) | (_, Self::User(_) | Self::Any(_) | Self::All(_)) => {
                self == other
            }
        }
    }

    /// Returns the roles that the rule names.
    pub(crate) fn roles(&self) -> Vec<&str> {
        match self {
            Self::Public | Self::Protected | Self::User(_) => Vec::new(),
            Self::Roles(roles) => roles.iter().map(String::as_str).collect(),
            Self::Any(rules) | Self::All(rules) => rules.iter().flat_map(Self::roles).collect(),
        }
    }
}

/// The schema of the config's `auth` keys.
impl JsonSchema for AccessRule {
    fn inline_schema() -> bool {
        RuleEntry::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        RuleEntry::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        RuleEntry::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RuleEntry::json_schema(generator)
    }
}

/// Renders the end of a sentence such as "the page is …".
impl std::fmt::Display for AccessRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Public => f.write_str("public"),
            Self::Protected => f.write_str("for all signed-in users"),
            Self::Roles(roles) => {
                let what = if roles.len() == 1 { "role" } else { "roles" };
                write!(f, "for the {what} `{}`", roles.join("`, `"))
            }
            Self::User(_) => f.write_str("for one user"),
            Self::Any(_) | Self::All(_) => f.write_str("for some users"),
        }
    }
}
