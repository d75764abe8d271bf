//! Sign-in at a provider of OpenID Connect: the authorization code flow with PKCE (OpenID Connect Core 1.0,
//! RFC 6749, RFC 7636), as RFC 9700 recommends.

mod claims;
mod discovery;
mod error;
mod id_token;
mod logout;
mod pending;
mod token_keeper;
mod token_request;

pub use claims::ProviderUser;
pub use error::ProviderError;
pub use id_token::IdTokenClaims;
pub use logout::ProviderLogout;
pub use pending::{PendingSignIn, PendingSignIns};
pub use token_keeper::{KeepSignInTokens, TokenKeeper};

use crate::oauth::code_challenge;
use crate::token_parts::{now_seconds, random_text};
use config::OpenIdProvider;
use discovery::{Metadata, MetadataCache};
use egress::{Egress, EgressRequest, EgressResponse};
use http::{HeaderMap, HeaderValue, Method, header};
use serde::Deserialize;
use settings::user_auth::SignInTokens;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use url::Url;

/// Timeout for a request to the provider.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The limit on a response of the provider in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// The limit on concurrent sign-ins at a provider.
const MAX_CONCURRENT: usize = 64;
/// The limit on concurrent logout tokens of a provider.
const MAX_CONCURRENT_LOGOUTS: usize = 8;

/// A provider at which users sign in.
pub struct Provider {
    /// The settings of the config.
    pub settings: OpenIdProvider,
    client: ProviderClient,
    metadata: MetadataCache,
    permits: Semaphore,
    /// Of their own, so that strangers who send logout tokens keep nobody from signing in.
    logout_permits: Semaphore,
}

/// Sends requests to a provider. It follows no redirects: codes and secrets are for one URL only.
#[derive(Clone)]
struct ProviderClient(Egress);

/// The parameters that the provider adds to the redirect URI (RFC 6749, 4.1.2; RFC 9207).
#[derive(Default, Deserialize)]
pub struct Callback {
    /// The `state` of the request.
    #[serde(default)]
    pub state: String,
    /// The authorization code.
    pub code: Option<String>,
    /// The issuer that answers.
    pub iss: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
}

/// Where a sign-in was begun.
pub struct NewSignIn<'a> {
    /// The origin of this server as browsers see it, such as `https://chat.example.com`.
    pub origin: &'a str,
    /// The path to open afterwards.
    pub next: &'a str,
    /// The user whose account gets the identity; `None` to sign in.
    pub link_to: Option<&'a str>,
    /// The user who is signed in and only gets new tokens of the provider.
    pub tokens_for: Option<&'a str>,
}

/// A user who has signed in at the provider.
pub struct FinishedSignIn {
    /// The user.
    pub user: ProviderUser,
    /// The tokens with which services can be called on their behalf, if the provider has issued an access token.
    pub tokens: Option<SignInTokens>,
}

impl Provider {
    /// Creates a provider. Its metadata is loaded when it is first used.
    ///
    /// # Errors
    /// The system's trusted certificates cannot be read.
    pub fn new(settings: &OpenIdProvider) -> anyhow::Result<Self> {
        let client = Egress::without_redirects(settings.allow_private).map_err(anyhow::Error::msg)?;
        Ok(Self {
            settings: settings.clone(),
            client: ProviderClient(client),
            metadata: MetadataCache::default(),
            permits: Semaphore::new(MAX_CONCURRENT),
            logout_permits: Semaphore::new(MAX_CONCURRENT_LOGOUTS),
        })
    }

    /// Loads the metadata, to check that the provider can be used. Returns whether it ends its own
    /// sessions when users sign out.
    ///
    /// # Errors
    /// A message for the operator.
    pub async fn check(&self) -> Result<bool, String> {
        let metadata = discovery::load(&self.settings, &self.client).await.map_err(|error| error.to_string())?;
        Ok(metadata.end_session_endpoint.is_some())
    }

    /// Returns the URL at which the user signs in, and what must be kept in the browser until then.
    ///
    /// # Errors
    /// The metadata cannot be loaded.
    pub async fn begin(&self, new: NewSignIn<'_>) -> Result<(Url, PendingSignIn), ProviderError> {
        let metadata = self.metadata().await?;
        let pending = PendingSignIn {
            provider: self.settings.id.clone(),
            state: random_text(),
            nonce: random_text(),
            verifier: random_text(),
            redirect_uri: format!("{}/auth/openid-connect/{}/callback", new.origin, self.settings.id),
            next: new.next.to_owned(),
            link_to: new.link_to.map(str::to_owned),
            tokens_for: new.tokens_for.map(str::to_owned),
            begun_at: now_seconds(),
        };
        let challenge = code_challenge(&pending.verifier);
        let scopes = std::iter::once("openid").chain(self.settings.scopes.iter().map(String::as_str));
        let scope = scopes.collect::<Vec<_>>().join(" ");
        let mut url = metadata.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &pending.redirect_uri)
            .append_pair("scope", &scope)
            .append_pair("state", &pending.state)
            .append_pair("nonce", &pending.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok((url, pending))
    }

