//! The metadata of a provider (OpenID Connect Discovery 1.0), which is loaded when it is needed and
//! refreshed from time to time.

use super::{ProviderClient, ProviderError};
use crate::jwt::{Jwt, RequestPace, TokenKind};
use arc_swap::ArcSwapOption;
use config::{ClaimNames, JwtAuth, JwtKeys, OpenIdProvider};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

/// The metadata is refreshed after this time.
const MAX_AGE: Duration = Duration::from_secs(3_600);
/// How long old metadata is used if the provider cannot be reached.
const MAX_STALE: Duration = Duration::from_secs(24 * 3_600);

/// The part of a provider's metadata that is used.
pub(super) struct Metadata {
    pub(super) authorization_endpoint: Url,
    pub(super) token_endpoint: Url,
    pub(super) userinfo_endpoint: Option<Url>,
    pub(super) end_session_endpoint: Option<Url>,
    pub(super) revocation_endpoint: Option<Url>,
    /// Whether its answers name the issuer (RFC 9207).
    pub(super) names_issuer: bool,
    /// Whether the client's secret is sent in the body instead of a header.
    pub(super) secret_in_body: bool,
    /// Verifies ID tokens.
    pub(super) tokens: Jwt,
    /// Verifies logout tokens.
    pub(super) logout_tokens: Jwt,
}

/// The metadata as it is published.
#[derive(Deserialize)]
struct Published {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    userinfo_endpoint: Option<Url>,
    end_session_endpoint: Option<Url>,
    revocation_endpoint: Option<Url>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    /// Absent: `client_secret_basic`.
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// The cached metadata of a provider.
#[derive(Default)]
pub(super) struct MetadataCache {
    loaded: ArcSwapOption<Loaded>,
    /// Locked during a request.
    pace: Mutex<RequestPace>,
}

/// The metadata of the last successful request.
struct Loaded {
    metadata: Arc<Metadata>,
    at: Instant,
}

impl MetadataCache {
    /// Returns the metadata, loaded if it is missing or old.
    pub(super) async fn get(
        &self,
        settings: &OpenIdProvider,
        client: &ProviderClient,
    ) -> Result<Arc<Metadata>, ProviderError> {
        if let Some(metadata) = self.known(MAX_AGE) {
            return Ok(metadata);
        }
        // Only the request that begins a refresh waits for it. Otherwise all sign-ins would wait while the provider does not
        // answer.
        if let Some(old) = self.known(MAX_STALE)
            && self.pace.try_lock().is_err()
        {
            return Ok(old);
        }
        let mut pace = self.pace.lock().await;
        // Another request may have loaded it while this one waited.
        if let Some(metadata) = self.known(MAX_AGE) {
            return Ok(metadata);
        }
        let old = self.known(MAX_STALE);
        if !pace.allows_request() {
            return old
                .ok_or_else(|| ProviderError::Unreachable("its metadata could not be loaded a moment ago".to_owned()));
        }
        match pace.run(load(settings, client)).await {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                self.store(metadata.clone());
                Ok(metadata)
            }
            Err(error) => {
                tracing::error!(provider = settings.id, %error, "the metadata of a provider cannot be loaded");
                old.ok_or(error)
            }
        }
    }

    /// Returns the metadata if it is younger than `age`.
    fn known(&self, age: Duration) -> Option<Arc<Metadata>> {
        let loaded = self.loaded.load_full().filter(|loaded| loaded.at.elapsed() < age)?;
        Some(loaded.metadata.clone())
    }

    fn store(&self, metadata: Arc<Metadata>) {
        self.loaded.store(Some(Arc::new(Loaded { metadata, at: Instant::now() })));
    }
}

