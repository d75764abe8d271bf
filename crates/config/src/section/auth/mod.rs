//! The section `auth`: how users sign in.

pub(super) mod jwt;
pub(super) mod openid_connect;
pub(super) mod proxy;
mod scim;

use crate::auth::{AccountAuth, AuditAddresses, Auth, AuthMode, ClaimNames, SecondFactorMode};
use crate::config::Page;
use crate::rule::{AccessRule, OWNER_ROLES};
use crate::section::Context;
use crate::section::value::{SecretEntry, Text};
use config_source::{Node, NodeKind, PathStep, Span};
use openid_connect::ProviderEntry;
use schemars::JsonSchema;
use scim::ScimEntry;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;
use settings::OneOrMany;
use std::time::Duration;
use url::{Host, Url};

/// The shortest key in bytes: the output size of the hash that signs cookies, and of that which makes keys for
/// encryption.
const MIN_KEY: usize = 32;
const COOKIE_KEY: (&str, &str) = ("key that signs cookies", "a key for cookies");
const SCIM_TOKEN: (&str, &str) = ("token of the directory that manages users", "a token for SCIM");
const ENCRYPTION_KEY: (&str, &str) = ("key that encrypts the secrets of authenticator apps", "a key for encryption");

/// How users sign in.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthEntry {
    /// The addresses of the server, such as `https://chat.example.com`. Requests to any other host
    /// name are refused, except to those of this machine.
    #[serde(default)]
    public_urls: Vec<Text>,
    /// The keys that sign cookies, at least 32 characters each, as `{ _secret: NAME_OF_A_VARIABLE
    /// }`. The first one signs, all are accepted, so put a new key first. Default: the server
    /// creates a key and stores it beside its database.
    #[serde(default)]
    cookie_keys: Vec<SecretEntry>,
    /// How the audit log records the IP addresses that users sign in from: in full, as their
    /// network, or not at all.
    #[serde(default)]
    audit_addresses: AuditAddresses,
    #[serde(flatten)]
    mode: AuthModeEntry,
}

