//! Finds where the authorization server of a service issues tokens without asking a user: to a client that acts for itself, or
//! for an assertion.

use crate::discovery::{MAX_SCOPES, ResourceDocument, document_of_issuer, resource_document};
use crate::{Challenge, OauthError, OauthHttp, probe};
use url::Url;

/// A token endpoint, and how it is asked for a token of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTokenEndpoint {
    /// The address.
    pub url: Url,
    /// The name of the service for its authorization server (RFC 8707).
    pub resource: String,
    /// The scopes that the service asks for.
    pub scopes: Vec<String>,
    /// The name of the authorization server, exactly as its metadata have it: it compares the audience of assertions with it.
    pub issuer: String,
    /// How clients can prove who they are, with the names of metadata; `None` if that is not known.
    pub auth_methods: Option<Vec<String>>,
}

impl FoundTokenEndpoint {
    /// Returns whether the secret of a client is sent in the body instead of a header. RFC 8414 has a default.
    ///
    /// # Errors
    /// The authorization server accepts no secrets.
    pub fn is_secret_in_body(&self) -> Result<bool, OauthError> {
        let methods = self.auth_methods.as_deref();
        let supports = |name: &str| methods.is_none_or(|methods| methods.iter().any(|method| method == name));
        match (supports("client_secret_basic"), supports("client_secret_post")) {
            (true, _) => Ok(false),
            (false, true) => Ok(true),
            (false, false) => {
                Err(OauthError::Invalid("the authorization server does not accept the secret of a client"))
            }
        }
    }
}

/// Finds the token endpoint for an MCP server. `issuer` is the authorization server, if the config names it; otherwise the
/// server is asked.
///
/// # Errors
/// There is none that can be used.
pub async fn find_token_endpoint(
    http: &OauthHttp,
    server: &Url,
    issuer: Option<&Url>,
) -> Result<FoundTokenEndpoint, OauthError> {
    let challenge = probe(http, server).await;
    let document = resource_document(http, server, &challenge).await?;
    with_documents(http, server, issuer, (challenge, document)).await
}

/// Finds the token endpoint for a service that is no MCP server, so that it is not asked for its authorization server.
///
/// # Errors
/// The authorization server has none that can be used.
pub async fn find_token_endpoint_of(
    http: &OauthHttp,
    service: &Url,
    issuer: &Url,
) -> Result<FoundTokenEndpoint, OauthError> {
    with_documents(http, service, Some(issuer), (Challenge::default(), None)).await
}

async fn with_documents(
    http: &OauthHttp,
    service: &Url,
    issuer: Option<&Url>,
    (challenge, document): (Challenge, Option<ResourceDocument>),
) -> Result<FoundTokenEndpoint, OauthError> {
    let (resource, issuers, offered) = match document {
        Some(document) => (document.resource, document.authorization_servers, document.scopes_supported),
        None => (None, Vec::new(), Vec::new()),
    };
    let issuer = issuer.map(|issuer| issuer.as_str().to_owned()).or_else(|| issuers.into_iter().next());
    let issuer = issuer.ok_or(OauthError::Invalid("the service does not name its authorization server"))?;
    let found = document_of_issuer(http, &issuer).await?;
    let scopes = if challenge.scopes.is_empty() { offered } else { challenge.scopes };
    Ok(FoundTokenEndpoint {
        url: http.address(&found.token_endpoint)?,
        resource: resource.unwrap_or_else(|| service.to_string()),
        scopes: scopes.into_iter().take(MAX_SCOPES).collect(),
        issuer: found.issuer.unwrap_or(issuer),
        auth_methods: found.token_endpoint_auth_methods_supported,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_sent_as_the_server_accepts_them() {
        let check = |methods: Option<&[&str]>, expected: Option<bool>| {
            let auth_methods = methods.map(|names| names.iter().map(|&name| name.to_owned()).collect());
            let url = "https://id.test/token".parse().unwrap();
            let (resource, scopes, issuer) = Default::default();
            let found = FoundTokenEndpoint { url, resource, scopes, issuer, auth_methods };
            assert_eq!(found.is_secret_in_body().ok(), expected, "{methods:?}");
        };
        check(None, Some(false));
        check(Some(&["client_secret_post", "client_secret_basic"]), Some(false));
        check(Some(&["client_secret_post"]), Some(true));
        check(Some(&["private_key_jwt"]), None);
        check(Some(&[]), None);
    }
}
