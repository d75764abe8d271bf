//! Checks that the providers at which users sign in can be reached.

use super::CheckResult;
use auth::openid_connect::Provider;
use config::{AuthMode, Config, OpenIdProvider};
use futures::future::join_all;

/// Loads the metadata of all providers concurrently.
pub(super) async fn check_providers(config: &Config) -> Vec<CheckResult> {
    let AuthMode::Accounts(accounts) = &config.auth.mode else { return Vec::new() };
    join_all(accounts.providers.iter().map(check)).await
}

async fn check(settings: &OpenIdProvider) -> CheckResult {
    let check = format!("sign-in with {}", settings.id);
    let checked = match Provider::new(settings) {
        Ok(provider) => provider.check().await,
        Err(error) => Err(error.to_string()),
    };
    match checked {
        Ok(true) => CheckResult::ok(check, format!("{} responds; the client was not tested", settings.issuer)),
        Ok(false) => CheckResult::ok(
            check,
            format!("{} responds, but ends no sessions of its own; the client was not tested", settings.issuer),
        ),
        Err(error) => CheckResult::wrong(check, error),
    }
}
