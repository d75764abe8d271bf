//! Tokens for services whose authorization server trusts the provider of the sign-in: the provider exchanges the ID token of
//! the user for an assertion (RFC 8693), and the authorization server of the service exchanges this for a token (RFC 7523).
//! That is the Identity Assertion JWT Authorization Grant, which MCP uses for enterprise-managed authorization.

use crate::oauth::{
    AssertionRequest, ClientIdentity, IssuedTokens, OauthError, OauthHttp, TokenClient, find_token_endpoint,
    find_token_endpoint_of,
};
use crate::tokens::TokenSource;
use contract::Bearer;
use settings::user_auth::{ExchangeAuth, Service};
use url::Url;

/// The names of the two servers in errors.
const PROVIDER: &str = "the provider of the sign-in";
const SERVER: &str = "the authorization server of the service";

/// Requests a token of a service for an ID token. `source` is the issuer of the ID token, and the client to which it is
/// issued; `issuer` is the authorization server of the service, if the config names it.
///
/// # Errors
/// One of the servers refuses it, or cannot be reached.
pub(crate) async fn ask(
    service: &Service,
    (exchange, issuer): (&ExchangeAuth, Option<&Url>),
    (id_token, source): (&Bearer, &TokenSource),
) -> Result<IssuedTokens, OauthError> {
    let http = OauthHttp::new(service.allow_private)?;
    let found = match issuer {
        Some(issuer) if !service.is_mcp => find_token_endpoint_of(&http, &service.url, issuer).await?,
        issuer => find_token_endpoint(&http, &service.url, issuer).await?,
    };
    if exchange.client.secret.is_some() {
        // Checked before the provider is asked.
        found.is_secret_in_body()?;
    }
    let request = AssertionRequest {
        id_token: id_token.expose(),
        audience: &found.issuer,
        resource: &found.resource,
        scopes: if exchange.scopes.is_empty() { &found.scopes } else { &exchange.scopes },
    };
    let provider_http = OauthHttp::new(source.allow_private)?;
    let provider = TokenClient { http: &provider_http, endpoint: &source.token_endpoint, client: &source.client };
    let assertion = provider.assertion(&request).await.map_err(|error| match error {
        // These may mean that the ID token is not valid any more, so the caller renews it.
        OauthError::Refused("invalid_grant" | "invalid_request") => error,
        error => with_server(PROVIDER, error),
    })?;
    let client = ClientIdentity::from_config(&exchange.client, found.auth_methods.as_deref());
    let server = TokenClient { http: &http, endpoint: &found.url, client: &client };
    server.with_assertion(&assertion).await.map_err(|error| with_server(SERVER, error))
}

/// Returns the error of a token endpoint with the name of its server.
fn with_server(server: &'static str, error: OauthError) -> OauthError {
    match error {
        OauthError::Refused(code) => OauthError::RefusedBy(server, code),
        OauthError::Unreachable(_, why) => OauthError::Unreachable(server, why),
        error => error,
    }
}
