//! The section `connectedAccounts` of the config.

use config::{Config, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Variable;

/// The accounts of users at services that agents call on their behalf, and what users enter for remote agents. Users
/// manage both at `/account/connections`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ConnectedAccounts {
    /// Environment variables with keys of at least 32 characters. What is stored is encrypted with the first one and can
    /// be read with all of them. Without a key no account can be connected.
    #[schemars(length(max = 5))]
    pub(crate) keys: Vec<Variable>,
}

impl Section for ConnectedAccounts {
    const KEY: &'static str = "connectedAccounts";

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        if self.keys.is_empty() && crate::services::all(config).next().is_some() {
            problems.error(
                &[PathStep::Key("keys")],
                "there is no key to encrypt the tokens of users with",
                Some("name an environment variable with at least 32 random characters".to_owned()),
            );
        }
    }
}
