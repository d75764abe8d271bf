//! Who may use the server, and how callers are told apart.

use crate::source::Location;
use ipnet::IpNet;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// Who may use the server.
#[derive(Clone, Debug)]
pub struct Auth {
    /// How callers are told apart.
    pub mode: AuthMode,
    /// Where users find the server, besides this machine: `https://chat.example.com`. Scheme, host and port only.
    pub public_urls: Vec<Url>,
    /// What the cookies of callers who are not signed in are signed with: the first signs, all are accepted. None: a key of the
    /// server's own.
    pub cookie_keys: Vec<SecretString>,
    /// How the audit log records the addresses of users.
    pub audit_addresses: AuditAddresses,
    /// Where it was declared.
    pub at: Location,
}

/// How the audit log records the addresses that users sign in from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "way"))]
pub enum AuditAddresses {
    /// The whole address.
    Full,
    /// The network of an address: the first 24 bits of an IPv4 address, the first 48 of an IPv6 address.
    #[default]
    Network,
    /// No address.
    None,
}

/// How callers are told apart.
#[derive(Clone, Debug)]
pub enum AuthMode {
    /// One owner, on this machine only.
    Local,
    /// Each browser is an owner of its own, and nobody is signed in.
    Anonymous,
    /// By tokens of another application.
    Jwt(JwtAuth),
    /// By headers of a reverse proxy.
    Proxy(ProxyAuth),
    /// By names and passwords that the server keeps.
    Password(PasswordAuth),
}

impl AuthMode {
    /// As it is written in a config.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Anonymous => "anonymous",
            Self::Jwt(_) => "jwt",
            Self::Proxy(_) => "proxy",
            Self::Password(_) => "password",
        }
    }
}

/// How tokens are checked.
#[derive(Clone, Debug)]
pub struct JwtAuth {
    /// Who signs them.
    pub keys: JwtKeys,
    /// What `iss` must be; without it, it is not looked at.
    pub issuer: Option<String>,
    /// One of these must be in `aud`.
    pub audience: Vec<String>,
    /// The cookie that may hold the token, besides the header `Authorization`.
    pub cookie: Option<String>,
    /// By how much the clocks may differ.
    pub leeway: Duration,
    /// Where things stand in a token.
    pub claims: ClaimNames,
}

/// The keys of those who sign tokens.
#[derive(Clone, Debug)]
pub enum JwtKeys {
    /// Known to who signs and to who checks (HS256). At least one; all are accepted.
    Secrets(Vec<SecretString>),
    /// Published at an address, as a JSON Web Key Set.
    Url {
        /// The address.
        url: Url,
        /// Whether it may lead to this machine or its networks.
        allow_private: bool,
    },
    /// In PEM, as `PUBLIC KEY`.
    Pem(String),
    /// As a JSON Web Key.
    Jwk(Value),
}

/// The claims of a token that say who somebody is: a claim's name, or names with dots between for one inside another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimNames {
    /// His id.
    pub user_id: String,
    /// What he is called.
    pub name: String,
    /// What he is: a list, or a text with spaces or commas between.
    pub roles: String,
}

/// Which headers of which proxies are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyAuth {
    /// The addresses of the proxies.
    pub trusted: Vec<IpNet>,
    /// The header with the user's id, in lower case; so for the others.
    pub user_header: String,
    /// The header with what he is called.
    pub name_header: String,
    /// The header with his roles.
    pub roles_header: String,
    /// What stands between two roles.
    pub roles_separator: String,
    /// The header with the user's own token.
    pub token_header: String,
}

/// How users make accounts and stay signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordAuth {
    /// Whether anybody may make an account.
    pub open_sign_up: bool,
    /// The roles of those who make one themselves.
    pub sign_up_roles: Vec<String>,
    /// For how long a user stays signed in without a request.
    pub session_idle: Duration,
    /// For how long he stays signed in at most.
    pub session_most: Duration,
}
