//! The key `scim` of `auth`: the directory that manages users over SCIM.

use super::{SCIM_TOKEN, keys_of};
use crate::auth::OpenIdProvider;
use crate::section::Context;
use crate::section::value::{SecretEntry, Text};
use config_source::{Node, PathStep};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

/// The directory that manages users and groups over SCIM 2.0, at `/scim/v2`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScimEntry {
    /// The tokens that the directory may send as `Authorization: Bearer …`, at least 32 characters each, as `{ _secret:
    /// NAME_OF_A_VARIABLE }`. All are accepted, so that a token can be replaced.
    #[schemars(length(min = 1, max = 5))]
    tokens: Vec<SecretEntry>,
    /// The id of the provider in `openidConnect` at which the users of the directory sign in. Users who sign in there are
    /// linked with their account by the id in the directory (`externalId`).
    provider: Option<Text>,
    /// The claim of the provider's tokens with the id in the directory. Dots lead to nested claims. Default: `sub`.
    claim: Option<Text>,
}

/// Reads the tokens, and sets the claim at the provider.
pub(super) fn read(
    entry: Option<ScimEntry>,
    providers: &mut [OpenIdProvider],
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Vec<SecretString> {
    let Some(entry) = entry else { return Vec::new() };
    let at = |key| node.span_at(&[PathStep::Key("scim"), PathStep::Key(key)]);
    match (&entry.provider, &entry.claim) {
        (Some(Text(id)), claim) => match providers.iter_mut().find(|provider| provider.id == *id) {
            Some(provider) => {
                provider.directory_claim = Some(claim.as_ref().map_or("sub", |Text(claim)| claim).to_owned());
            }
            None => {
                let help = "name one of `openidConnect` by its id".to_owned();
                context.report.error(at("provider"), format!("there is no provider `{id}`"), Some(help));
            }
        },
        (None, Some(_)) => {
            let help = "name the provider whose claim it is: `provider: company`".to_owned();
            context.report.error(at("claim"), "without `provider` the claim is not read", Some(help));
        }
        (None, None) => {}
    }
    keys_of(&["scim", "tokens"], SCIM_TOKEN, entry.tokens, node, context)
}