/// Loads the metadata without the cache.
pub(super) async fn load(settings: &OpenIdProvider, client: &ProviderClient) -> Result<Metadata, ProviderError> {
    let refuse = |problem: &str| ProviderError::Unreachable(problem.to_owned());
    let text = format!("{}/.well-known/openid-configuration", settings.issuer.trim_end_matches('/'));
    let url = Url::parse(&text).map_err(|_| refuse("its issuer is not a URL"))?;
    let answer = client.get(url, None).await?;
    if answer.status != 200 {
        return Err(ProviderError::Unreachable(format!("{text} has status {}", answer.status)));
    }
    let published: Published = serde_json::from_slice(&answer.body)
        .map_err(|_| ProviderError::Unreachable(format!("{text} is not the metadata of a provider")))?;
    metadata(published, settings).map_err(|problem| ProviderError::Unreachable(problem.to_owned()))
}

/// Checks metadata. The issuer must be the one of the config, so that no provider can publish metadata for another
/// one.
fn metadata(published: Published, settings: &OpenIdProvider) -> Result<Metadata, &'static str> {
    if published.issuer != settings.issuer {
        return Err("its metadata names another `issuer` than the config; compare them, including a `/` at the end");
    }
    let optional = [&published.userinfo_endpoint, &published.end_session_endpoint, &published.revocation_endpoint];
    let urls = [&published.authorization_endpoint, &published.token_endpoint, &published.jwks_uri];
    let is_safe =
        |url: &Url| url.scheme() == "https" || url.scheme() == "http" && settings.issuer_url.scheme() == "http";
    if !urls.into_iter().chain(optional.into_iter().flatten()).all(is_safe) {
        return Err("one of its endpoints is not reached over `https`");
    }
    let methods = published.token_endpoint_auth_methods_supported.as_deref();
    let has_method = |name: &str| methods.is_some_and(|methods| methods.iter().any(|method| method == name));
    let checks = JwtAuth {
        keys: JwtKeys::Url { url: published.jwks_uri, allow_private: settings.allow_private },
        issuer: Some(settings.issuer.clone()),
        audience: vec![settings.client_id.clone()],
        cookie: None,
        leeway: settings.leeway,
        claims: ClaimNames::default(),
    };
    let verifier = |kind| Jwt::of_kind(&checks, kind).map_err(|_| "its keys cannot be loaded");
    Ok(Metadata {
        authorization_endpoint: published.authorization_endpoint,
        token_endpoint: published.token_endpoint,
        userinfo_endpoint: published.userinfo_endpoint,
        end_session_endpoint: published.end_session_endpoint,
        revocation_endpoint: published.revocation_endpoint,
        names_issuer: published.authorization_response_iss_parameter_supported,
        secret_in_body: methods.is_some() && !has_method("client_secret_basic"),
        tokens: verifier(TokenKind::Id)?,
        logout_tokens: verifier(TokenKind::Logout)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::TIMEOUT;
    use super::super::claims::tests::settings;
    use super::*;
    use egress::Egress;
    use serde_json::json;
    use tokio::time::{advance, timeout};

    #[tokio::test(start_paused = true)]
    async fn sign_ins_do_not_wait_for_the_refresh_of_another_request() {
        let settings = settings(&[]);
        let url = |path: &str| format!("https://provider.test/{path}");
        let published = json!({
            "issuer": settings.issuer,
            "authorization_endpoint": url("authorize"),
            "token_endpoint": url("token"),
            "jwks_uri": url("keys"),
        });
        let known = metadata(serde_json::from_value(published).unwrap(), &settings).unwrap();
        let client = ProviderClient(Egress::without_redirects(false).unwrap());
        let cache = MetadataCache::default();
        let check = async |is_known: bool| {
            let found = timeout(TIMEOUT, cache.get(&settings, &client)).await;
            assert_eq!(found.is_ok_and(|found| found.is_ok()), is_known);
        };
        let _refresh = cache.pace.lock().await;
        check(false).await;
        cache.store(Arc::new(known));
        check(true).await;
        advance(MAX_AGE).await;
        check(true).await;
        advance(MAX_STALE).await;
        check(false).await;
    }
}
