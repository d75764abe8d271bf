//! `auth` of connections that are called on behalf of users.

use super::Context;
use super::value::{Id, Setting, Text};
use crate::auth::AuthMode;
use crate::config::Config;
use crate::connection::ConnectionKind;
use config_source::{Node, PathStep, Span, suggest};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use settings::user_auth::{
    AccountAuth, AuthorizationServer, ExchangeAuth, ExchangeWay, OauthClient, Service, UserAuth,
};
use url::{Host, Url};

/// How requests are authorized on behalf of each user.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schemars(extend("x-names" = "type"))]
pub(crate) enum UserAuthEntry {
    /// With the user's own account there, which they connect at `/account/connections` (OAuth, authorization code with
    /// PKCE).
    Oauth {
        /// The issuer of the authorization server, whose metadata tell its endpoints. Default: for an MCP server, the one
        /// that it names.
        issuer: Option<Text>,
        /// For an authorization server without metadata: the URL at which users agree.
        authorization_url: Option<Text>,
        /// For an authorization server without metadata: the URL of its token endpoint.
        token_url: Option<Text>,
        /// For an authorization server without metadata: the URL at which it revokes tokens.
        revocation_url: Option<Text>,
        /// The client id. Default: a client is registered, if the authorization server allows it.
        client_id: Option<Text>,
        /// The client secret, if the client has one.
        client_secret: Option<Setting>,
        /// The scopes to ask for. Default: those that the MCP server names.
        #[serde(default)]
        #[schemars(length(max = 50))]
        scopes: Vec<Text>,
        /// For an MCP server: uses its authorization server also if the metadata do not say that it supports PKCE
        /// (`code_challenge_methods_supported`). Default: `false`, as MCP demands it.
        assume_pkce: Option<bool>,
    },
    /// With a token for which the token of the user's sign-in is exchanged (RFC 8693), in the auth modes `jwt` and `proxy`,
    /// and for users who sign in with a company account.
    TokenExchange {
        /// The URL of the token endpoint.
        token_url: Text,
        /// The client id.
        client_id: Text,
        /// The client secret, if the client has one.
        client_secret: Option<Setting>,
        /// The name of the service for its authorization server. Default: its URL, as a `resource`.
        audience: Option<Text>,
        /// The scopes to ask for. Default: those of the sign-in, as far as the authorization server keeps them.
        #[serde(default)]
        #[schemars(length(max = 50))]
        scopes: Vec<Text>,
        /// The id of the provider in `auth.openidConnect` whose tokens are exchanged. Default: the only one. Not in the
        /// modes `jwt` and `proxy`.
        provider: Option<Id>,
    },
    /// With a token that the authorization server of the service issues because the provider of the user's sign-in asserts
    /// who they are (Cross App Access, enterprise-managed authorization of MCP), for users who sign in with a company
    /// account.
    CrossAppAccess {
        /// The issuer of the authorization server of the service. Default: for an MCP server, the one that it names.
        issuer: Option<Text>,
        /// The client id at the authorization server of the service.
        client_id: Text,
        /// The client secret there, if the client has one.
        client_secret: Option<Setting>,
        /// The scopes to ask for. Default: those that the MCP server names.
        #[serde(default)]
        #[schemars(length(max = 50))]
        scopes: Vec<Text>,
        /// The id of the provider in `auth.openidConnect` that asserts who the user is. Default: the only one.
        provider: Option<Id>,
    },
}

/// The connection for which an entry is read.
pub(crate) struct Target<'a> {
    /// The id.
    pub(crate) id: &'a str,
    /// The address to which the tokens are sent.
    pub(crate) url: &'a Url,
    pub(crate) allow_private: bool,
    /// Whether the service names its authorization server.
    pub(crate) is_mcp: bool,
}

/// Reads `auth` of the properties `node`.
pub(crate) fn read(
    entry: UserAuthEntry,
    target: &Target<'_>,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<UserAuth> {
    Reader { target, node, context }.read(entry).ok()
}

