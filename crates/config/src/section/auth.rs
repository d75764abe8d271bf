//! The section `auth`: who may use the server.

use super::Context;
use super::value::{SecretEntry, Text};
use crate::auth::{AuditAddresses, Auth, AuthMode, ClaimNames, PasswordAuth};
use crate::config::Page;
use crate::rule::{OWNER_ROLES, Rule};
use crate::shape::{Shape, decode};
use crate::source::{Kind, Node, Span, Step};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use url::Url;

use super::{auth_jwt, auth_proxy};

/// Bytes that a key for cookies needs at least: as many as the hash that signs them has.
const MIN_KEY: usize = 32;

/// Who may use the server.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthEntry {
    /// Where users find the server, such as `https://chat.example.com`. Requests to any other name are refused, but for those of
    /// this machine.
    #[serde(default)]
    public_urls: Vec<Text>,
    /// What cookies are signed with: at least 32 characters each, as `{ _secret: NAME_OF_A_VARIABLE }`. The first one signs, all
    /// are accepted, so a new one goes in front. Without it, the server keeps a key of its own beside its database.
    #[serde(default)]
    cookie_keys: Vec<SecretEntry>,
    /// How the audit log records the addresses that users sign in from: whole, as their network, or not at all.
    #[serde(default)]
    audit_addresses: AuditAddresses,
    #[serde(flatten)]
    mode: AuthModeEntry,
}

/// How callers are told apart.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schemars(extend("x-names" = "mode"))]
enum AuthModeEntry {
    /// One owner, reachable from this machine only.
    Local,
    /// Each browser is an owner of its own, by a signed cookie. Nobody is signed in: only what is `public` is open.
    Anonymous,
    /// By tokens (JWT) of the application around, in the header `Authorization: Bearer …` or in a cookie.
    Jwt {
        /// Where the keys are published as a JSON Web Key Set.
        jwks_url: Option<Text>,
        /// Instead of `jwksUrl`: the public key in PEM, for example `{ _ref: key.pem }`.
        public_key: Option<Text>,
        /// Instead of `jwksUrl`: the public key as a JSON Web Key.
        jwk: Option<Value>,
        /// Let `jwksUrl` lead to this machine and its networks.
        #[serde(default)]
        allow_private: bool,
        /// What `iss` of a token must be.
        issuer: Text,
        /// What `aud` of a token must be, or hold: one, or a list of which one is enough.
        audience: AudienceEntry,
        /// The cookie that may hold the token.
        cookie: Option<Text>,
        /// By how many seconds the clocks may differ.
        #[serde(default = "leeway")]
        #[schemars(range(max = 300))]
        leeway_seconds: u64,
        /// Where a token says who somebody is.
        #[serde(default)]
        claims: ClaimsEntry,
    },
    /// By headers of a reverse proxy that has signed the user in.
    Proxy {
        /// The addresses of the proxies, such as `127.0.0.1` or `10.0.0.0/8`. Nobody else may send the headers.
        #[schemars(length(min = 1))]
        trusted_proxies: Vec<Text>,
        /// The header with the user's id.
        #[serde(default = "user_header")]
        user_header: Text,
        /// The header with the user's name.
        #[serde(default = "name_header")]
        name_header: Text,
        /// The header with the user's roles.
        #[serde(default = "roles_header")]
        roles_header: Text,
        /// What stands between two roles.
        #[serde(default = "roles_separator")]
        roles_separator: Text,
        /// The header with the user's own token, for remote agents that are asked with it (`userToken`).
        #[serde(default = "token_header")]
        token_header: Text,
    },
    /// By names and passwords that the server keeps. The first account is made with a token that the server shows on its console.
    Password {
        /// Let everybody make an account. Without it, only an administrator makes some.
        #[serde(default)]
        open_sign_up: bool,
        /// The roles of those who make an account themselves.
        #[serde(default)]
        sign_up_roles: Vec<Text>,
        /// For how many hours a user stays signed in without using the server.
        #[serde(default = "idle_hours")]
        #[schemars(range(min = 1, max = 8_760))]
        session_idle_hours: u64,
        /// For how many days a user stays signed in at most.
        #[serde(default = "most_days")]
        #[schemars(range(min = 1, max = 366))]
        session_max_days: u64,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum AudienceEntry {
    /// One.
    One(Text),
    /// One of these.
    Several(Vec<Text>),
}

/// The claims of a token; dots lead into one: `realm_access.roles`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ClaimsEntry {
    /// The claim with the user's id.
    user_id: Text,
    /// The claim with the user's name.
    name: Text,
    /// The claim with the user's roles: a list, or a text with spaces or commas between.
    roles: Text,
}

impl Default for ClaimsEntry {
    fn default() -> Self {
        let text = |text: &str| Text(text.to_owned());
        Self { user_id: text("sub"), name: text("name"), roles: text("roles") }
    }
}

impl From<ClaimsEntry> for ClaimNames {
    fn from(entry: ClaimsEntry) -> Self {
        Self { user_id: entry.user_id.0, name: entry.name.0, roles: entry.roles.0 }
    }
}

pub(super) fn leeway() -> u64 {
    30
}

fn idle_hours() -> u64 {
    14 * 24
}

fn most_days() -> u64 {
    90
}

fn user_header() -> Text {
    Text("x-forwarded-user".to_owned())
}

fn name_header() -> Text {
    Text("x-forwarded-preferred-username".to_owned())
}

fn roles_header() -> Text {
    Text("x-forwarded-groups".to_owned())
}

fn roles_separator() -> Text {
    Text(",".to_owned())
}

fn token_header() -> Text {
    Text("x-forwarded-access-token".to_owned())
}

/// Reads the section; without one, [`AuthMode::Local`].
pub(super) fn read(node: &Node, pages: &[Page], context: &mut Context<'_, '_>) -> Auth {
    let at = context.report.location(node.at);
    let local = || Auth {
        mode: AuthMode::Local,
        public_urls: Vec::new(),
        cookie_keys: Vec::new(),
        audit_addresses: AuditAddresses::default(),
        at: at.clone(),
    };
    if matches!(node.kind, Kind::Null) {
        return local();
    }
    let entry: Option<AuthEntry> = Shape::of::<AuthEntry>().and_then(|shape| decode(node, shape, context.report));
    let Some(AuthEntry { public_urls: urls, cookie_keys: keys, audit_addresses, mode }) = entry else { return local() };
    let is_local = matches!(mode, AuthModeEntry::Local);
    let Some(mode) = self::mode(mode, node, context) else { return local() };
    if is_local && let Some(entry) = node.get("publicUrls").or_else(|| node.get("cookieKeys")) {
        let message = format!("`{}` means nothing in the mode `local`, which is for this machine only", entry.key);
        context.report.error(entry.key_at, message, Some("leave it out, or choose another mode".to_owned()));
    }
    if !is_local && urls.is_empty() {
        let message = "without `publicUrls` the server can be used from this machine only";
        let help = "say where users find it: `publicUrls: [https://chat.example.com]`".to_owned();
        context.report.warning(node.at(&[Step::Key("mode")]), message, Some(help));
    }
    // Users of other sites are signed in by the tokens of those sites.
    let is_closed = !pages.is_empty() && pages.iter().all(|page| page.auth != Rule::Public) && !context.has_site_users;
    if matches!(mode, AuthMode::Anonymous) && is_closed {
        let message = "nobody can open any page: in the mode `anonymous` nobody is signed in, and no page is public";
        let help = "write `auth: public` at the pages, agents and endpoints that visitors may use".to_owned();
        context.report.warning(node.at(&[Step::Key("mode")]), message, Some(help));
    }
    Auth {
        mode,
        public_urls: public_urls(urls, node, context),
        cookie_keys: cookie_keys(keys, node, context),
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
            let keys = auth_jwt::keys((jwks_url, public_key, jwk), allow_private, node, context);
            let checks =
                auth_jwt::Checks { issuer: Some(issuer), audience, cookie, leeway_seconds, claims: claims.into() };
            AuthMode::Jwt(auth_jwt::read(keys?, checks, node, context)?)
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
            AuthMode::Proxy(auth_proxy::read(trusted_proxies, headers, roles_separator, node, context)?)
        }
        AuthModeEntry::Password { open_sign_up, sign_up_roles, session_idle_hours, session_max_days } => {
            let sign_up_roles: Vec<_> = sign_up_roles.into_iter().map(|Text(role)| role).collect();
            check_sign_up(open_sign_up, &sign_up_roles, node, context);
            AuthMode::Password(PasswordAuth {
                open_sign_up,
                sign_up_roles,
                session_idle: Duration::from_secs(session_idle_hours * 3_600),
                session_most: Duration::from_secs(session_max_days * 86_400),
            })
        }
    })
}

