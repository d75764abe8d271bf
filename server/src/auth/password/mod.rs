//! Users who sign in here, with a name and a password.

mod failures;
mod hasher;
pub(in crate::auth) mod keys;
mod names;
mod setup;
mod tally;
mod throttle;
pub(crate) mod words;

pub(crate) use failures::Failures;
pub(crate) use hasher::{Crowded, Hasher};
pub(crate) use keys::{MAX_DAYS, NewKey, Scope};
pub(crate) use setup::Setup;
pub(crate) use tally::Subject;
pub(crate) use throttle::{Refused, Throttle};

use super::AccountAction;
use super::budgets::Budgets;
use super::credentials::Credentials;
use super::visitors::random;
use super::{cookies, user};
use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::Caller;
use config::PasswordAuth;
use failures::enter as enter_failures;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use store::{AuditEntry, NewSession, SessionLife, Store, StoreError, User};
use uuid::Uuid;

/// The cookie, without its prefix.
const COOKIE: &str = "cw_session";
/// Characters of what a browser says of itself.
const MAX_AGENT: usize = 200;

/// What stays while the config changes: who tries how often and fails, what waits to be hashed, the token of the first user.
#[derive(Clone, Default)]
pub(crate) struct Desk {
    pub(crate) hasher: Hasher,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) failures: Arc<Failures>,
    pub(crate) budgets: Arc<Budgets>,
    pub(crate) setup: Arc<Setup>,
}

/// The users, and how they sign in.
pub(crate) struct Accounts {
    pub(crate) store: Store,
    pub(crate) settings: PasswordAuth,
    pub(crate) desk: Desk,
}

/// A session as its token says.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) caller: Caller,
}

impl Accounts {
    /// # Errors
    /// The database failed.
    pub(super) async fn open(settings: &PasswordAuth, store: Store, desk: Desk) -> Result<Self, StoreError> {
        match store.has_users().await? {
            true => desk.setup.close(),
            false => desk.setup.open(),
        }
        Ok(Self { store, settings: settings.clone(), desk })
    }

    /// When sessions end.
    pub(crate) fn life(&self) -> SessionLife {
        let millis = |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4);
        SessionLife { idle: millis(self.settings.session_idle), most: millis(self.settings.session_most) }
    }

    /// The session that a token stands for, if it counts.
    pub(super) async fn session(&self, token: &str) -> Result<Option<Session>, StoreError> {
        let found = self.store.session(hash(token), now(), self.life()).await?;
        Ok(found.map(|(user, id)| Session { id, caller: caller(&user) }))
    }

    /// Begins a session in the place of the one that the browser had, and enters it in the audit log if `entry` says how; gives the
    /// cookie. None when the user is disabled.
    pub(crate) async fn begin_session(
        &self,
        user_id: &str,
        sent: &Credentials,
        is_https: bool,
        entry: Option<AuditEntry>,
    ) -> Result<Option<HeaderValue>, StoreError> {
        let token = URL_SAFE_NO_PAD.encode(random::<32>());
        let agent = sent.header("user-agent").ok().flatten().unwrap_or_default();
        let session = NewSession {
            id: Uuid::now_v7().to_string(),
            user_id: user_id.to_owned(),
            token_hash: hash(&token),
            agent: agent.chars().take(MAX_AGENT).collect(),
            now: now(),
        };
        let instead = sent.cookie(&cookie_name(is_https)).ok().flatten().map(|token| hash(&token));
        let is_begun = self.store.begin_session(session, instead, self.life(), entry).await?;
        let seconds = i64::try_from(self.settings.session_most.as_secs()).unwrap_or(i64::MAX);
        Ok(is_begun.then(|| cookies::set(COOKIE, &token, seconds, is_https)).flatten())
    }

    /// Counts a failed attempt at the account of a user, or at a name that nobody has. Its row, if it has one, is written in the
    /// background: the time of an answer must not tell which names exist.
    pub(crate) fn record_failure(&self, action: AccountAction, user: Result<&str, &String>, address: Option<&str>) {
        let Some(row) = self.desk.failures.count(action, user.map_err(String::as_str), address) else { return };
        let store = self.store.clone();
        tokio::spawn(async move { enter_failures(&store, vec![row]).await });
    }

    /// What takes the cookie away.
    pub(crate) fn no_cookie(is_https: bool) -> Option<HeaderValue> {
        cookies::set(COOKIE, "", 0, is_https)
    }
}

/// The cookie's name.
pub(super) fn cookie_name(is_https: bool) -> String {
    cookies::name(COOKIE, is_https)
}

/// A user as a caller.
fn caller(found: &User) -> Caller {
    user::signed_in(&found.id, Some(&found.name), found.roles.iter().map(String::as_str))
}

/// What is kept of a token.
pub(super) fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Unix time in milliseconds.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
