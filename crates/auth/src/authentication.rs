//! Identifies the caller of a request by its credentials and the auth mode of the config.

use super::authority::Authority;
use super::credentials::{AmbiguousCredentials, Credentials};
use super::embedding::Embedding;
use super::external_keys::ExternalKeys;
use super::hosts::Hosts;
use super::jwt::{self, Jwt};
use super::openid_connect::PendingSignIns;
use super::password::keys::is_key;
use super::password::{self, Accounts, KeyScope, SecondFactors};
use super::token_parts::{now_seconds, random_bytes};
use super::user::LOCAL_OWNER;
use super::visitors::{self, Visitors};
use super::{AuthState, auth_state, cookies, proxy};
use axum::http::HeaderValue;
use chat::{Bearer, Caller};
use config::{AuditAddresses, Auth, AuthMode, Embed, ProxyAuth};
use secrecy::ExposeSecret;
use std::sync::Arc;
use store::StoreError;
use wire::{ErrorCode, UserError};

/// Identifies callers as the config says.
pub struct Authentication {
    mode: Mode,
    pub(super) visitors: Visitors,
    /// The settings of embedded chats, if the config has any.
    pub(super) embedding: Option<Embedding>,
    pub(super) hosts: Hosts,
    /// The API keys of users without accounts on this server.
    pub(super) external_keys: Option<Arc<ExternalKeys>>,
    /// How the audit log records addresses.
    pub audit_addresses: AuditAddresses,
    /// Whether the caller keeps the bearer token, so that remote agents can be called with it.
    forwards_bearer: bool,
}

enum Mode {
    Local,
    Anonymous,
    Jwt(Box<Jwt>),
    Proxy(ProxyAuth),
    Accounts(Arc<Accounts>),
}

/// How a caller was identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthMethod {
    /// By the credentials of the auth mode, or as a visitor without credentials.
    Primary,
    /// By a session of this server, with its id.
    Session(String),
    /// By an API key, with its scopes.
    Key(Vec<KeyScope>),
    /// By an embed token, which the server of an embedding site has signed.
    Site,
}

/// The caller of a request, and how they were identified.
#[derive(Debug)]
pub struct Identity {
    /// The caller.
    pub caller: Caller,
    /// How they were identified.
    pub auth_method: AuthMethod,
    /// The visitor cookie to set in the response.
    pub cookie: Option<HeaderValue>,
    /// The error to show if the caller's sign-in is no longer valid.
    pub ended: Option<UserError>,
}

impl Authentication {
    /// Creates the authentication of a config.
    ///
    /// # Errors
    /// The listen address, a key or the database does not allow it.
    pub async fn new(auth: &Auth, embed: Option<&Embed>, state: &AuthState) -> anyhow::Result<Self> {
        auth_state::check_listen_address(state.address, &auth.mode)?;
        let secrets: Vec<Vec<u8>> = match (&auth.mode, auth.cookie_keys.as_slice()) {
            // There are no visitors in this mode, so the key need not be kept.
            (AuthMode::Local, _) => vec![random_bytes::<32>().to_vec()],
            (_, []) => vec![visitors::server_key(state).await?],
            (_, keys) => keys.iter().map(|key| key.expose_secret().as_bytes().to_vec()).collect(),
        };
        let mode = match &auth.mode {
            AuthMode::Local => Mode::Local,
            AuthMode::Anonymous => Mode::Anonymous,
            AuthMode::Jwt(settings) => {
                Mode::Jwt(Box::new(Jwt::new(settings).map_err(|error| error.context(format!("{}: `auth`", auth.at)))?))
            }
            AuthMode::Proxy(settings) => Mode::Proxy(settings.clone()),
            AuthMode::Accounts(settings) => {
                let pending = PendingSignIns::new(secrets.iter().map(Vec::as_slice));
                let second_factors = SecondFactors::new(settings, secrets.iter().map(Vec::as_slice));
                let (store, sign_in) = (state.store.clone(), state.sign_in.clone());
                Mode::Accounts(Arc::new(Accounts::open(settings, store, sign_in, (pending, second_factors)).await?))
            }
        };
        let external_keys = match &auth.mode {
            AuthMode::Local | AuthMode::Jwt(_) | AuthMode::Proxy(_) => {
                Some(Arc::new(ExternalKeys::new(auth.mode.name(), state.store.clone(), state.sign_in.clone())))
            }
            // No API keys in the mode `anonymous`; those of accounts belong to them.
            AuthMode::Anonymous | AuthMode::Accounts(_) => None,
        };
        let visitors = Visitors::new(secrets.iter().map(Vec::as_slice));
        let embedding = embed.map(Embedding::new).transpose().map_err(|error| error.context("`embed`"))?;
        Ok(Self {
            mode,
            visitors,
            embedding,
            hosts: Hosts::new(&auth.public_urls),
            external_keys,
            audit_addresses: auth.audit_addresses,
            forwards_bearer: false,
        })
    }

