//! Users with accounts on this server, who sign in with name and password or at a provider.

mod away;
pub mod credential_rules;
mod failures;
mod hasher;
mod invitations;
pub mod keys;
mod lookalikes;
mod scripts;
mod second_factor;
mod setup;
mod state;
mod tally;
mod throttle;

pub use super::token_parts::now_millis;
pub use away::{AwayRefusal, user_away};
pub use failures::FailedAttempts;
pub use hasher::{Hasher, HasherBusy};
pub use invitations::{INVITATION_DAYS, INVITATION_PATH, InvitedUser, MadeInvitation};
pub use keys::{KeyScope, MAX_DAYS, NewKey};
pub use lookalikes::NewNames;
pub use second_factor::{
    CodeCheck, ConfirmedApp, NewApp, PendingApp, PendingStep, SecondFactors, SecondStep, StepKind,
};
pub use setup::SetupToken;
pub use state::SignInState;
pub use tally::Subject;
pub use throttle::{SignInAttempt, Throttle, Throttled};

use super::AccountAction;
use super::credentials::Credentials;
use super::openid_connect::{PendingSignIns, Provider};
use super::token_parts::{hash_token, random_bytes};
use super::{cookies, user};
use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::Caller;
use config::AccountAuth;
use failures::append_rows as enter_failures;
use std::sync::Arc;
use std::time::Duration;
use store::{
    AuditEntry, NewSession, ProviderSession, SecondFactorProof, SessionLifetime, SessionRow, SignInProof, SignInWays,
    Store, StoreError, User,
};
use uuid::Uuid;

/// The cookie name without its prefix.
const COOKIE: &str = "cw_session";
/// The limit on a stored `User-Agent` in characters.
const MAX_USER_AGENT: usize = 200;

/// The accounts and their settings.
pub struct Accounts {
    /// The store of users, sessions and keys.
    pub store: Store,
    /// The settings of the config.
    pub settings: AccountAuth,
    /// The in-memory state of sign-ins.
    pub sign_in: SignInState,
    /// The providers at which users sign in.
    pub providers: Vec<Provider>,
    /// Sign-ins that have begun at a provider.
    pub pending: PendingSignIns,
    /// The second factors of users with a password.
    pub second_factors: SecondFactors,
    /// The ways in which users can sign in.
    pub ways: Arc<SignInWays>,
}

/// A valid session.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) caller: Caller,
}

impl Accounts {
    /// Opens the accounts; creates the setup token if there is no user.
    ///
    /// # Errors
    /// The database failed.
    pub(super) async fn open(
        settings: &AccountAuth,
        store: Store,
        sign_in: SignInState,
        (pending, second_factors): (PendingSignIns, SecondFactors),
    ) -> anyhow::Result<Self> {
        // Without passwords, administrators come from a provider.
        if !settings.passwords || store.has_users().await? {
            sign_in.setup.clear()
        } else {
            sign_in.setup.create()
        }
        let providers = settings.providers.iter().map(Provider::new).collect::<anyhow::Result<_>>()?;
        let ways = Arc::new(sign_in_ways(settings));
        Ok(Self { store, settings: settings.clone(), sign_in, providers, pending, second_factors, ways })
    }

