//! How to reach a server, and what an agent takes of it.

use contract::ApprovalTerms;
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// How to reach a server.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// For the user and the log.
    pub name: String,
    /// Over what.
    pub transport: McpTransport,
    /// One connection for all users, whom the server then cannot tell apart. Without it each user has one.
    pub shared: bool,
}

/// Over what a server is reached.
#[derive(Clone, Debug)]
pub enum McpTransport {
    /// A program that is started and spoken to over its input and output.
    Stdio(StdioTransport),
    /// Streamable HTTP.
    Http(HttpTransport),
    /// The HTTP transport of 2024: one stream of events, and messages posted beside it.
    Sse(HttpTransport),
}

/// A program.
#[derive(Clone, Debug)]
pub struct StdioTransport {
    /// The program, looked up in the `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, besides what every program needs (`PATH`, `HOME` and the like).
    pub env: Vec<(String, SecretString)>,
    /// Where it is started; the server's own folder without it.
    pub folder: Option<PathBuf>,
}

/// An address.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    /// Where it is.
    pub url: Url,
    /// Sent with each request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether its name may lead to this machine or its networks.
    pub allow_private: bool,
    /// How to get a token for it.
    pub oauth: Option<ClientCredentials>,
}

/// A token by OAuth's grant for programs (RFC 6749, 4.4), or by a refresh token.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    /// Where tokens are given.
    pub token_url: Url,
    /// Who asks.
    pub client_id: String,
    /// Its secret.
    pub client_secret: SecretString,
    /// Instead of the grant for programs.
    pub refresh_token: Option<SecretString>,
    /// What for.
    pub scope: Option<String>,
}

/// What an agent takes of a server.
#[derive(Clone, Debug)]
pub struct McpSelection {
    /// Only tools whose names, as the server gives them, match one of these patterns (`read_*`); all without it.
    pub allow: Option<Vec<String>>,
    /// Not those that match one of these.
    pub deny: Vec<String>,
    /// Put before the server's names.
    pub prefix: String,
    /// Ask the user before each call.
    pub confirm: bool,
    /// How the user is asked, whoever has him asked.
    pub approval: ApprovalTerms,
    /// How long one call may take.
    pub timeout: Duration,
    /// Take the server's own word for it that the same call, made twice, does no more than once.
    pub idempotent_hint: bool,
}

impl McpSettings {
    /// Whether a connection made by these settings does for the others.
    pub(super) fn is_same(&self, other: &Self) -> bool {
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

impl HttpTransport {
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