/// How users are identified.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schemars(extend("x-names" = "mode"))]
enum AuthModeEntry {
    /// One user, the owner, who can connect from this machine only.
    Local,
    /// Each browser is an anonymous user, identified by a signed cookie. Nobody is signed in, so
    /// that only what is `public` can be used.
    Anonymous,
    /// By a JSON Web Token (JWT) of the surrounding application, in the header `Authorization:
    /// Bearer …` or in a cookie.
    Jwt {
        /// The URL of the JSON Web Key Set that verifies tokens.
        jwks_url: Option<Text>,
        /// Instead of `jwksUrl`: the public key in PEM, for example `{ _ref: key.pem }`.
        public_key: Option<Text>,
        /// Instead of `jwksUrl`: the public key as a JSON Web Key.
        jwk: Option<Value>,
        /// Allows `jwksUrl` to lead to this machine and private networks.
        #[serde(default)]
        allow_private: bool,
        /// The required value of `iss` of a token.
        issuer: Text,
        /// The required value of `aud` of a token, or of an entry of it: one, or a list of which one is enough.
        audience: OneOrMany<Text>,
        /// The name of a cookie that may hold the token.
        cookie: Option<Text>,
        /// The accepted clock skew in seconds.
        #[serde(default = "default_leeway_seconds")]
        #[schemars(range(max = 300))]
        leeway_seconds: u64,
        /// The claims that identify the user.
        #[serde(default)]
        claims: ClaimNames,
    },
    /// By headers of a reverse proxy that authenticates users.
    Proxy {
        /// The addresses of the proxies, such as `127.0.0.1` or `10.0.0.0/8`. Nobody else may send
        /// the headers.
        #[schemars(length(min = 1))]
        trusted_proxies: Vec<Text>,
        /// The header with the user's id.
        #[serde(default = "default_user_header")]
        user_header: Text,
        /// The header with the user's name.
        #[serde(default = "default_name_header")]
        name_header: Text,
        /// The header with the user's roles.
        #[serde(default = "default_roles_header")]
        roles_header: Text,
        /// The separator between two roles.
        #[serde(default = "default_roles_separator")]
        roles_separator: Text,
        /// The header with the user's access token, for remote agents with `userToken`.
        #[serde(default = "default_token_header")]
        token_header: Text,
    },
    /// By a user name and a password that the server stores. The first account is created with a
    /// token that the server prints to its console.
    Password {
        /// Lets everybody create an account. Otherwise only administrators create accounts.
        #[serde(default)]
        open_sign_up: bool,
        /// The roles of users who create their account themselves.
        #[serde(default)]
        sign_up_roles: Vec<Text>,
        /// The idle timeout of a session, in hours.
        #[serde(default = "default_session_idle_hours")]
        #[schemars(range(min = 1, max = 8_760))]
        session_idle_hours: u64,
        /// The longest lifetime of a session, in days.
        #[serde(default = "default_session_max_days")]
        #[schemars(range(min = 1, max = 366))]
        session_max_days: u64,
        /// Whether users also show a code of their authenticator app when they sign in with their password.
        /// Default: `optional`, which needs `secondFactorKeys`.
        second_factor: Option<SecondFactorMode>,
        /// The keys that encrypt the secrets of authenticator apps, at least 32 characters each, as `{ _secret:
        /// NAME_OF_A_VARIABLE }`. The first one encrypts, all decrypt, so put a new key first. Without a key, nobody
        /// can set up an app.
        #[serde(default)]
        second_factor_keys: Vec<SecretEntry>,
        /// Providers at which users sign in with their company account, besides their password.
        #[serde(default)]
        openid_connect: Vec<ProviderEntry>,
        /// The directory that manages users and groups over SCIM. Without it, nobody can use `/scim/v2`.
        scim: Option<ScimEntry>,
    },
    /// By an account at a provider of OpenID Connect, such as Keycloak, Entra ID or Google. Nobody has a
    /// password here; the roles of administrators come from their groups at the provider.
    OpenidConnect {
        /// The providers.
        #[schemars(length(min = 1))]
        openid_connect: Vec<ProviderEntry>,
        /// The idle timeout of a session, in hours.
        #[serde(default = "default_session_idle_hours")]
        #[schemars(range(min = 1, max = 8_760))]
        session_idle_hours: u64,
        /// The longest lifetime of a session, in days.
        #[serde(default = "default_session_max_days")]
        #[schemars(range(min = 1, max = 366))]
        session_max_days: u64,
        /// The directory that manages users and groups over SCIM. Without it, nobody can use `/scim/v2`.
        scim: Option<ScimEntry>,
    },
}

/// Returns whether a URL leads to this machine.
fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(super) fn default_leeway_seconds() -> u64 {
    30
}

fn default_session_idle_hours() -> u64 {
    14 * 24
}

fn default_session_max_days() -> u64 {
    90
}

fn default_user_header() -> Text {
    Text("x-forwarded-user".to_owned())
}

fn default_name_header() -> Text {
    Text("x-forwarded-preferred-username".to_owned())
}

fn default_roles_header() -> Text {
    Text("x-forwarded-groups".to_owned())
}

fn default_roles_separator() -> Text {
    Text(",".to_owned())
}

fn default_token_header() -> Text {
    Text("x-forwarded-access-token".to_owned())
}

