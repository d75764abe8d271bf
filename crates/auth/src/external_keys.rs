//! API keys of users without accounts on this server, in the modes `jwt`, `proxy` and `local`. A
//! key has the roles that its user had at their last request, limited by its scopes.

use super::AccountAction;
use super::authentication::{
    AuthMethod, Authentication, Identity, conflicting_credentials, invalid_api_key, local_owner, plain_identity,
    store_error,
};
use super::credentials::Credentials;
use super::password::keys::{self, is_key};
use super::password::{Accounts, KeyScope, NewKey, SignInState, Subject};
use super::token_parts::{hash_token, now_millis};
use super::user;
use chat::Caller;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{ApiKeyRow, ExternalUser, Store, StoreError};
use wire::UserError;

/// The limit on users whose last synced roles are cached; beyond it, the cache is cleared.
const MAX_SYNCED_USERS: usize = 10_000;

/// How long a cached user counts as synced; another server may have stored newer roles since.
const SYNC_INTERVAL: Duration = Duration::from_secs(10);

/// The API keys of users without accounts.
pub struct ExternalKeys {
    mode: &'static str,
    store: Store,
    /// Has the budgets for creating keys.
    sign_in: SignInState,
    /// The users as they were last stored for their keys, with the time.
    synced: Mutex<HashMap<String, (Caller, Instant)>>,
}

impl ExternalKeys {
    pub(super) fn new(mode: &'static str, store: Store, sign_in: SignInState) -> Self {
        Self { mode, store, sign_in, synced: Mutex::default() }
    }

    /// Returns the user and the scopes of a valid key.
    pub(super) async fn find_key(&self, key: &str) -> Result<Option<(Caller, Vec<KeyScope>)>, StoreError> {
        let found = self.store.external_key(hash_token(key), self.mode, now_millis()).await?;
        Ok(found.map(|(user, names)| {
            let roles = user.roles.iter().map(String::as_str);
            (user::signed_in(&user.id, user.name.as_deref(), roles), keys::parse_scopes(&names))
        }))
    }

    /// Stores the user's name and roles for their keys, unless that was done recently.
    pub(super) async fn sync_roles(&self, user: &Caller) -> Result<(), StoreError> {
        // The bearer token belongs to this request only.
        let mut seen = user.clone();
        seen.bearer = None;
        let is_known = |(known, at): &(Caller, Instant)| *known == seen && at.elapsed() < SYNC_INTERVAL;
        if self.synced.lock().get(&user.user_id).is_some_and(is_known) {
            return Ok(());
        }
        self.store.update_external_user(self.user(user)).await?;
        let mut synced = self.synced.lock();
        if synced.len() >= MAX_SYNCED_USERS {
            synced.clear();
        }
        synced.insert(user.user_id.clone(), (seen, Instant::now()));
        Ok(())
    }

    fn user(&self, caller: &Caller) -> ExternalUser {
        let (id, name, roles) = (caller.user_id.clone(), caller.name.clone(), caller.roles().to_vec());
        ExternalUser { mode: self.mode, id, name, roles }
    }
}

/// The API keys of an auth mode.
#[derive(Clone)]
pub enum ApiKeys {
    /// Keys of users with accounts.
    Accounts(Arc<Accounts>),
    /// Keys of users without accounts.
    External(Arc<ExternalKeys>),
}

impl ApiKeys {
    /// Counts a key that a user is about to create. A refused one is recorded in the audit log.
    ///
    /// # Errors
    /// The number of seconds after which to try again.
    pub fn reserve(&self, user_id: &str, address: Option<&str>) -> Result<(), u32> {
        let (sign_in, store) = match self {
            Self::Accounts(accounts) => (&accounts.sign_in, &accounts.store),
            Self::External(external) => (&external.sign_in, &external.store),
        };
        sign_in.budgets.reserve_key(user_id).inspect_err(|_| {
            let limited = ("keys", Subject::User(user_id.to_owned()));
            sign_in.record_limited(store, AccountAction::AddKey, limited, address);
        })
    }

