//! Who calls: what a request brings along, judged by the mode of the config.

use super::credentials::{Ambiguous, Credentials};
use super::hosts::Hosts;
use super::jwt::{self, Jwt};
use super::visitors::{self, Visitors};
use super::{Ground, cookies, proxy};
use axum::http::HeaderValue;
use chat::Caller;
use config::{Auth, AuthMode, ProxyAuth};
use secrecy::ExposeSecret;
use std::time::{SystemTime, UNIX_EPOCH};
use wire::{ErrorCode, UserError};

/// The owner of everything in the mode `local`.
pub(super) const LOCAL_OWNER: &str = "local";

/// Tells callers apart, as the config says.
pub(crate) struct Authentication {
    mode: Mode,
    visitors: Visitors,
    pub(super) hosts: Hosts,
}

enum Mode {
    Local,
    Anonymous,
    Jwt(Box<Jwt>),
    Proxy(ProxyAuth),
}

/// Who sent a request.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) caller: Caller,
    /// What the browser must be given, so that it is known again.
    pub(super) cookie: Option<HeaderValue>,
    /// He was signed in, and is no longer; why, in words for him.
    pub(super) ended: Option<UserError>,
}

impl Authentication {
    /// # Errors
    /// One line for the operator.
    pub(crate) fn new(auth: &Auth, ground: &Ground) -> anyhow::Result<Self> {
        ground.allows(&auth.mode)?;
        let mode = match &auth.mode {
            AuthMode::Local => Mode::Local,
            AuthMode::Anonymous => Mode::Anonymous,
            AuthMode::Jwt(settings) => {
                Mode::Jwt(Box::new(Jwt::new(settings).map_err(|error| error.context(format!("{}: `auth`", auth.at)))?))
            }
            AuthMode::Proxy(settings) => Mode::Proxy(settings.clone()),
        };
        let visitors = match (&mode, auth.cookie_keys.as_slice()) {
            // Nobody is a visitor.
            (Mode::Local, _) => Visitors::new([&visitors::random::<32>()[..]]),
            (_, []) => Visitors::new([visitors::own_key(ground.folder.as_deref())?.as_slice()]),
            (_, keys) => Visitors::new(keys.iter().map(|key| key.expose_secret().as_bytes())),
        };
        Ok(Self { mode, visitors, hosts: Hosts::new(&auth.public_urls) })
    }

    /// Whether everybody who reaches the server is its owner.
    pub(super) fn is_local(&self) -> bool {
        matches!(self.mode, Mode::Local)
    }

    /// Who sent this. Who sends nothing that names him is a visitor.
    ///
    /// # Errors
    /// 400 for what is ambiguous, 401 for what names somebody and is not good, 403 for what he may not say, 503 when it cannot be
    /// known just now.
    pub(crate) async fn identify(&self, sent: &Credentials) -> Result<Known, UserError> {
        match &self.mode {
            Mode::Local => Ok(known(local_owner())),
            Mode::Anonymous => Ok(self.visitor(sent)?),
            Mode::Jwt(jwt) => self.bearer(jwt, sent).await,
            Mode::Proxy(settings) => match proxy::user(settings, sent).map_err(of_proxy)? {
                Some(user) => Ok(known(user)),
                None => Ok(self.visitor(sent)?),
            },
        }
    }

    /// Somebody whose request needs no name.
    pub(super) fn nobody(&self) -> Caller {
        if self.is_local() { local_owner() } else { visitor(self.visitors.known(None, now()).user_id) }
    }

    /// By the header, or by the cookie. A header that is not good is refused at once: a program sent it. A cookie that is not good
    /// may lie in a browser for long, so it is as none where somebody may be nobody.
    async fn bearer(&self, jwt: &Jwt, sent: &Credentials) -> Result<Known, UserError> {
        let by_header = match sent.bearer()? {
            Some(token) => Some(jwt.user(token).await.map_err(of_token)?),
            None => None,
        };
        let cookie = jwt.cookie().map(|name| sent.cookie(name)).transpose()?.flatten();
        let by_cookie = match cookie.filter(|token| !token.is_empty()) {
            Some(token) => Some(jwt.user(&token).await),
            None => None,
        };
        match (by_header, by_cookie) {
            (Some(one), Some(Ok(other))) if one.user_id != other.user_id => Err(two_users()),
            (Some(user), _) | (None, Some(Ok(user))) => Ok(known(user)),
            (None, Some(Err(refused))) => {
                let ended = Some(of_token(refused));
                Ok(Known { ended, ..self.visitor(sent)? })
            }
            (None, None) => Ok(self.visitor(sent)?),
        }
    }

    fn visitor(&self, sent: &Credentials) -> Result<Known, Ambiguous> {
        let is_https = sent.host().is_some_and(|host| self.hosts.is_https(host));
        let cookie = sent.cookie(&cookies::name(visitors::COOKIE, is_https))?;
        let seen = self.visitors.known(cookie.as_deref(), now());
        let cookie = seen.renewed.and_then(|value| Visitors::cookie(&value, is_https));
        Ok(Known { caller: visitor(seen.user_id), cookie, ended: None })
    }
}

fn known(caller: Caller) -> Known {
    Known { caller, cookie: None, ended: None }
}

fn local_owner() -> Caller {
    let roles = config::OWNER_ROLES.map(str::to_owned).to_vec();
    Caller { user_id: LOCAL_OWNER.to_owned(), name: None, is_authenticated: true, roles }
}

fn visitor(user_id: String) -> Caller {
    Caller { user_id, name: None, is_authenticated: false, roles: Vec::new() }
}

impl From<Ambiguous> for UserError {
    fn from(Ambiguous(message): Ambiguous) -> Self {
        Self::new(ErrorCode::Malformed, message)
    }
}

/// A10: whoever could choose which of two counts could choose who he is.
fn two_users() -> UserError {
    UserError::new(ErrorCode::Malformed, "This request is signed in as two different users. Send one token only.")
}

fn of_token(refused: jwt::Refused) -> UserError {
    let code = if refused == jwt::Refused::NoKeys { ErrorCode::Unavailable } else { ErrorCode::Unauthenticated };
    UserError::new(code, refused.to_string())
}

fn of_proxy(refused: proxy::Refused) -> UserError {
    match refused {
        proxy::Refused::Ambiguous(ambiguous) => ambiguous.into(),
        proxy::Refused::NotTheProxy => {
            let message =
                "Only the proxy in front of this server may say who a user is, and this did not come from it.";
            UserError::new(ErrorCode::Forbidden, message)
        }
        proxy::Refused::NoId => UserError::new(ErrorCode::Forbidden, "No user can have the id that the proxy names."),
    }
}

/// Unix time in seconds.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed())
}