/// Reads the section. Without it the mode is [`AuthMode::Local`].
pub(super) fn read(node: &Node, pages: &[Page], context: &mut Context<'_, '_>) -> Auth {
    let at = context.report.location(node.at);
    let local = || Auth {
        mode: AuthMode::Local,
        public_urls: Vec::new(),
        cookie_keys: Vec::new(),
        audit_addresses: AuditAddresses::default(),
        at: at.clone(),
    };
    if matches!(node.kind, NodeKind::Null) {
        return local();
    }
    let Some(entry) = context.decode::<AuthEntry>(node) else { return local() };
    let AuthEntry { public_urls: urls, cookie_keys: keys, audit_addresses, mode } = entry;
    let is_local = matches!(mode, AuthModeEntry::Local);
    let Some(mode) = self::mode(mode, node, context) else { return local() };
    if is_local && let Some(entry) = node.get("publicUrls").or_else(|| node.get("cookieKeys")) {
        let message = format!("`{}` means nothing in the mode `local`, which is for this machine only", entry.key);
        context.report.error(entry.key_at, message, Some("leave it out, or choose another mode".to_owned()));
    }
    if !is_local && urls.is_empty() {
        let message = "without `publicUrls` the server can be used from this machine only";
        let help = "say where users find it: `publicUrls: [https://chat.example.com]`".to_owned();
        context.report.warning(node.span_at(&[PathStep::Key("mode")]), message, Some(help));
    }
    // Users of embedding sites are signed in by the tokens of those sites.
    let is_closed =
        !pages.is_empty() && pages.iter().all(|page| page.auth != AccessRule::Public) && !context.has_site_users;
    if matches!(mode, AuthMode::Anonymous) && is_closed {
        let message = "nobody can open any page: in the mode `anonymous` nobody is signed in, and no page is public";
        let help = "write `auth: public` at the pages, agents and endpoints that visitors may use".to_owned();
        context.report.warning(node.span_at(&[PathStep::Key("mode")]), message, Some(help));
    }
    Auth {
        mode,
        public_urls: public_urls(urls, node, context),
        cookie_keys: keys_of(&["cookieKeys"], COOKIE_KEY, keys, node, context),
        audit_addresses,
        at,
    }
}

fn mode(entry: AuthModeEntry, node: &Node, context: &mut Context<'_, '_>) -> Option<AuthMode> {
    Some(match entry {
        AuthModeEntry::Local => AuthMode::Local,
        AuthModeEntry::Anonymous => AuthMode::Anonymous,
        AuthModeEntry::Jwt {
            jwks_url,
            public_key,
            jwk,
            allow_private,
            issuer,
            audience,
            cookie,
            leeway_seconds,
            claims,
        } => {
            let keys = jwt::keys((jwks_url, public_key, jwk), allow_private, node, context);
            let checks = jwt::TokenChecks { issuer: Some(issuer), audience, cookie, leeway_seconds, claims };
            AuthMode::Jwt(jwt::read(keys?, checks, node, context)?)
        }
        AuthModeEntry::Proxy {
            trusted_proxies,
            user_header,
            name_header,
            roles_header,
            roles_separator,
            token_header,
        } => {
            let headers = [user_header, name_header, roles_header, token_header];
            AuthMode::Proxy(proxy::read(trusted_proxies, headers, roles_separator, node, context)?)
        }
        AuthModeEntry::Password {
            open_sign_up,
            sign_up_roles,
            session_idle_hours,
            session_max_days,
            second_factor,
            second_factor_keys: keys,
            openid_connect: providers,
            scim,
        } => {
            let sign_up_roles: Vec<_> = sign_up_roles.into_iter().map(|Text(role)| role).collect();
            check_sign_up(open_sign_up, &sign_up_roles, node, context);
            check_second_factor(second_factor, keys.is_empty(), node, context);
            let mut providers = openid_connect::read(providers, open_sign_up, node, context);
            let scim_tokens = scim::read(scim, &mut providers, node, context);
            AuthMode::Accounts(AccountAuth {
                passwords: true,
                providers,
                open_sign_up,
                sign_up_roles,
                session_idle: Duration::from_secs(session_idle_hours * 3_600),
                session_max: Duration::from_secs(session_max_days * 86_400),
                second_factor: second_factor.unwrap_or_default(),
                second_factor_keys: keys_of(&["secondFactorKeys"], ENCRYPTION_KEY, keys, node, context),
                scim_tokens,
            })
        }
        AuthModeEntry::OpenidConnect { openid_connect: providers, session_idle_hours, session_max_days, scim } => {
            let mut providers = openid_connect::read(providers, false, node, context);
            let scim_tokens = scim::read(scim, &mut providers, node, context);
            AuthMode::Accounts(AccountAuth {
                passwords: false,
                providers,
                open_sign_up: false,
                sign_up_roles: Vec::new(),
                session_idle: Duration::from_secs(session_idle_hours * 3_600),
                session_max: Duration::from_secs(session_max_days * 86_400),
                second_factor: SecondFactorMode::Off,
                second_factor_keys: Vec::new(),
                scim_tokens,
            })
        }
    })
}

