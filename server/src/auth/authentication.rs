//! Who calls: what a request brings along, judged by the mode of the config.

use super::credentials::{Ambiguous, Credentials};
use super::embedding::Embedding;
use super::hosts::Hosts;
use super::jwt::{self, Jwt};
use super::outside::OutsideKeys;
use super::password::keys::is_key;
use super::password::{self, Accounts, Scope};
use super::visitors::{self, Visitors};
use super::{Ground, cookies, ground, proxy};
use axum::http::HeaderValue;
use chat::{Bearer, Caller};
use config::{AuditAddresses, Auth, AuthMode, Embed, ProxyAuth};
use secrecy::ExposeSecret;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use store::StoreError;
use wire::{ErrorCode, UserError};

/// The owner of everything in the mode `local`.
pub(crate) const LOCAL_OWNER: &str = "local";

/// Tells callers apart, as the config says.
pub(crate) struct Authentication {
    mode: Mode,
    pub(super) visitors: Visitors,
    /// The sites that may show chats.
    pub(super) embedding: Option<Embedding>,
    pub(super) hosts: Hosts,
    /// The keys of users who are kept elsewhere.
    pub(super) outside: Option<Arc<OutsideKeys>>,
    /// How the audit log records addresses.
    pub(super) audit_addresses: AuditAddresses,
    /// Whether what a user comes with stays with him for the time of his request, and of what it begins.
    passes_on: bool,
}

enum Mode {
    Local,
    Anonymous,
    Jwt(Box<Jwt>),
    Proxy(ProxyAuth),
    Password(Arc<Accounts>),
}

/// By what a caller is known, as far as that decides about anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// By what stands for all of him, or by nothing.
    Whole,
    /// By a session of this server; its id.
    Session(String),
    /// By a key, which is for these things only.
    Key(Vec<Scope>),
    /// By the token of a site that shows a chat.
    Site,
}

/// Who sent a request.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) caller: Caller,
    pub(super) via: Via,
    /// What the browser must be given, so that it is known again.
    pub(super) cookie: Option<HeaderValue>,
    /// He was signed in, and is no longer; why, in words for him.
    pub(super) ended: Option<UserError>,
}

impl Authentication {
    /// # Errors
    /// One line for the operator.
    pub(crate) async fn new(auth: &Auth, embed: Option<&Embed>, ground: &Ground) -> anyhow::Result<Self> {
        ground::allows(ground.address, &auth.mode)?;
        let mode = match &auth.mode {
            AuthMode::Local => Mode::Local,
            AuthMode::Anonymous => Mode::Anonymous,
            AuthMode::Jwt(settings) => {
                Mode::Jwt(Box::new(Jwt::new(settings).map_err(|error| error.context(format!("{}: `auth`", auth.at)))?))
            }
            AuthMode::Proxy(settings) => Mode::Proxy(settings.clone()),
            AuthMode::Password(settings) => {
                let accounts = Accounts::open(settings, ground.store.clone(), ground.desk.clone()).await?;
                Mode::Password(Arc::new(accounts))
            }
        };
        let outside = match &auth.mode {
            AuthMode::Local | AuthMode::Jwt(_) | AuthMode::Proxy(_) => {
                Some(Arc::new(OutsideKeys::new(auth.mode.name(), ground.store.clone(), ground.desk.clone())))
            }
            // Nobody is somebody, or there are accounts.
            AuthMode::Anonymous | AuthMode::Password(_) => None,
        };
        let visitors = match (&mode, auth.cookie_keys.as_slice()) {
            // Nobody is a visitor.
            (Mode::Local, _) => Visitors::new([&visitors::random::<32>()[..]]),
            (_, []) => Visitors::new([visitors::own_key(ground).await?.as_slice()]),
            (_, keys) => Visitors::new(keys.iter().map(|key| key.expose_secret().as_bytes())),
        };
        let embedding = embed.map(Embedding::new).transpose().map_err(|error| error.context("`embed`"))?;
        Ok(Self {
            mode,
            visitors,
            embedding,
            hosts: Hosts::new(&auth.public_urls),
            outside,
            audit_addresses: auth.audit_addresses,
            passes_on: false,
        })
    }

