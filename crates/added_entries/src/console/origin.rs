//! Where the entries of a list come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::admin::filters::Choice;

/// Where an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EntryOrigin")]
pub enum Origin {
    /// The config.
    Config,
    /// An administrator has added it.
    Added,
}

impl Origin {
    /// Returns the words for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Added => "administrators",
        }
    }
}

/// Where the listed entries come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "EntryOriginQuery")]
pub enum OriginQuery {
    /// From anywhere.
    #[default]
    All,
    /// The config.
    Config,
    /// The entries that administrators have added.
    Added,
}

impl OriginQuery {
    /// Returns whether the list has entries that come from there.
    pub fn includes(self, origin: Origin) -> bool {
        match self {
            Self::All => true,
            Self::Config => origin == Origin::Config,
            Self::Added => origin == Origin::Added,
        }
    }
}

impl Choice for OriginQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::All, "all", "All"), (Self::Config, "config", "The config"), (Self::Added, "added", "Administrators")];
}
