//! Prepares connections to servers over HTTP: through `egress`, which decides where requests may
//! go, with headers and an access token.

use crate::oauth;
use crate::streamable::HttpClient;
use crate::{HttpServerSettings, MAX_MESSAGE};
use contract::Bearer;
use egress::{Egress, challenges};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// The maximum number of attempts to resume a broken stream; together they take 3.5 s.
const MAX_ATTEMPTS: usize = 3;

/// The parameters for opening a connection.
pub(crate) struct HttpAccess {
    pub(crate) client: reqwest::Client,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// When the access token expires.
    pub(crate) token_expiry: Option<Instant>,
}

/// Why a server cannot be asked.
pub(crate) enum AccessError {
    /// Its address or a header cannot be used.
    Settings(String),
    /// There is no access token.
    Token(String),
}

impl From<String> for AccessError {
    fn from(cause: String) -> Self {
        Self::Settings(cause)
    }
}

/// Checks the URL, and requests an access token if one is needed. `token` is that of the user.
pub(crate) async fn prepare_access(
    settings: &HttpServerSettings,
    token: Option<&Bearer>,
) -> Result<HttpAccess, AccessError> {
    let egress = Egress::new(settings.allow_private)?;
    let client = egress.client(&settings.url).map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        headers.insert(header_name(name)?, header_value(value)?);
    }
    let mut ends = None;
    if let Some(credentials) = &settings.oauth {
        let token = oauth::token(&egress, settings, credentials).await.map_err(AccessError::Token)?;
        headers.insert(AUTHORIZATION, header_value(&format!("Bearer {}", token.text.expose_secret()).into())?);
        ends = token.expires_at;
    }
    if let Some(token) = token {
        headers.insert(AUTHORIZATION, header_value(&format!("Bearer {}", token.expose()).into())?);
    }
    Ok(HttpAccess { client, url: settings.url.clone(), headers, token_expiry: ends })
}

/// Creates the streamable HTTP transport. It does not renew an expired session by itself: the owner
/// of the connection does, which also knows which calls may be repeated.
pub(crate) fn streamable(access: &HttpAccess) -> StreamableHttpClientTransport<HttpClient> {
    let mut config =
        StreamableHttpClientTransportConfig::with_uri(access.url.as_str()).reinit_on_expired_session(false);
    config.custom_headers = access.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    config.max_sse_event_size = MAX_MESSAGE;
    // A call waits for its stream no longer than this.
    let mut retry = ExponentialBackoff::default();
    retry.base_duration = Duration::from_millis(500);
    retry.max_times = Some(MAX_ATTEMPTS);
    config.retry_config = Arc::new(retry);
    StreamableHttpClientTransport::with_client(HttpClient::new(access.client.clone()), config)
}

/// Returns the challenges of `WWW-Authenticate` if the server wants another token: there was none, it is not valid, or it has
/// too few scopes (RFC 6750, 3.1).
pub(crate) fn token_challenge(response: &Response) -> Option<String> {
    match response.status() {
        StatusCode::UNAUTHORIZED => Some(challenges(response.headers())),
        StatusCode::FORBIDDEN => {
            Some(challenges(response.headers())).filter(|value| value.contains("insufficient_scope"))
        }
        _ => None,
    }
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    name.parse().map_err(|_| format!("`{name}` is not a valid header name"))
}

fn header_value(value: &SecretString) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::from_str(value.expose_secret()).map_err(|_| "a header value contains invalid characters")?;
    value.set_sensitive(true);
    Ok(value)
}