    /// Sets whether callers keep their bearer tokens.
    pub fn with_bearer_forwarding(self, forwards_bearer: bool) -> Self {
        Self { forwards_bearer, ..self }
    }

    /// Adds the bearer token to the caller if tokens are forwarded.
    fn with_bearer(&self, mut user: Caller, token: &str) -> Caller {
        user.bearer = self.forwards_bearer.then(|| Bearer::new(token));
        user
    }

    /// Returns whether this server accepts requests under this host name.
    pub fn accepts_host(&self, name: &Authority) -> bool {
        self.hosts.contains(name)
    }

    /// Returns whether everybody who reaches the server is its owner.
    pub fn is_local(&self) -> bool {
        matches!(self.mode, Mode::Local)
    }

    /// Returns the accounts in the modes `password` and `openidConnect`.
    pub fn accounts(&self) -> Option<Arc<Accounts>> {
        match &self.mode {
            Mode::Accounts(accounts) => Some(accounts.clone()),
            Mode::Local | Mode::Anonymous | Mode::Jwt(_) | Mode::Proxy(_) => None,
        }
    }

    /// Identifies the caller by all credentials but API keys of users without accounts.
    pub(super) async fn identify_by_mode(&self, sent: &Credentials) -> Result<Identity, UserError> {
        if let Some(user) = self.embed_user(sent).await? {
            return Ok(Identity { auth_method: AuthMethod::Site, ..plain_identity(user) });
        }
        match &self.mode {
            Mode::Local => Ok(plain_identity(local_owner())),
            Mode::Anonymous => Ok(self.identify_visitor(sent)?),
            Mode::Jwt(jwt) => self.identify_by_jwt(jwt, sent).await,
            Mode::Accounts(accounts) => self.identify_by_account(accounts, sent).await,
            Mode::Proxy(settings) => match proxy::user(settings, sent).map_err(proxy_error)? {
                Some(user) => match proxy::token(settings, sent)? {
                    Some(token) => Ok(plain_identity(self.with_bearer(user, token))),
                    None => Ok(plain_identity(user)),
                },
                None => Ok(self.identify_visitor(sent)?),
            },
        }
    }

    /// Identifies the caller by an embed token. It takes precedence over everything that the
    /// browser sends automatically: only our own script can have sent the token, and the browser
    /// may be signed in here as another user.
    async fn embed_user(&self, sent: &Credentials) -> Result<Option<Caller>, UserError> {
        let token = sent.bearer()?.filter(|token| !is_key(token));
        let (Some(embedding), Some(token)) = (&self.embedding, token) else { return Ok(None) };
        // In these modes a bearer token may be of another kind; in the others only embed tokens are
        // accepted.
        let has_others = matches!(self.mode, Mode::Jwt(_) | Mode::Proxy(_) | Mode::Accounts(_));
        embedding.user(token, has_others).await.map_err(token_error)
    }

    /// Returns whether users are identified by JWTs in all requests.
    pub(super) fn uses_jwt(&self) -> bool {
        matches!(self.mode, Mode::Jwt(_))
    }

    /// Returns whether any kind of token is accepted: a caller who has a token must not be treated
    /// as a visitor.
    pub(super) fn accepts_tokens(&self) -> bool {
        self.uses_jwt() || self.embedding.as_ref().is_some_and(Embedding::accepts_tokens)
    }

    /// Returns the caller of requests that need no identity.
    pub fn anonymous_caller(&self) -> Caller {
        if self.is_local() {
            local_owner()
        } else {
            Caller::visitor(self.visitors.identify(None, now_seconds()).user_id)
        }
    }

    /// Identifies the caller by the `Authorization` header or the cookie. An invalid header is an
    /// error, since a program has sent it deliberately. An invalid cookie may have been in the
    /// browser for long, so it is ignored where visitors are allowed.
    async fn identify_by_jwt(&self, jwt: &Jwt, sent: &Credentials) -> Result<Identity, UserError> {
        let by_header = match sent.bearer()?.filter(|token| !is_key(token)) {
            Some(token) => Some(self.with_bearer(jwt.user(token).await.map_err(token_error)?, token)),
            None => None,
        };
        let cookie = jwt.cookie().map(|name| sent.cookie(name)).transpose()?.flatten();
        let by_cookie = match cookie.filter(|token| !token.is_empty()) {
            Some(token) => Some(jwt.user(&token).await.map(|user| self.with_bearer(user, &token))),
            None => None,
        };
        match (by_header, by_cookie) {
            (Some(one), Some(Ok(other))) if one.user_id != other.user_id => Err(conflicting_credentials()),
            (Some(user), _) | (None, Some(Ok(user))) => Ok(plain_identity(user)),
            (None, Some(Err(refused))) => {
                let ended = Some(token_error(refused));
                Ok(Identity { ended, ..self.identify_visitor(sent)? })
            }
            (None, None) => Ok(self.identify_visitor(sent)?),
        }
    }

