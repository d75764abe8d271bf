//! How to reach an MCP server.

pub use crate::app_domain::{AppDomain, InvalidDomain};
use crate::user_auth::{Service, UserAuth};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::path::PathBuf;
use url::Url;

/// The transport of a connection.
#[derive(Clone, Debug)]
pub enum McpTransport {
    /// A process that communicates over its input and output.
    Stdio(StdioSettings),
    /// Streamable HTTP.
    Http(HttpServerSettings),
    /// The HTTP transport of 2024: one stream of events, and a URL to post messages to.
    Sse(HttpServerSettings),
}

/// The features of a server that are used beside its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpFeatures {
    /// Whether the server may ask the user while one of its tools runs.
    pub elicitation: bool,
    /// Whether agents may list and read its resources.
    pub resources: bool,
    /// Whether its prompts are commands of the composer.
    pub prompts: bool,
    /// How its user interfaces (MCP Apps) are shown. `None`: they are not shown.
    pub apps: Option<McpApps>,
}

/// How the user interfaces of a server (MCP Apps) are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpApps {
    /// The domains that they may reach, if they declare them.
    pub domains: Vec<AppDomain>,
}

impl Default for McpFeatures {
    fn default() -> Self {
        Self { elicitation: true, resources: false, prompts: false, apps: None }
    }
}

/// The settings of a process.
#[derive(Clone, Debug)]
pub struct StdioSettings {
    /// The program, looked up in the `PATH`.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// Environment variables in addition to those that every process inherits (`PATH`, `HOME` and
    /// the like).
    pub env: Vec<(String, SecretString)>,
    /// The working directory; that of this server if absent.
    pub folder: Option<PathBuf>,
}

/// The settings of a server over HTTP.
#[derive(Clone)]
pub struct HttpServerSettings {
    /// The URL.
    pub url: Url,
    /// The headers of each request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether the host may resolve to this machine or its networks.
    pub allow_private: bool,
    /// How to get an access token.
    pub oauth: Option<ClientCredentials>,
    /// How to get an access token of each user.
    pub user_auth: Option<UserAuth>,
}

/// Credentials for OAuth's client credentials grant (RFC 6749, 4.4) or for a refresh token.
#[derive(Clone)]
pub struct ClientCredentials {
    /// Where tokens are issued.
    pub endpoint: TokenEndpoint,
    /// The client's id.
    pub client_id: String,
    /// How the client proves who it is.
    pub proof: ClientProof,
    /// A refresh token, which is used instead of the client credentials grant.
    pub refresh_token: Option<SecretString>,
    /// The requested scope.
    pub scope: Option<String>,
}

/// How a client proves at the token endpoint who it is.
#[derive(Clone)]
pub enum ClientProof {
    /// With its secret.
    Secret(SecretString),
    /// With assertions that it signs with this private key, in PEM (RFC 7523).
    PrivateKey(SecretString),
}

impl ClientProof {
    /// Returns the kind and the value, to compare them.
    fn exposed(&self) -> (bool, &str) {
        match self {
            Self::Secret(secret) => (false, secret.expose_secret()),
            Self::PrivateKey(key) => (true, key.expose_secret()),
        }
    }
}

/// Where the access tokens for a server are issued.
#[derive(Clone, PartialEq, Eq)]
pub enum TokenEndpoint {
    /// At this address.
    Url(Url),
    /// At the address in the metadata of this authorization server.
    Issuer(Url),
    /// At the address in the metadata of the authorization server that the MCP server names.
    Discovered,
}

impl TokenEndpoint {
    /// Returns the host that the config names.
    fn host(&self) -> Option<&str> {
        match self {
            Self::Url(url) | Self::Issuer(url) => url.host_str(),
            Self::Discovered => None,
        }
    }
}

/// Formats the host of the URL only: its path may contain a key.
impl fmt::Debug for HttpServerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpServerSettings")
            .field("host", &self.url.host_str())
            .field("headers", &names)
            .field("allow_private", &self.allow_private)
            .field("oauth", &self.oauth)
            .field("user_auth", &self.user_auth)
            .finish_non_exhaustive()
    }
}

/// Formats the host of the token endpoint and the client's id.
impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCredentials")
            .field("host", &self.endpoint.host())
            .field("client_id", &self.client_id)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl McpTransport {
    /// Returns the service that is called on behalf of each user; `None` if no user's token is sent.
    pub fn user_service(&self, name: &str) -> Option<Service> {
        let (Self::Http(http) | Self::Sse(http)) = self else { return None };
        let (auth, url) = (http.user_auth.clone()?, http.url.clone());
        Some(Service { name: name.to_owned(), url, allow_private: http.allow_private, is_mcp: true, auth })
    }

    /// Returns whether a connection with these settings can be used for the other ones.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stdio(one), Self::Stdio(other)) => {
                (&one.command, &one.args, &one.folder) == (&other.command, &other.args, &other.folder)
                    && exposed(&one.env).eq(exposed(&other.env))
            }
            (Self::Http(one), Self::Http(other)) | (Self::Sse(one), Self::Sse(other)) => one.is_same(other),
            _ => false,
        }
    }
}

impl HttpServerSettings {
    fn is_same(&self, other: &Self) -> bool {
        (&self.url, self.allow_private, &self.user_auth) == (&other.url, other.allow_private, &other.user_auth)
            && exposed(&self.headers).eq(exposed(&other.headers))
            && match (&self.oauth, &other.oauth) {
                (Some(one), Some(other)) => one.is_same(other),
                (one, other) => one.is_none() && other.is_none(),
            }
    }
}

impl ClientCredentials {
    fn is_same(&self, other: &Self) -> bool {
        let token = |of: &Self| of.refresh_token.as_ref().map(|token| token.expose_secret().to_owned());
        (&self.endpoint, &self.client_id, &self.scope) == (&other.endpoint, &other.client_id, &other.scope)
            && self.proof.exposed() == other.proof.exposed()
            && token(self) == token(other)
    }
}

fn exposed(pairs: &[(String, SecretString)]) -> impl Iterator<Item = (&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.expose_secret()))
}