/// Reports a second factor that nobody could set up.
fn check_second_factor(mode: Option<SecondFactorMode>, lacks_keys: bool, node: &Node, context: &mut Context<'_, '_>) {
    if lacks_keys && matches!(mode, Some(SecondFactorMode::Optional | SecondFactorMode::Required)) {
        let at = node.span_at(&[PathStep::Key("secondFactor")]);
        let message = "without `secondFactorKeys` nobody can set up an authenticator app";
        let help = "add `secondFactorKeys: [{ _secret: SECOND_FACTOR_KEY }]`, and set the variable to the output of \
                    `openssl rand -base64 32`";
        context.report.error(at, message, Some(help.to_owned()));
    }
}

/// Reports the administrator's role among the roles of new accounts, and roles that have no effect.
fn check_sign_up(is_open: bool, roles: &[String], node: &Node, context: &mut Context<'_, '_>) {
    if let Some(i) = roles.iter().position(|role| OWNER_ROLES.contains(&role.as_str())) {
        let at = node.span_at(&[PathStep::Key("signUpRoles"), PathStep::Index(i)]);
        let help = "administrators are appointed by administrators; leave it out".to_owned();
        context.report.error(at, "everybody could become an administrator", Some(help));
    } else if let (false, Some(entry)) = (is_open || roles.is_empty(), node.get("signUpRoles")) {
        let help = "write `openSignUp: true`, or leave it out".to_owned();
        context.report.error(entry.key_at, "nobody can sign up, so nobody gets these roles", Some(help));
    }
}

/// Checks that the addresses consist of scheme, host and port.
fn public_urls(texts: Vec<Text>, node: &Node, context: &mut Context<'_, '_>) -> Vec<Url> {
    let mut urls = Vec::new();
    for (i, Text(text)) in texts.iter().enumerate() {
        let at = node.span_at(&[PathStep::Key("publicUrls"), PathStep::Index(i)]);
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else {
            let help = "write it as in a browser: `https://chat.example.com`".to_owned();
            context.report.error(at, "this is not the address of a server", Some(help));
            continue;
        };
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !is_bare || !url.username().is_empty() || url.password().is_some() {
            let help =
                format!("write `{}`; the server is at the root of its address", url.origin().ascii_serialization());
            context.report.error(at, "expected an address without anything after its host", Some(help));
        }
        urls.push(url);
    }
    urls
}

/// Reads a list of keys. `what` names one, in a message about an unset variable and in one about a short key.
fn keys_of(
    path: &[&'static str],
    (what, which): (&'static str, &str),
    entries: Vec<SecretEntry>,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Vec<SecretString> {
    let mut keys = Vec::new();
    for (i, entry) in entries.into_iter().enumerate() {
        let steps = path.iter().map(|name| PathStep::Key(name)).chain([PathStep::Index(i)]);
        let at = node.span_at(&steps.collect::<Vec<_>>());
        let Some(key) = entry.resolve(at, what, context) else { continue };
        if key.expose_secret().len() < MIN_KEY {
            report_short_key(at, which, MIN_KEY, context);
        }
        keys.push(key);
    }
    keys
}

/// Reports a key that is too short. `what` is its name, `least` the required number of characters.
pub(super) fn report_short_key(at: Span, what: &str, least: usize, context: &mut Context<'_, '_>) {
    let help = "make one with `openssl rand -base64 32`".to_owned();
    context.report.error(at, format!("{what} needs at least {least} characters"), Some(help));
}
