//! How a server at an address is reached: through the room that decides where requests may go, with its headers and a token.

use super::MAX_MESSAGE;
use super::oauth;
use super::settings::HttpTransport;
use egress::Egress;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret, SecretString};
use std::time::Instant;
use url::Url;

/// What a connection is made with.
pub(super) struct Access {
    pub(super) client: reqwest::Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// When the token is no longer good.
    pub(super) ends: Option<Instant>,
}

/// Checks the address and gets a token where one is needed.
pub(super) async fn access(settings: &HttpTransport) -> Result<Access, String> {
    let egress = Egress::new(settings.allow_private)?;
    let client = egress.client(&settings.url).map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        headers.insert(header_name(name)?, header_value(value)?);
    }
    let mut ends = None;
    if let Some(credentials) = &settings.oauth {
        let token = oauth::token(&egress, credentials).await?;
        headers.insert(AUTHORIZATION, header_value(&format!("Bearer {}", token.text.expose_secret()).into())?);
        ends = token.ends;
    }
    Ok(Access { client, url: settings.url.clone(), headers, ends })
}

/// Streamable HTTP.
pub(super) fn streamable(access: &Access) -> StreamableHttpClientTransport<reqwest::Client> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(access.url.as_str());
    config.custom_headers = access.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    config.max_sse_event_size = MAX_MESSAGE;
    StreamableHttpClientTransport::with_client(access.client.clone(), config)
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    name.parse().map_err(|_| format!("`{name}` is no name of a header"))
}

fn header_value(value: &SecretString) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| "a header holds what no header may")?;
    value.set_sensitive(true);
    Ok(value)
}