    /// The same, where what users come with is passed on for them, or not.
    pub(crate) fn passing_on(self, passes_on: bool) -> Self {
        Self { passes_on, ..self }
    }

    /// The user with the token that he came with, where that is passed on.
    fn with(&self, user: Caller, token: &str) -> Caller {
        Caller { bearer: self.passes_on.then(|| Bearer::new(token)), ..user }
    }

    /// Whether everybody who reaches the server is its owner.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.mode, Mode::Local)
    }

    /// The users who sign in here, if they do.
    pub(crate) fn accounts(&self) -> Option<Arc<Accounts>> {
        match &self.mode {
            Mode::Password(accounts) => Some(accounts.clone()),
            Mode::Local | Mode::Anonymous | Mode::Jwt(_) | Mode::Proxy(_) => None,
        }
    }

    /// As what a request brings along but for keys of users who are kept elsewhere.
    pub(super) async fn by_himself(&self, sent: &Credentials) -> Result<Known, UserError> {
        if let Some(user) = self.user_of_site(sent).await? {
            return Ok(Known { via: Via::Site, ..known(user) });
        }
        match &self.mode {
            Mode::Local => Ok(known(local_owner())),
            Mode::Anonymous => Ok(self.visitor(sent)?),
            Mode::Jwt(jwt) => self.bearer(jwt, sent).await,
            Mode::Password(accounts) => self.member(accounts, sent).await,
            Mode::Proxy(settings) => match proxy::user(settings, sent).map_err(of_proxy)? {
                Some(user) => match proxy::token(settings, sent)? {
                    Some(token) => Ok(known(self.with(user, token))),
                    None => Ok(known(user)),
                },
                None => Ok(self.visitor(sent)?),
            },
        }
    }

    /// By the token of a site that shows a chat. It goes before all that the browser sends by itself: only our own script can have sent it,
    /// and the browser may be signed in here as somebody else.
    async fn user_of_site(&self, sent: &Credentials) -> Result<Option<Caller>, UserError> {
        let token = sent.bearer()?.filter(|token| !is_key(token));
        let (Some(embedding), Some(token)) = (&self.embedding, token) else { return Ok(None) };
        // In these modes a bearer may be somebody else's; in the others nobody else's counts.
        let has_others = matches!(self.mode, Mode::Jwt(_) | Mode::Proxy(_) | Mode::Password(_));
        embedding.user(token, has_others).await.map_err(of_token)
    }

    /// Whether users are known by tokens wherever they ask.
    pub(super) fn has_tokens(&self) -> bool {
        matches!(self.mode, Mode::Jwt(_))
    }

    /// Whether a token says here who somebody is, of whichever kind: for who was given one and should not pass for nobody.
    pub(super) fn takes_tokens(&self) -> bool {
        self.has_tokens() || self.embedding.as_ref().is_some_and(Embedding::takes_tokens)
    }

    /// Somebody whose request needs no name.
    pub(super) fn nobody(&self) -> Caller {
        if self.is_local() { local_owner() } else { Caller::visitor(self.visitors.known(None, now()).user_id) }
    }

    /// By the header, or by the cookie. A header that is not good is refused at once: a program sent it. A cookie that is not good
    /// may lie in a browser for long, so it is as none where somebody may be nobody.
    async fn bearer(&self, jwt: &Jwt, sent: &Credentials) -> Result<Known, UserError> {
        let by_header = match sent.bearer()?.filter(|token| !is_key(token)) {
            Some(token) => Some(self.with(jwt.user(token).await.map_err(of_token)?, token)),
            None => None,
        };
        let cookie = jwt.cookie().map(|name| sent.cookie(name)).transpose()?.flatten();
        let by_cookie = match cookie.filter(|token| !token.is_empty()) {
            Some(token) => Some(jwt.user(&token).await.map(|user| self.with(user, &token))),
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

    /// By the session of a browser, or by the key of a program; with both, as far as the key is for it.
    async fn member(&self, accounts: &Accounts, sent: &Credentials) -> Result<Known, UserError> {
        let by_key = match (sent.bearer()?, sent.api_key()?) {
            (Some(one), Some(other)) if one != other => return Err(two_users()),
            (Some(key), _) | (None, Some(key)) => {
                let found = accounts.key(key).await.map_err(of_store)?;
                Some(found.ok_or_else(wrong_key)?)
            }
            (None, None) => None,
        };
        let cookie = sent.cookie(&password::cookie_name(self.is_https(sent)))?.filter(|token| !token.is_empty());
        let session = match &cookie {
            Some(token) => accounts.session(token).await.map_err(of_store)?,
            None => None,
        };
        match (by_key, session) {
            (Some((user, _)), Some(session)) if user.user_id != session.caller.user_id => Err(two_users()),
            (Some((user, scopes)), _) => Ok(Known { via: Via::Key(scopes), ..known(user) }),
            (None, Some(session)) => Ok(Known { via: Via::Session(session.id), ..known(session.caller) }),
            (None, None) => Ok(Known { ended: cookie.map(|_| UserError::unauthenticated()), ..self.visitor(sent)? }),
        }
    }

    /// Whether the browser came over `https`, as far as the config tells.
    pub(super) fn is_https(&self, sent: &Credentials) -> bool {
        sent.host().is_some_and(|host| self.hosts.is_https(host))
    }

    fn visitor(&self, sent: &Credentials) -> Result<Known, Ambiguous> {
        // In the frame of another site a browser may send no cookies, so our script there says by itself who its visitor is.
        if let Some(carried) = sent.header(visitors::HEADER)? {
            return Ok(known(Caller::visitor(self.visitors.known(Some(carried), now()).user_id)));
        }
        let is_https = self.is_https(sent);
        let cookie = sent.cookie(&cookies::name(visitors::COOKIE, is_https))?;
        let seen = self.visitors.known(cookie.as_deref(), now());
        let cookie = seen.renewed.and_then(|value| Visitors::cookie(&value, is_https));
        Ok(Known { cookie, ..known(Caller::visitor(seen.user_id)) })
    }
}

pub(super) fn known(caller: Caller) -> Known {
    Known { caller, via: Via::Whole, cookie: None, ended: None }
}

pub(super) fn local_owner() -> Caller {
    let roles = config::OWNER_ROLES.map(str::to_owned).to_vec();
    Caller { roles, ..Caller::signed_in(LOCAL_OWNER) }
}

impl From<Ambiguous> for UserError {
    fn from(Ambiguous(message): Ambiguous) -> Self {
        Self::new(ErrorCode::Malformed, message)
    }
}

/// A10: whoever could choose which of two counts could choose who he is.
pub(super) fn two_users() -> UserError {
    UserError::new(ErrorCode::Malformed, "This request is signed in as two different users. Send one credential only.")
}

pub(super) fn wrong_key() -> UserError {
    UserError::new(ErrorCode::Unauthenticated, "This API key is wrong, has expired or was deleted.")
}

pub(super) fn of_store(error: StoreError) -> UserError {
    if !error.is_reported() {
        tracing::error!(%error, "the caller cannot be identified");
    }
    UserError::new(ErrorCode::Unavailable, "This is not possible right now. Try again in a moment.")
}

pub(super) fn of_token(refused: jwt::Refused) -> UserError {
    let code = if refused == jwt::Refused::NoKeys { ErrorCode::Unavailable } else { ErrorCode::Unauthenticated };
    UserError::new(code, refused.to_string())
}

fn of_proxy(refused: proxy::Refused) -> UserError {
    match refused {
        proxy::Refused::Ambiguous(ambiguous) => ambiguous.into(),
        proxy::Refused::NotTheProxy => {
            let message =
                "Only the proxy in front of this server may name users, and this request did not come from it.";
            UserError::new(ErrorCode::Forbidden, message)
        }
        proxy::Refused::NoId => UserError::new(ErrorCode::Forbidden, "The proxy sent a user id that is not allowed."),
    }
}

/// Unix time in seconds.
pub(super) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed())
}
