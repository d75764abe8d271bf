//! Requests an access token by OAuth's client credentials grant or with a refresh token (RFC 6749,
//! 4.4 and 6). The token endpoint is that of the config, or is found by metadata.

use crate::{ClientCredentials, ClientProof, HttpServerSettings, TokenEndpoint};
use auth::oauth::{ASSERTION_TYPE, basic_credentials, client_assertion};
use egress::{Egress, EgressRequest};
use oauth_discovery::{OauthError, OauthHttp, find_token_endpoint};
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::time::{Duration, Instant};
use url::Url;
use url::form_urlencoded::Serializer;

/// The time limit of the whole request.
const TIME: Duration = Duration::from_secs(8);
/// The maximum size of the answer in bytes.
const MAX_ANSWER: usize = 64 << 10;
/// How long before its expiry a token is no longer used.
const MARGIN: Duration = Duration::from_secs(30);

/// An access token.
pub(crate) struct AccessToken {
    pub(crate) text: SecretString,
    /// When the token must no longer be used.
    pub(crate) expires_at: Option<Instant>,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    /// A token of any type other than `bearer` would have to be sent in another way (RFC 6749,
    /// 7.1).
    token_type: Option<String>,
    expires_in: Option<u64>,
}

/// Requests a token for a server. The error never contains what was sent or answered.
pub(crate) async fn token(
    egress: &Egress,
    server: &HttpServerSettings,
    credentials: &ClientCredentials,
) -> Result<AccessToken, String> {
    let endpoint = endpoint(server, credentials).await.map_err(|error| error.to_string())?;
    let request = request(endpoint, credentials)?;
    let asked = Instant::now();
    let answer = egress.send(request).await.map_err(|error| format!("the token endpoint: {error}"))?;
    if answer.status != 200 {
        return Err(format!("the token endpoint answered with the status {}", answer.status));
    }
    let answer: TokenResponse =
        serde_json::from_slice(&answer.body).map_err(|_| "the token endpoint's answer has no token")?;
    if answer.token_type.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err("the token endpoint's answer has an unsupported token type".to_owned());
    }
    let ends = answer.expires_in.and_then(|seconds| {
        let life = Duration::from_secs(seconds);
        asked.checked_add(life.saturating_sub(MARGIN.min(life / 2)))
    });
    Ok(AccessToken { text: answer.access_token.into(), expires_at: ends })
}

/// A token endpoint, and the parameters of a request to it.
struct Endpoint {
    url: Url,
    /// The name of the server for its authorization server, if it was found through that.
    resource: Option<String>,
    scope: Option<String>,
    secret_in_body: bool,
    /// The audience of an assertion of the client.
    audience: String,
}

/// Returns the token endpoint of the config, or finds it.
async fn endpoint(server: &HttpServerSettings, credentials: &ClientCredentials) -> Result<Endpoint, OauthError> {
    let scope = credentials.scope.clone();
    let issuer = match &credentials.endpoint {
        TokenEndpoint::Url(url) => {
            let (url, audience) = (url.clone(), url.to_string());
            return Ok(Endpoint { url, resource: None, scope, secret_in_body: false, audience });
        }
        TokenEndpoint::Issuer(issuer) => Some(issuer),
        TokenEndpoint::Discovered => None,
    };
    let http = OauthHttp::new(server.allow_private)?;
    let found = find_token_endpoint(&http, &server.url, issuer).await?;
    // A refresh token has scopes of its own.
    let asks_for_all = credentials.refresh_token.is_none() && !found.scopes.is_empty();
    let scope = scope.or_else(|| asks_for_all.then(|| found.scopes.join(" ")));
    let secret_in_body = match &credentials.proof {
        ClientProof::Secret(_) => found.is_secret_in_body()?,
        ClientProof::PrivateKey(_) => false,
    };
    Ok(Endpoint { url: found.url, resource: Some(found.resource), scope, secret_in_body, audience: found.issuer })
}

fn request(endpoint: Endpoint, credentials: &ClientCredentials) -> Result<EgressRequest, String> {
    let mut form = Serializer::new(String::new());
    match &credentials.refresh_token {
        Some(token) => {
            form.append_pair("grant_type", "refresh_token").append_pair("refresh_token", token.expose_secret())
        }
        None => form.append_pair("grant_type", "client_credentials"),
    };
    if let Some(scope) = &endpoint.scope {
        form.append_pair("scope", scope);
    }
    if let Some(resource) = &endpoint.resource {
        form.append_pair("resource", resource);
    }
    let mut headers = HeaderMap::new();
    let client_id = &credentials.client_id;
    match &credentials.proof {
        ClientProof::Secret(secret) if endpoint.secret_in_body => {
            form.append_pair("client_id", client_id).append_pair("client_secret", secret.expose_secret());
        }
        ClientProof::Secret(secret) => {
            headers.insert(AUTHORIZATION, basic_credentials(client_id, secret.expose_secret()));
        }
        ClientProof::PrivateKey(key) => {
            let assertion = client_assertion(client_id, &endpoint.audience, key)?;
            form.append_pair("client_id", client_id)
                .append_pair("client_assertion_type", ASSERTION_TYPE)
                .append_pair("client_assertion", assertion.expose_secret());
        }
    }
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    let (method, body) = (Method::POST, Some(form.finish().into_bytes()));
    Ok(EgressRequest { method, url: endpoint.url, headers, body, timeout: TIME, max_bytes: MAX_ANSWER })
}