    /// Returns the provider with an id.
    pub fn provider(&self, id: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.settings.id == id)
    }

    /// Returns the provider with an issuer.
    pub fn provider_of(&self, issuer: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.settings.issuer == issuer)
    }

    /// Returns whether a user can sign in with a password.
    ///
    /// # Errors
    /// The database failed.
    pub async fn has_password(&self, user_id: &str) -> Result<bool, StoreError> {
        Ok(self.settings.passwords
            && self.store.user_by_id(user_id).await?.is_some_and(|(_, password)| !password.hash.is_empty()))
    }

    /// Returns the lifetime of sessions.
    fn session_lifetime(&self) -> SessionLifetime {
        session_lifetime(&self.settings)
    }

    /// Returns a user's valid sessions, the most recently used first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sessions(&self, user_id: &str) -> Result<Vec<SessionRow>, StoreError> {
        self.store.sessions(user_id, now_millis(), self.session_lifetime(), &self.ways).await
    }

    /// Returns the session of a token, if it is valid.
    pub(super) async fn find_session(&self, token: &str) -> Result<Option<Session>, StoreError> {
        let found = self.store.session(hash_token(token), now_millis(), self.session_lifetime(), &self.ways).await?;
        Ok(found.map(|(user, id)| Session { id, caller: caller(&user) }))
    }

    /// Starts a session of a user whose password has the hash `password`. It replaces the browser's
    /// current session, and `entries` are recorded in the audit log. Returns the cookie; `None` if the
    /// user is disabled, has got another password since it was checked, or the second factor does not
    /// count any more.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin_session(
        &self,
        (user_id, password, second): (&str, &str, SecondFactorProof),
        sent: &Credentials,
        is_https: bool,
        entries: impl IntoIterator<Item = AuditEntry>,
    ) -> Result<Option<HeaderValue>, StoreError> {
        let (proof, entries) = (SignInProof::Password(password.to_owned(), second), entries.into_iter().collect());
        self.begin(user_id, (sent, is_https), proof, self.settings.session_max, entries).await
    }

    /// Starts a session as [`Accounts::begin_session`] does, after a sign-in at a provider.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin_provider_session(
        &self,
        user_id: &str,
        browser: (&Credentials, bool),
        (provider, identity_id, session_id): (&Provider, String, Option<String>),
        entry: Option<AuditEntry>,
    ) -> Result<Option<HeaderValue>, StoreError> {
        let lifetime = provider.settings.session.min(self.settings.session_max);
        let proof = SignInProof::Provider(ProviderSession { identity_id, session_id });
        self.begin(user_id, browser, proof, lifetime, entry.into_iter().collect()).await
    }

    async fn begin(
        &self,
        user_id: &str,
        (sent, is_https): (&Credentials, bool),
        proof: SignInProof,
        lifetime: Duration,
        entries: Vec<AuditEntry>,
    ) -> Result<Option<HeaderValue>, StoreError> {
        let token = URL_SAFE_NO_PAD.encode(random_bytes::<32>());
        let agent = sent.header("user-agent").ok().flatten().unwrap_or_default();
        let session = NewSession {
            id: Uuid::now_v7().to_string(),
            user_id: user_id.to_owned(),
            token_hash: hash_token(&token),
            agent: agent.chars().take(MAX_USER_AGENT).collect(),
            now: now_millis(),
            proof,
        };
        let instead = sent.cookie(&cookie_name(is_https)).ok().flatten().map(|token| hash_token(&token));
        let is_begun = self.store.begin_session(session, instead, self.session_lifetime(), entries).await?;
        let seconds = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        Ok(is_begun.then(|| cookies::set(COOKIE, &token, seconds, is_https)).flatten())
    }

    /// Counts a failed attempt at the account of a user, or with a name that nobody has. An audit
    /// entry is written in the background, so that the response time does not reveal which names
    /// exist.
    pub fn record_failure(&self, action: AccountAction, user: Result<&str, &str>, address: Option<&str>) {
        let Some(row) = self.sign_in.failures.count(action, user, address) else { return };
        let store = self.store.clone();
        tokio::spawn(async move { enter_failures(&store, vec![row]).await });
    }

    /// Counts a refused sign-in at a provider: of a user of this server, or of somebody else. An audit entry with
    /// the id of the provider and the reason is written in the background.
    pub fn record_provider_failure(
        &self,
        user_id: Option<&str>,
        (provider, reason): (&str, &str),
        address: Option<&str>,
    ) {
        let Some(row) = self.sign_in.failures.count_at_provider(user_id, (provider, reason), address) else { return };
        let store = self.store.clone();
        tokio::spawn(async move { enter_failures(&store, vec![row]).await });
    }

    /// Returns the header that deletes the cookie.
    pub fn expired_cookie(is_https: bool) -> Option<HeaderValue> {
        cookies::set(COOKIE, "", 0, is_https)
    }
}

/// Returns the lifetime of sessions.
fn session_lifetime(settings: &AccountAuth) -> SessionLifetime {
    SessionLifetime { idle: millis(settings.session_idle), max_age: millis(settings.session_max) }
}

/// Returns the ways in which users can sign in.
fn sign_in_ways(settings: &AccountAuth) -> SignInWays {
    let issuers = settings.providers.iter().map(|provider| {
        let lifetime = provider.session.min(settings.session_max);
        (provider.issuer.clone(), millis(lifetime))
    });
    SignInWays { passwords: settings.passwords, issuers: issuers.collect() }
}

/// The name of the session cookie.
pub(super) fn cookie_name(is_https: bool) -> String {
    cookies::name(COOKIE, is_https)
}

/// Converts a user to a caller.
fn caller(found: &User) -> Caller {
    user::signed_in(&found.id, Some(&found.name), found.roles.iter().map(String::as_str))
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}
