//! The settings of a connection to a server, and the selection of its tools for an agent.

use contract::ApprovalTerms;
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The settings of a connection to a server.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// The name for the user and the log.
    pub name: String,
    /// The transport.
    pub transport: McpTransport,
    /// Whether all users share one connection, so that the server cannot tell them apart. Otherwise
    /// each user has their own.
    pub shared: bool,
}

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
#[derive(Clone, Debug)]
pub struct HttpServerSettings {
    /// The URL.
    pub url: Url,
    /// The headers of each request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether the host may resolve to this machine or its networks.
    pub allow_private: bool,
    /// How to get an access token.
    pub oauth: Option<ClientCredentials>,
}

/// Credentials for OAuth's client credentials grant (RFC 6749, 4.4) or for a refresh token.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    /// The token endpoint.
    pub token_url: Url,
    /// The client's id.
    pub client_id: String,
    /// The client's secret.
    pub client_secret: SecretString,
    /// A refresh token, which is used instead of the client credentials grant.
    pub refresh_token: Option<SecretString>,
    /// The requested scope.
    pub scope: Option<String>,
}

/// The tools of a server that an agent uses, and how.
#[derive(Clone, Debug)]
pub struct McpSelection {
    /// Patterns such as `read_*` for the server's names of tools, one of which must match; all
    /// tools if absent.
    pub allow: Option<Vec<String>>,
    /// Patterns for tools that are excluded.
    pub deny: Vec<String>,
    /// A prefix for the tools' names.
    pub prefix: String,
    /// Whether each call needs the user's approval.
    pub confirm: bool,
    /// The terms of approval requests, whatever their reason.
    pub approval: ApprovalTerms,
    /// The maximum duration of one call.
    pub timeout: Duration,
    /// Whether to trust the server's own declaration that a tool is idempotent.
    pub idempotent_hint: bool,
}

impl McpSettings {
    /// Returns whether a connection with these settings can be used for the other ones.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.shared == other.shared && self.transport.is_same(&other.transport)
    }
}

impl McpTransport {
    fn is_same(&self, other: &Self) -> bool {
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
        let tokens = |of: &Self| {
            let oauth = of.oauth.clone();
            oauth.map(|of| {
                let refresh_token = of.refresh_token.map(|token| token.expose_secret().to_owned());
                (of.token_url, of.client_id, of.client_secret.expose_secret().to_owned(), refresh_token, of.scope)
            })
        };
        (&self.url, self.allow_private) == (&other.url, other.allow_private)
            && exposed(&self.headers).eq(exposed(&other.headers))
            && tokens(self) == tokens(other)
    }
}

fn exposed(pairs: &[(String, SecretString)]) -> impl Iterator<Item = (&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.expose_secret()))
}