    /// Identifies the caller by session cookie or API key. If both are sent, they must be of the
    /// same user, and the scopes of the key apply.
    async fn identify_by_account(&self, accounts: &Accounts, sent: &Credentials) -> Result<Identity, UserError> {
        let by_key = match (sent.bearer()?, sent.api_key()?) {
            (Some(one), Some(other)) if one != other => return Err(conflicting_credentials()),
            (Some(key), _) | (None, Some(key)) => {
                let found = accounts.find_key(key).await.map_err(store_error)?;
                Some(found.ok_or_else(invalid_api_key)?)
            }
            (None, None) => None,
        };
        let cookie = sent.cookie(&password::cookie_name(self.is_https(sent)))?.filter(|token| !token.is_empty());
        let session = match &cookie {
            Some(token) => accounts.find_session(token).await.map_err(store_error)?,
            None => None,
        };
        match (by_key, session) {
            (Some((user, _)), Some(session)) if user.user_id != session.caller.user_id => {
                Err(conflicting_credentials())
            }
            (Some((user, scopes)), _) => Ok(Identity { auth_method: AuthMethod::Key(scopes), ..plain_identity(user) }),
            (None, Some(session)) => {
                Ok(Identity { auth_method: AuthMethod::Session(session.id), ..plain_identity(session.caller) })
            }
            (None, None) => {
                Ok(Identity { ended: cookie.map(|_| UserError::unauthenticated()), ..self.identify_visitor(sent)? })
            }
        }
    }

    /// Returns whether the browser uses `https`, as far as the config tells.
    pub fn is_https(&self, sent: &Credentials) -> bool {
        sent.host().is_some_and(|host| self.hosts.is_https(host))
    }

    /// Returns the origin of this server under which the browser reaches it, as far as the config tells.
    pub fn origin(&self, sent: &Credentials) -> Option<String> {
        sent.authority().and_then(|name| self.hosts.origin(name))
    }

    fn identify_visitor(&self, sent: &Credentials) -> Result<Identity, AmbiguousCredentials> {
        // In a frame on another site, a browser may send no cookies, so our script sends the
        // visitor in a header.
        if let Some(carried) = sent.header(visitors::HEADER)? {
            return Ok(plain_identity(Caller::visitor(self.visitors.identify(Some(carried), now_seconds()).user_id)));
        }
        let is_https = self.is_https(sent);
        let cookie = sent.cookie(&cookies::name(visitors::COOKIE, is_https))?;
        let seen = self.visitors.identify(cookie.as_deref(), now_seconds());
        let cookie = seen.new_cookie.and_then(|value| Visitors::set_cookie(&value, is_https));
        Ok(Identity { cookie, ..plain_identity(Caller::visitor(seen.user_id)) })
    }
}

pub(super) fn plain_identity(caller: Caller) -> Identity {
    Identity { caller, auth_method: AuthMethod::Primary, cookie: None, ended: None }
}

pub(super) fn local_owner() -> Caller {
    let roles = config::OWNER_ROLES.map(str::to_owned).to_vec();
    Caller::signed_in(LOCAL_OWNER).with_roles(roles)
}

impl From<AmbiguousCredentials> for UserError {
    fn from(AmbiguousCredentials(message): AmbiguousCredentials) -> Self {
        Self::new(ErrorCode::Malformed, message)
    }
}

/// If one of several identities could win, an attacker could choose who the request is attributed
/// to.
pub(super) fn conflicting_credentials() -> UserError {
    UserError::new(ErrorCode::Malformed, "This request is signed in as two different users. Send one credential only.")
}

pub(super) fn invalid_api_key() -> UserError {
    UserError::new(ErrorCode::Unauthenticated, "This API key is invalid, has expired or was deleted.")
}

pub(super) fn store_error(error: StoreError) -> UserError {
    if !error.is_reported() {
        tracing::error!(%error, "the caller cannot be identified");
    }
    UserError::new(ErrorCode::Unavailable, "This is not possible right now. Try again in a moment.")
}

pub(super) fn token_error(refused: jwt::TokenError) -> UserError {
    let code = if refused == jwt::TokenError::NoKeys { ErrorCode::Unavailable } else { ErrorCode::Unauthenticated };
    UserError::new(code, refused.to_string())
}

fn proxy_error(refused: proxy::ProxyError) -> UserError {
    match refused {
        proxy::ProxyError::Ambiguous(ambiguous) => ambiguous.into(),
        proxy::ProxyError::UntrustedPeer => {
            let message = "Only the trusted proxy may send user headers, and this request did not come from it.";
            UserError::new(ErrorCode::Forbidden, message)
        }
        proxy::ProxyError::InvalidId => {
            UserError::new(ErrorCode::Forbidden, "The proxy sent a user id that is not allowed.")
        }
    }
}
