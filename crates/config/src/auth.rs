//! The section `auth`, checked: how users sign in.

use config_source::Location;
use ipnet::IpNet;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// How users sign in, and at which addresses they find the server.
#[derive(Clone, Debug)]
pub struct Auth {
    /// How users are identified.
    pub mode: AuthMode,
    /// The addresses of the server besides this machine, such as `https://chat.example.com`:
    /// scheme, host and port only.
    pub public_urls: Vec<Url>,
    /// The keys that sign the cookies of anonymous users. The first one signs, all are accepted.
    /// Empty: the server uses a key of its own.
    pub cookie_keys: Vec<SecretString>,
    /// How the audit log records the IP addresses that users sign in from.
    pub audit_addresses: AuditAddresses,
    /// Where the section is written.
    pub at: Location,
}

/// How the audit log records the IP addresses that users sign in from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "way"))]
pub enum AuditAddresses {
    /// The whole address.
    Full,
    /// The network of an address: the first 24 bits of an IPv4 address, the first 48 of an IPv6
    /// address.
    #[default]
    Network,
    /// No address.
    None,
}

/// How users are identified.
#[derive(Clone, Debug)]
pub enum AuthMode {
    /// One user, the owner, who can connect from this machine only.
    Local,
    /// Each browser is an anonymous user; nobody is signed in.
    Anonymous,
    /// By a JSON Web Token (JWT) that another application issues.
    Jwt(JwtAuth),
    /// By headers that a reverse proxy sets.
    Proxy(ProxyAuth),
    /// By an account on this server, for which users sign in with a password or at a provider.
    Accounts(AccountAuth),
}

impl AuthMode {
    /// Returns the mode's name in a config.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Anonymous => "anonymous",
            Self::Jwt(_) => "jwt",
            Self::Proxy(_) => "proxy",
            Self::Accounts(accounts) if accounts.passwords => "password",
            Self::Accounts(_) => "openidConnect",
        }
    }
}

/// How JSON Web Tokens are verified.
#[derive(Clone, Debug)]
pub struct JwtAuth {
    /// The keys that verify signatures.
    pub keys: JwtKeys,
    /// The required `iss` claim. `None`: it is not checked.
    pub issuer: Option<String>,
    /// The accepted values of the `aud` claim; one is enough.
    pub audience: Vec<String>,
    /// The name of a cookie that may hold the token, besides the header `Authorization`.
    pub cookie: Option<String>,
    /// The accepted clock skew.
    pub leeway: Duration,
    /// The claims that identify the user.
    pub claims: ClaimNames,
}

/// The keys that verify the signatures of tokens.
#[derive(Clone, Debug)]
pub enum JwtKeys {
    /// Shared secrets (HS256), at least one. All are accepted.
    Secrets(Vec<SecretString>),
    /// A JSON Web Key Set that is fetched from a URL.
    Url {
        /// The URL of the key set.
        url: Url,
        /// Whether the URL may lead to this machine or a private network.
        allow_private: bool,
    },
    /// A public key in PEM, as `PUBLIC KEY`.
    Pem(String),
    /// A public key as a JSON Web Key.
    Jwk(Value),
}

/// The names of claims. Dots lead to nested claims: `realm_access.roles`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimNames {
    /// The claim with the user's id.
    #[schemars(length(min = 1))]
    pub user_id: String,
    /// The claim with the user's name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The claim with the user's roles: a list, or a text with spaces or commas between them.
    #[schemars(length(min = 1))]
    pub roles: String,
}

impl Default for ClaimNames {
    fn default() -> Self {
        Self { user_id: "sub".to_owned(), name: "name".to_owned(), roles: "roles".to_owned() }
    }
}

/// The headers by which a reverse proxy identifies the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyAuth {
    /// The addresses and networks of the proxies whose headers are accepted.
    pub trusted_proxies: Vec<IpNet>,
    /// The header with the user's id, in lower case like the other headers.
    pub user_header: String,
    /// The header with the user's name.
    pub name_header: String,
    /// The header with the user's roles.
    pub roles_header: String,
    /// The separator between two roles.
    pub roles_separator: String,
    /// The header with the user's access token.
    pub token_header: String,
}

/// Users with accounts on this server: how they sign in, how accounts are created, and how long sessions
/// last.
#[derive(Clone, Debug)]
pub struct AccountAuth {
    /// Whether users sign in with a password.
    pub passwords: bool,
    /// The providers at which users sign in with their company account.
    pub providers: Vec<OpenIdProvider>,
    /// Whether everybody may create an account with a password.
    pub open_sign_up: bool,
    /// The roles of users who create their account themselves.
    pub sign_up_roles: Vec<String>,
    /// The idle timeout of a session: its longest time without a request.
    pub session_idle: Duration,
    /// The longest lifetime of a session.
    pub session_max: Duration,
    /// Whether users who sign in with a password show a code of their authenticator app as well.
    pub second_factor: SecondFactorMode,
    /// The keys that encrypt the secrets of authenticator apps. The first one encrypts, all decrypt. Without one,
    /// nobody can set up a second factor.
    pub second_factor_keys: Vec<SecretString>,
    /// The tokens of the directory that manages users over SCIM. Empty: there is none.
    pub scim_tokens: Vec<SecretString>,
}

/// Whether users who sign in with a password also show a code of their authenticator app.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "way"))]
pub enum SecondFactorMode {
    /// Nobody is asked for a code, not even those who have set it up.
    Off,
    /// Those who have set it up are asked; everybody can.
    #[default]
    Optional,
    /// Everybody is asked. Those who have not set it up do so after entering their password, before they are signed in.
    Required,
}

/// The issuer of Google's accounts.
pub(crate) const GOOGLE_ISSUER: &str = "https://accounts.google.com";

/// A provider of OpenID Connect.
#[derive(Clone, Debug)]
pub struct OpenIdProvider {
    /// The id, which is part of the redirect URI.
    pub id: String,
    /// The name on the sign-in page.
    pub label: String,
    /// The issuer as written, which must equal `iss` of its tokens.
    pub issuer: String,
    /// The issuer as a URL.
    pub issuer_url: Url,
    /// Whether the issuer may be on this machine or in a private network.
    pub allow_private: bool,
    /// The id of this server at the provider.
    pub client_id: String,
    /// The secret of this server at the provider; `None` for a public client.
    pub client_secret: Option<SecretString>,
    /// The scopes to ask for, besides `openid`.
    pub scopes: Vec<String>,
    /// Whether users who sign in for the first time get an account.
    pub sign_up: bool,
    /// The domains of verified e-mail addresses that are admitted, in lower case. Empty: all users.
    pub allowed_domains: Vec<String>,
    /// Whether the account whose name is the verified e-mail address is linked.
    pub link_verified_email: bool,
    /// The roles of everybody who signs in here.
    pub roles: Vec<String>,
    /// The roles that follow from groups.
    pub groups: Option<GroupRoles>,
    /// The longest lifetime of a session that begins here.
    pub session: Duration,
    /// The accepted clock skew.
    pub leeway: Duration,
    /// The claim with the user's id in the directory that manages users over SCIM. Dots lead to nested claims.
    pub directory_claim: Option<String>,
}

impl OpenIdProvider {
    /// Returns whether users sign in with a Google account, which everybody can have.
    pub fn is_google(&self) -> bool {
        self.issuer == GOOGLE_ISSUER
    }
}

/// The roles that follow from groups at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRoles {
    /// The claim with the groups. Dots lead to nested claims.
    pub claim: String,
    /// The groups with their roles.
    pub roles: Vec<(String, Vec<String>)>,
}