/// An error that was reported.
struct Reported;

impl Reader<'_, '_, '_, '_> {
    fn read(&mut self, entry: UserAuthEntry) -> Result<UserAuth, Reported> {
        let target = self.target;
        if target.url.scheme() == "http" && !target.allow_private {
            let at = self.at(None);
            let help = "write `https://`, or `allowPrivate: true` for a server of your own network".to_owned();
            let message = "the tokens of users would be sent over `http://`, where others can read them";
            self.context.report.error(at, message, Some(help));
            return Err(Reported);
        }
        match entry {
            UserAuthEntry::Oauth {
                issuer,
                authorization_url,
                token_url,
                revocation_url,
                client_id,
                client_secret,
                scopes,
                assume_pkce,
            } => {
                let issuer = self.url("issuer", issuer)?;
                let authorization = self.url("authorizationUrl", authorization_url)?;
                let token = self.url("tokenUrl", token_url)?;
                let revocation = self.url("revocationUrl", revocation_url)?;
                let server = self.server(issuer, (authorization, token, revocation))?;
                let client = self.client(client_id, client_secret)?;
                let has_metadata = !matches!(server, Some(AuthorizationServer::Endpoints { .. }));
                if assume_pkce.is_some() && !(has_metadata && self.target.is_mcp) {
                    return self.error(
                        Some("assumePkce"),
                        "this has no effect: it is about the metadata of an MCP server's authorization server",
                        "leave it out",
                    );
                }
                if client.is_none() && !has_metadata {
                    return self.error(
                        None,
                        "an authorization server without metadata registers no clients",
                        "add `clientId`",
                    );
                }
                Ok(UserAuth::Account(AccountAuth {
                    client,
                    scopes: texts(scopes),
                    server,
                    assume_pkce: assume_pkce.unwrap_or(false),
                }))
            }
            UserAuthEntry::TokenExchange { token_url, client_id, client_secret, audience, scopes, provider } => {
                let token_url = self.url("tokenUrl", Some(token_url))?.ok_or(Reported)?;
                let client = self.client(Some(client_id), client_secret)?.ok_or(Reported)?;
                let audience = audience.map(|Text(audience)| audience);
                let way = ExchangeWay::Token { endpoint: token_url, audience };
                let (scopes, provider) = (texts(scopes), provider.map(|Id(id)| id));
                Ok(UserAuth::Exchange(ExchangeAuth { way, client, scopes, provider }))
            }
            UserAuthEntry::CrossAppAccess { issuer, client_id, client_secret, scopes, provider } => {
                let issuer = self.url("issuer", issuer)?;
                if issuer.is_none() && !target.is_mcp {
                    return self.error(
                        None,
                        "nothing says which authorization server issues the token",
                        "add `issuer`",
                    );
                }
                let client = self.client(Some(client_id), client_secret)?.ok_or(Reported)?;
                let way = ExchangeWay::Assertion { issuer };
                let (scopes, provider) = (texts(scopes), provider.map(|Id(id)| id));
                Ok(UserAuth::Exchange(ExchangeAuth { way, client, scopes, provider }))
            }
        }
    }
}

fn texts(list: Vec<Text>) -> Vec<String> {
    list.into_iter().map(|Text(text)| text).collect()
}

struct Reader<'a, 'c, 'x, 'y> {
    target: &'a Target<'a>,
    node: &'a Node,
    context: &'c mut Context<'x, 'y>,
}

impl Reader<'_, '_, '_, '_> {
    fn at(&self, key: Option<&str>) -> Span {
        match key {
            Some(key) => self.node.span_at(&[PathStep::Key("auth"), PathStep::Key(key)]),
            None => self.node.span_at(&[PathStep::Key("auth")]),
        }
    }

    fn error<T>(&mut self, key: Option<&str>, message: &str, help: &str) -> Result<T, Reported> {
        let at = self.at(key);
        self.context.report.error(at, message, Some(help.to_owned()));
        Err(Reported)
    }