    /// Finishes a sign-in: checks the provider's answer, exchanges the code and verifies the ID token.
    ///
    /// # Errors
    /// See [`ProviderError`].
    pub async fn finish(&self, pending: &PendingSignIn, answer: &Callback) -> Result<FinishedSignIn, ProviderError> {
        let is_ours =
            pending.provider == self.settings.id && Sha256::digest(&pending.state) == Sha256::digest(&answer.state);
        if !is_ours || pending.is_expired() {
            return Err(ProviderError::Expired);
        }
        let _permit = self.permits.try_acquire().map_err(|_| ProviderError::Busy)?;
        let metadata = self.metadata().await?;
        // A code of another provider must not be sent to this one (RFC 9207).
        match &answer.iss {
            Some(issuer) if *issuer != self.settings.issuer => {
                return Err(ProviderError::Invalid("issuer of the answer"));
            }
            None if metadata.names_issuer => return Err(ProviderError::Invalid("answer without its issuer")),
            _ => {}
        }
        if let Some(error) = &answer.error {
            return Err(ProviderError::from_callback(error));
        }
        let code = answer.code.as_deref().ok_or(ProviderError::Invalid("answer without a code"))?;
        let tokens = self.client.exchange(&self.settings, &metadata, pending, code).await?;
        let mut claims = id_token::verify(&metadata.tokens, &self.settings, &tokens, &pending.nonce).await?;
        if claims::needs_user_info(&claims, &self.settings)
            && let (Some(endpoint), Some(token)) = (&metadata.userinfo_endpoint, &tokens.access_token)
        {
            claims::add_user_info(&mut claims, self.client.user_info(endpoint, token).await?)?;
        }
        let user = claims::user(&claims, &self.settings)?;
        Ok(FinishedSignIn { user, tokens: tokens.into_sign_in_tokens(&self.settings.id, &metadata) })
    }

    /// Returns the URL that ends the user's session at the provider (OpenID Connect RP-Initiated Logout 1.0); `None`
    /// if the provider has none.
    ///
    /// # Errors
    /// The metadata cannot be loaded.
    pub async fn sign_out_url(&self, origin: &str) -> Result<Option<Url>, ProviderError> {
        let metadata = self.metadata().await?;
        Ok(metadata.end_session_endpoint.clone().map(|mut url| {
            url.query_pairs_mut()
                .append_pair("client_id", &self.settings.client_id)
                .append_pair("post_logout_redirect_uri", &format!("{origin}/auth/sign-in"));
            url
        }))
    }

    /// Verifies a logout token, with which the provider ends sessions (OpenID Connect Back-Channel Logout 1.0).
    ///
    /// # Errors
    /// The token is not valid, too many are being verified, or the metadata cannot be loaded.
    pub async fn verify_logout(&self, token: &str) -> Result<ProviderLogout, ProviderError> {
        let _permit = self.logout_permits.try_acquire().map_err(|_| ProviderError::Busy)?;
        let metadata = self.metadata().await?;
        logout::verify(&metadata.logout_tokens, token).await
    }

    async fn metadata(&self) -> Result<Arc<Metadata>, ProviderError> {
        self.metadata.get(&self.settings, &self.client).await
    }
}

impl ProviderClient {
    async fn send(&self, request: EgressRequest) -> Result<EgressResponse, ProviderError> {
        self.0.send(request).await.map_err(|error| ProviderError::Unreachable(error.to_string()))
    }

    /// Requests JSON, with the credentials of `authorization`.
    async fn get(&self, url: Url, authorization: Option<HeaderValue>) -> Result<EgressResponse, ProviderError> {
        let mut headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("application/json"))]);
        headers.extend(authorization.map(|credentials| (header::AUTHORIZATION, credentials)));
        let request =
            EgressRequest { method: Method::GET, url, headers, body: None, timeout: TIMEOUT, max_bytes: MAX_BYTES };
        self.send(request).await
    }
}
