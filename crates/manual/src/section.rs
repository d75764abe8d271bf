//! The section `docs` of the config.

use config::Section;
use schemars::JsonSchema;
use serde::Deserialize;

/// The documentation of this version at `/docs`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Docs {
    /// The users who may read it; for others the pages do not exist. Default: `admins`.
    pub(crate) visible_to: Audience,
}

/// The users who may read the documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Audience {
    /// Users with the role `admin`.
    #[default]
    Admins,
    /// Everybody who is signed in.
    Users,
    /// Everybody who reaches the server.
    Everyone,
    /// No user.
    Nobody,
}

impl Section for Docs {
    const KEY: &'static str = "docs";
}