    /// Reads an address.
    fn url(&mut self, key: &str, text: Option<Text>) -> Result<Option<Url>, Reported> {
        let Some(Text(text)) = text else { return Ok(None) };
        let example = "for example `https://auth.example.com/token`";
        let Ok(url) = Url::parse(&text) else { return self.error(Some(key), "this is not a web address", example) };
        if !url.username().is_empty() || url.password().is_some() || url.host().is_none() {
            return self.error(Some(key), "this address must have a host and no user name", example);
        }
        let is_private = self.target.allow_private || is_private(&url);
        match url.scheme() {
            "https" => Ok(Some(url)),
            "http" if is_private => Ok(Some(url)),
            _ => self.error(Some(key), "this address must start with `https://`", example),
        }
    }

    fn server(
        &mut self,
        issuer: Option<Url>,
        (authorization, token, revocation): (Option<Url>, Option<Url>, Option<Url>),
    ) -> Result<Option<AuthorizationServer>, Reported> {
        match (issuer, authorization, token) {
            (Some(issuer), None, None) if revocation.is_none() => Ok(Some(AuthorizationServer::Issuer(issuer))),
            (None, Some(authorization), Some(token)) => {
                Ok(Some(AuthorizationServer::Endpoints { authorization, token, revocation }))
            }
            (None, None, None) if revocation.is_none() && self.target.is_mcp => Ok(None),
            (None, None, None) if revocation.is_none() => {
                self.error(None, "nothing says where users agree", "add `issuer`, or `authorizationUrl` and `tokenUrl`")
            }
            _ => self.error(
                None,
                "these keys do not fit together",
                "write `issuer` alone, or `authorizationUrl` and `tokenUrl` without it",
            ),
        }
    }

    fn client(&mut self, id: Option<Text>, secret: Option<Setting>) -> Result<Option<OauthClient>, Reported> {
        let Some(Text(client_id)) = id else {
            return match secret {
                Some(_) => self.error(Some("clientSecret"), "there is a secret without a client", "add `clientId`"),
                None => Ok(None),
            };
        };
        let secret = match secret {
            Some(setting) => Some(self.secret(setting)?),
            None => None,
        };
        Ok(Some(OauthClient { id: client_id, secret }))
    }

    fn secret(&mut self, setting: Setting) -> Result<SecretString, Reported> {
        let (at, purpose) = (self.at(Some("clientSecret")), format!("`auth.clientSecret` of `{}`", self.target.id));
        setting.resolve(at, &purpose, self.context).ok_or(Reported)
    }
}

/// Whether the host of a URL is obviously local or private, so that its author means it.
pub(crate) fn is_private(url: &Url) -> bool {
    let is_network = match url.host() {
        Some(Host::Ipv4(address)) => address.is_private(),
        Some(Host::Ipv6(address)) => address.is_unique_local(),
        Some(Host::Domain(_)) | None => false,
    };
    is_network || is_this_machine(url)
}

