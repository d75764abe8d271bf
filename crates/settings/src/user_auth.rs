//! How a service is called on behalf of a user: with a token of the account that the user has connected, or with one
//! for which the token of their sign-in is exchanged.

use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use url::Url;

/// A service that is called on behalf of users, such as an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The name, which users see.
    pub name: String,
    /// The address to which the tokens are sent.
    pub url: Url,
    /// Whether the service and what issues its tokens may be on this machine and its networks.
    pub allow_private: bool,
    /// Whether the service is asked for its authorization server, as MCP servers are.
    pub is_mcp: bool,
    /// Where the tokens come from.
    pub auth: UserAuth,
}

/// Where the tokens of users come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserAuth {
    /// The account that the user has connected.
    Account(AccountAuth),
    /// A token of the user's sign-in is exchanged (RFC 8693).
    Exchange(ExchangeAuth),
}

/// The client of an authorization server.
#[derive(Clone)]
pub struct OauthClient {
    /// The client's id.
    pub id: String,
    /// The client's secret; `None` for a public client.
    pub secret: Option<SecretString>,
}

/// How users connect their accounts: OAuth's authorization code flow (RFC 6749, 4.1) with PKCE (RFC 7636).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountAuth {
    /// The client; `None` to register one.
    pub client: Option<OauthClient>,
    /// The scopes to ask for; empty to ask for those that the service names.
    pub scopes: Vec<String>,
    /// The authorization server; `None` to ask the service.
    pub server: Option<AuthorizationServer>,
    /// Whether the authorization server of an MCP server is used although its metadata do not say that it supports PKCE.
    pub assume_pkce: bool,
}

/// An authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizationServer {
    /// One whose metadata tell its endpoints.
    Issuer(Url),
    /// One without metadata.
    Endpoints {
        /// Where users agree.
        authorization: Url,
        /// Where tokens are issued.
        token: Url,
        /// Where tokens are revoked.
        revocation: Option<Url>,
    },
}

/// How a token of a sign-in is exchanged (RFC 8693).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeAuth {
    /// Where it is exchanged.
    pub way: ExchangeWay,
    /// The client at the authorization server that issues the token for the service.
    pub client: OauthClient,
    /// The scopes to ask for; empty for those of the sign-in, or those that the service names.
    pub scopes: Vec<String>,
    /// In the auth modes with accounts, the id of the provider whose tokens are exchanged; `None` if there is one
    /// provider only, or if requests come with tokens.
    pub provider: Option<String>,
}

/// Where a token of a sign-in is exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeWay {
    /// The access token, at one authorization server.
    Token {
        /// The token endpoint.
        endpoint: Url,
        /// The logical name of the service for which the token is.
        audience: Option<String>,
    },
    /// The ID token, at the provider of the sign-in, for an assertion with which the authorization server of the service
    /// issues a token (Identity Assertion JWT Authorization Grant).
    Assertion {
        /// The authorization server of the service; `None` to ask the service.
        issuer: Option<Url>,
    },
}

/// The tokens that a provider of OpenID Connect has issued to a user who has signed in there.
#[derive(Clone)]
pub struct SignInTokens {
    /// The id of the provider in the config.
    pub provider: String,
    /// The provider's token endpoint.
    pub token_endpoint: Url,
    /// Where the provider revokes tokens, if it can.
    pub revocation_endpoint: Option<Url>,
    /// Whether the provider takes the client's secret in the body instead of a header.
    pub secret_in_body: bool,
    /// The access token.
    pub access_token: SecretString,
    /// The refresh token, if there is one.
    pub refresh_token: Option<SecretString>,
    /// The ID token.
    pub id_token: SecretString,
    /// The lifetime of the access token in seconds, if it is known.
    pub expires_in: Option<i64>,
    /// The granted scopes, with spaces between them, if the provider has named them.
    pub scopes: Option<String>,
}

/// A variable of a remote agent that each user enters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserVariable {
    /// The key, which is sent as the header `x-KEY`.
    pub key: String,
    /// The name that users see.
    pub name: String,
    /// The description of the value for users; may be empty.
    pub description: String,
    /// Whether the tools can be called only with it.
    pub is_required: bool,
}

/// The variables of a remote agent that each user enters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserVariables {
    /// The id of the connection, which users see.
    pub connection: String,
    /// The address to which the values are sent.
    pub url: Url,
    /// The variables.
    pub variables: Vec<UserVariable>,
}

impl Service {
    /// Returns what tells this service from others that tokens must not be sent to: its address, and who issues its
    /// tokens to which client.
    pub fn identity(&self) -> String {
        let parts: Vec<&str> = match &self.auth {
            UserAuth::Account(account) => {
                let client = account.client.as_ref().map(|client| client.id.as_str()).unwrap_or_default();
                match &account.server {
                    None => vec!["discovered", client],
                    Some(AuthorizationServer::Issuer(issuer)) => vec!["issuer", client, issuer.as_str()],
                    Some(AuthorizationServer::Endpoints { authorization, token, .. }) => {
                        vec!["endpoints", client, authorization.as_str(), token.as_str()]
                    }
                }
            }
            UserAuth::Exchange(exchange) => {
                let provider = exchange.provider.as_deref().unwrap_or_default();
                match &exchange.way {
                    ExchangeWay::Token { endpoint, audience } => {
                        let audience = audience.as_deref().unwrap_or_default();
                        vec!["exchange", &exchange.client.id, endpoint.as_str(), audience, provider]
                    }
                    ExchangeWay::Assertion { issuer } => {
                        let issuer = issuer.as_ref().map(Url::as_str).unwrap_or_default();
                        vec!["assertion", &exchange.client.id, issuer, provider]
                    }
                }
            }
        };
        format!("{}\n{}\n{}", self.name, self.url, parts.join("\n"))
    }
}

/// Formats the provider only.
impl fmt::Debug for SignInTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignInTokens").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl PartialEq for OauthClient {
    fn eq(&self, other: &Self) -> bool {
        let secret = |client: &Self| client.secret.as_ref().map(|secret| secret.expose_secret().to_owned());
        self.id == other.id && secret(self) == secret(other)
    }
}

impl Eq for OauthClient {}

/// Formats the client's id only.
impl fmt::Debug for OauthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OauthClient").field("id", &self.id).finish_non_exhaustive()
    }
}