/// Whoever signs up must not become an administrator.
fn check_sign_up(is_open: bool, roles: &[String], node: &Node, context: &mut Context<'_, '_>) {
    if let Some(i) = roles.iter().position(|role| OWNER_ROLES.contains(&role.as_str())) {
        let at = node.at(&[Step::Key("signUpRoles"), Step::Index(i)]);
        let help = "administrators are appointed by administrators; leave it out".to_owned();
        context.report.error(at, "everybody could become an administrator", Some(help));
    } else if let (false, Some(entry)) = (is_open || roles.is_empty(), node.get("signUpRoles")) {
        let help = "write `openSignUp: true`, or leave it out".to_owned();
        context.report.error(entry.key_at, "nobody can sign up, so nobody gets these roles", Some(help));
    }
}

/// Addresses as a browser has them in its bar, without what comes after the host.
fn public_urls(texts: Vec<Text>, node: &Node, context: &mut Context<'_, '_>) -> Vec<Url> {
    let mut urls = Vec::new();
    for (i, Text(text)) in texts.iter().enumerate() {
        let at = node.at(&[Step::Key("publicUrls"), Step::Index(i)]);
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else {
            let help = "write it as in a browser: `https://chat.example.com`".to_owned();
            context.report.error(at, "this is not the address of a server", Some(help));
            continue;
        };
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !is_bare || !url.username().is_empty() || url.password().is_some() {
            let help =
                format!("write `{}`; the server stands at the root of its address", url.origin().ascii_serialization());
            context.report.error(at, "expected an address without anything after its host", Some(help));
        }
        urls.push(url);
    }
    urls
}

fn cookie_keys(entries: Vec<SecretEntry>, node: &Node, context: &mut Context<'_, '_>) -> Vec<SecretString> {
    let mut keys = Vec::new();
    for (i, entry) in entries.into_iter().enumerate() {
        let at = node.at(&[Step::Key("cookieKeys"), Step::Index(i)]);
        let Some(key) = entry.resolve(at, "key that signs cookies", context) else { continue };
        if key.expose_secret().len() < MIN_KEY {
            short_key(at, "a key for cookies", MIN_KEY, context);
        }
        keys.push(key);
    }
    keys
}

/// Says that a key can be guessed. `what` is its name, `least` the characters that it needs.
pub(super) fn short_key(at: Span, what: &str, least: usize, context: &mut Context<'_, '_>) {
    let help = "make one with `openssl rand -base64 32`".to_owned();
    context.report.error(at, format!("{what} needs at least {least} characters"), Some(help));
}
