//! Requests with secrets: the exchange of a code for tokens, and the user's claims.

use super::discovery::Metadata;
use super::pending::PendingSignIn;
use super::{MAX_BYTES, ProviderClient, ProviderError, TIMEOUT};
use crate::oauth::{basic_credentials, error_code};
use config::OpenIdProvider;
use egress::EgressRequest;
use http::{HeaderMap, HeaderValue, Method, header};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::user_auth::SignInTokens;
use url::Url;
use url::form_urlencoded::Serializer;

/// The tokens of a sign-in.
pub(super) struct Tokens {
    pub(super) id_token: SecretString,
    pub(super) access_token: Option<SecretString>,
    refresh_token: Option<SecretString>,
    /// The lifetime of the access token in seconds.
    expires_in: Option<i64>,
    scopes: Option<String>,
}

/// The response of the token endpoint (OpenID Connect Core 1.0, 3.1.3.3).
#[derive(Deserialize)]
struct TokenResponse {
    id_token: String,
    access_token: Option<String>,
    // What a sign-in does not need may have any form, so that nobody is kept out because of it.
    refresh_token: Option<Value>,
    expires_in: Option<Value>,
    scope: Option<Value>,
}

impl From<TokenResponse> for Tokens {
    fn from(sent: TokenResponse) -> Self {
        let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
        let expires_in = sent.expires_in.and_then(|value| match value {
            Value::String(text) => text.parse().ok(),
            value => value.as_i64(),
        });
        Self {
            id_token: sent.id_token.into(),
            access_token: sent.access_token.map(SecretString::from),
            refresh_token: text(sent.refresh_token).filter(|token| !token.is_empty()).map(SecretString::from),
            expires_in,
            scopes: text(sent.scope),
        }
    }
}

impl Tokens {
    /// Returns the tokens with which services can be called on behalf of the user.
    pub(super) fn into_sign_in_tokens(self, provider: &str, metadata: &Metadata) -> Option<SignInTokens> {
        Some(SignInTokens {
            provider: provider.to_owned(),
            token_endpoint: metadata.token_endpoint.clone(),
            revocation_endpoint: metadata.revocation_endpoint.clone(),
            secret_in_body: metadata.secret_in_body,
            access_token: self.access_token?,
            refresh_token: self.refresh_token,
            id_token: self.id_token,
            expires_in: self.expires_in,
            scopes: self.scopes,
        })
    }
}

impl ProviderClient {
    /// Exchanges a code for tokens (RFC 6749, 4.1.3).
    pub(super) async fn exchange(
        &self,
        settings: &OpenIdProvider,
        metadata: &Metadata,
        pending: &PendingSignIn,
        code: &str,
    ) -> Result<Tokens, ProviderError> {
        let (headers, body) = token_request(settings, metadata, pending, code);
        let request = EgressRequest {
            method: Method::POST,
            url: metadata.token_endpoint.clone(),
            headers,
            body: Some(body.into_bytes()),
            timeout: TIMEOUT,
            max_bytes: MAX_BYTES,
        };
        let answer = self.send(request).await?;
        match answer.status {
            200 => {
                let sent: TokenResponse =
                    serde_json::from_slice(&answer.body).map_err(|_| ProviderError::Invalid("tokens"))?;
                Ok(sent.into())
            }
            400..=499 => {
                // `invalid_grant` for a code that was used before; `invalid_client` for a wrong secret.
                tracing::warn!(
                    provider = settings.id,
                    error = error_code(&answer.body).unwrap_or("other"),
                    "a provider refuses a code"
                );
                Err(ProviderError::Invalid("code or client"))
            }
            status => Err(ProviderError::Unreachable(format!("its token endpoint has status {status}"))),
        }
    }

    /// Returns the claims of the userinfo endpoint (OpenID Connect Core 1.0, 5.3).
    pub(super) async fn user_info(
        &self,
        endpoint: &Url,
        token: &SecretString,
    ) -> Result<Map<String, Value>, ProviderError> {
        let authorization = secret_header(&format!("Bearer {}", token.expose_secret()))?;
        let answer = self.get(endpoint.clone(), Some(authorization)).await?;
        if answer.status != 200 {
            return Err(ProviderError::Unreachable(format!("its userinfo endpoint has status {}", answer.status)));
        }
        serde_json::from_slice(&answer.body).map_err(|_| ProviderError::Invalid("userinfo"))
    }
}

/// Returns headers and body of the request for tokens.
fn token_request(
    settings: &OpenIdProvider,
    metadata: &Metadata,
    pending: &PendingSignIn,
    code: &str,
) -> (HeaderMap, String) {
    let mut headers = HeaderMap::from_iter([
        (header::ACCEPT, HeaderValue::from_static("application/json")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded")),
    ]);
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", &pending.redirect_uri)
        .append_pair("code_verifier", &pending.verifier);
    match &settings.client_secret {
        Some(secret) if !metadata.secret_in_body => {
            headers.insert(header::AUTHORIZATION, basic_credentials(&settings.client_id, secret.expose_secret()));
        }
        Some(secret) => {
            form.append_pair("client_id", &settings.client_id).append_pair("client_secret", secret.expose_secret());
        }
        None => {
            form.append_pair("client_id", &settings.client_id);
        }
    }
    (headers, form.finish())
}

fn secret_header(text: &str) -> Result<HeaderValue, ProviderError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ProviderError::Invalid("access token"))?;
    value.set_sensitive(true);
    Ok(value)
}