/// Whether the host of a URL is this machine, as browsers see it.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Reports accounts without a key that encrypts their tokens, and exchanges in auth modes in which users have no token.
pub(crate) fn check(config: &Config, root: &Node, context: &mut Context<'_, '_>) {
    let keys = root.get("connectedAccounts").and_then(|entry| entry.value.get("keys"));
    let has_keys = keys.is_some_and(|keys| !keys.value.items().is_empty());
    for connection in config.connections.values() {
        let (auth, has_variables) = match &connection.kind {
            ConnectionKind::Mcp(server) => {
                (server.transport.user_service(&connection.id).map(|Service { auth, .. }| auth), false)
            }
            ConnectionKind::RemoteAgent(remote) => (remote.auth.clone(), !remote.user_variables.is_empty()),
            ConnectionKind::Http(http) => (http.auth.clone(), false),
            _ => continue,
        };
        let Some(node) = context.connections.get(connection.id.as_str()).copied() else { continue };
        let at = |keys: &[&'static str]| {
            let keys = std::iter::once("properties").chain(keys.iter().copied());
            node.span_at(&keys.map(PathStep::Key).collect::<Vec<_>>())
        };
        let keeps_tokens = match &auth {
            Some(UserAuth::Exchange(exchange)) => match subject_of(config, exchange) {
                Ok(SubjectToken::OfRequests) => false,
                Ok(SubjectToken::OfSignIns) => true,
                Err(Unsuitable { key, message, help }) => {
                    let at = at(if key.is_empty() { &["auth"] } else { &["auth", "provider"] });
                    context.report.error(at, message, Some(help));
                    false
                }
            },
            Some(UserAuth::Account(_)) => true,
            None => false,
        };
        if (keeps_tokens || has_variables) && !has_keys {
            let at = at(if keeps_tokens { &["auth"] } else { &["variables"] });
            let help = "add `connectedAccounts: { keys: [NAME] }`, with an environment variable of at least 32 random \
                        characters"
                .to_owned();
            let message =
                "there is no key to encrypt with what users connect or enter, and the tokens of their sign-ins";
            context.report.error(at, message, Some(help));
        }
    }
}

/// Which token of a user is exchanged.
enum SubjectToken {
    /// The one that comes with each request.
    OfRequests,
    /// The one that the provider has issued at the sign-in.
    OfSignIns,
}

/// Why no token can be exchanged.
struct Unsuitable {
    /// The key of `auth` at which the problem is reported; empty for `auth` itself.
    key: &'static str,
    message: String,
    help: String,
}

/// Returns which token is exchanged.
fn subject_of(config: &Config, exchange: &ExchangeAuth) -> Result<SubjectToken, Unsuitable> {
    let unsuitable = |key, message: String, help: &str| Err(Unsuitable { key, message, help: help.to_owned() });
    let mode = config.auth.mode.name();
    let is_asserted = matches!(exchange.way, ExchangeWay::Assertion { .. });
    let providers = match &config.auth.mode {
        AuthMode::Jwt(_) | AuthMode::Proxy(_) if is_asserted => {
            let help = "let users sign in with `auth: { mode: openidConnect }`, or exchange the token of the request with \
                        `type: tokenExchange`";
            return unsuitable("", format!("in the mode `{mode}` no provider can assert who the user is"), help);
        }
        AuthMode::Jwt(_) | AuthMode::Proxy(_) if exchange.provider.is_some() => {
            let message = format!("in the mode `{mode}` the token of the request is exchanged");
            return unsuitable("provider", message, "leave out `provider`");
        }
        AuthMode::Jwt(_) | AuthMode::Proxy(_) => return Ok(SubjectToken::OfRequests),
        AuthMode::Accounts(accounts) => accounts.providers.as_slice(),
        AuthMode::Local | AuthMode::Anonymous => &[],
    };
    match (&exchange.provider, providers) {
        (_, []) => {
            let help = if is_asserted {
                "let users sign in with `auth: { mode: openidConnect }`, or connect accounts with `type: oauth`"
            } else {
                "let users sign in with `auth: { mode: openidConnect }`, choose the mode `jwt` or `proxy`, or let users \
                 connect accounts with `type: oauth`"
            };
            unsuitable("", format!("in the mode `{mode}` users have no token"), help)
        }
        (Some(id), providers) if providers.iter().any(|provider| provider.id == *id) => Ok(SubjectToken::OfSignIns),
        (Some(id), providers) => {
            let help = suggest::help(id, providers.iter().map(|provider| provider.id.as_str()));
            let help = help.unwrap_or_else(|| "write the id of an entry of `auth.openidConnect`".to_owned());
            unsuitable("provider", format!("there is no provider `{id}`"), &help)
        }
        (None, [_]) => Ok(SubjectToken::OfSignIns),
        (None, _) => {
            let message = "it is not clear whose tokens are exchanged: there are several providers".to_owned();
            unsuitable("", message, "add `provider` with the id of an entry of `auth.openidConnect`")
        }
    }
}