    /// Creates a key and records that in the audit log, with the user's address as recorded there.
    /// `None` if the user has too many keys.
    pub async fn create(
        &self,
        caller: &Caller,
        name: &str,
        scopes: &[KeyScope],
        days: u32,
        address: Option<&str>,
    ) -> Result<Option<NewKey>, StoreError> {
        match self {
            Self::Accounts(accounts) => accounts.create_key(&caller.user_id, name, scopes, days, address).await,
            Self::External(external) => {
                let (kept, key) = keys::new_key(&caller.user_id, name, scopes, days);
                let entry = keys::audit_entry(AccountAction::AddKey, &caller.user_id, &kept.id, address, Some(&kept));
                let is_made = external.store.add_external_key(external.user(caller), kept, Some(entry)).await?;
                Ok(is_made.then_some(key))
            }
        }
    }

    /// Returns a user's keys, newest first.
    pub async fn list(&self, user_id: &str) -> Result<Vec<ApiKeyRow>, StoreError> {
        match self {
            Self::Accounts(accounts) => accounts.store.api_keys(user_id).await,
            Self::External(external) => external.store.external_keys(user_id, external.mode).await,
        }
    }

    /// Deletes a key of a user and records that in the audit log. Returns false if the user has no
    /// such key.
    pub async fn delete(&self, user_id: &str, id: &str, address: Option<&str>) -> Result<bool, StoreError> {
        let entry = Some(keys::audit_entry(AccountAction::DeleteKey, user_id, id, address, None));
        match self {
            Self::Accounts(accounts) => accounts.store.delete_api_key(user_id, id, entry).await,
            Self::External(external) => external.store.delete_external_key(user_id, external.mode, id, entry).await,
        }
    }
}

impl Authentication {
    /// Updates the roles of the API keys of a user who was identified by other credentials. Open
    /// streams do not repeat this, since their credentials date from when they began.
    pub async fn sync_key_roles(&self, known: &Identity) {
        let has_external_roles =
            known.auth_method == AuthMethod::Primary && known.caller.is_authenticated && !self.is_local();
        let Some(external) = self.external_keys.as_ref().filter(|_| has_external_roles) else { return };
        // The request itself does not depend on it; the next request tries again.
        if let Err(error) = external.sync_roles(&known.caller).await {
            tracing::warn!(%error, "cannot update the roles of a user's API keys");
        }
    }

    /// Returns the API keys of users; `None` in the mode `anonymous`.
    pub fn api_keys(&self) -> Option<ApiKeys> {
        let external = self.external_keys.clone().map(ApiKeys::External);
        external.or_else(|| self.accounts().map(ApiKeys::Accounts))
    }

    /// Identifies the caller. A request without credentials is a visitor's.
    ///
    /// # Errors
    /// 400 for ambiguous credentials, 401 for invalid ones, 403 for headers that the client may not
    /// send, 503 if identification is temporarily impossible.
    pub async fn identify(&self, sent: &Credentials) -> Result<Identity, UserError> {
        let Some(external) = &self.external_keys else { return self.identify_by_mode(sent).await };
        let key = match (sent.bearer()?.filter(|token| is_key(token)), sent.api_key()?.filter(|key| is_key(key))) {
            (Some(one), Some(other)) if one != other => return Err(conflicting_credentials()),
            (one, other) => one.or(other),
        };
        let Some(key) = key else {
            return self.identify_by_mode(sent).await;
        };
        let (user, scopes) = external.find_key(key).await.map_err(store_error)?.ok_or_else(invalid_api_key)?;
        let user = if self.is_local() { local_owner() } else { user };
        let other = self.identify_by_mode(sent).await?.caller;
        if other.is_authenticated && other.user_id != user.user_id {
            Err(conflicting_credentials())
        } else {
            Ok(Identity { auth_method: AuthMethod::Key(scopes), ..plain_identity(user) })
        }
    }
}
