//! Registers this server as a client (RFC 7591).

use super::{AuthMethod, ClientIdentity, OauthError, OauthHttp, ServerMetadata};
use ::http::{HeaderMap, HeaderValue, Method, header};
use serde::Deserialize;
use serde_json::json;

const WHAT: &str = "the registration of clients";
/// The longest id and secret in bytes.
const MAX_LENGTH: usize = 2048;

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<AuthMethod>,
    /// Unix time in seconds; 0 for never.
    #[serde(default)]
    client_secret_expires_at: i64,
}

/// Registers a client. Returns it with the time until which it can be used, as Unix time in seconds; 0 for ever.
///
/// # Errors
/// The server registers nobody, or not this one.
pub(crate) async fn register(
    http: &OauthHttp,
    server: &ServerMetadata,
    redirect_uri: &str,
) -> Result<(ClientIdentity, i64), OauthError> {
    let none = OauthError::Invalid("the authorization server registers no clients: the config has to name one");
    let url = server.registration_endpoint.clone().ok_or(none)?;
    let wanted = AuthMethod::choose(server.auth_methods.as_deref(), true);
    // Without a scope: a client that is registered with one may not ask for more later.
    let body = json!({
        "client_name": "Chatwright",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted,
        "application_type": "web",
    });
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let answer = http.send(WHAT, Method::POST, url, headers, Some(body.to_string().into_bytes())).await?;
    if !(200..300).contains(&answer.status) {
        return Err(OauthError::Unreachable(WHAT, format!("HTTP {}", answer.status)));
    }
    let unusable = OauthError::Invalid("the authorization server's registration cannot be read");
    let registered: Registered = serde_json::from_slice(&answer.body).map_err(|_| unusable.clone())?;
    let secret = registered.client_secret.filter(|secret| !secret.is_empty());
    if registered.client_id.len() > MAX_LENGTH || secret.as_ref().is_some_and(|secret| secret.len() > MAX_LENGTH) {
        return Err(unusable);
    }
    let choose = || AuthMethod::choose(server.auth_methods.as_deref(), secret.is_some());
    let method = registered.token_endpoint_auth_method.unwrap_or_else(choose);
    let client = ClientIdentity::new(registered.client_id, secret, method);
    Ok((client, registered.client_secret_expires_at))
}
