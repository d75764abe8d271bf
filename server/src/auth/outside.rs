//! Keys of programs where users are kept elsewhere: in the modes `jwt`, `proxy` and `local`. A key is its user's, with less rights, and with
//! the roles that he had when he came last.

use super::AccountAction;
use super::authentication::{Authentication, Known, Via, known, local_owner, of_store, two_users, wrong_key};
use super::credentials::Credentials;
use super::password::keys::{self, is_key};
use super::password::{self, Accounts, Desk, NewKey, Scope, Subject};
use super::user;
use chat::Caller;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{ApiKeyRow, OutsideUser, Store, StoreError};
use wire::UserError;

/// Users whose roles are remembered; beyond it, all are forgotten.
const MAX_FOLLOWED: usize = 10_000;

/// How long it is taken for granted that they still are what they were: another server may have heard otherwise.
const KNOWN_FOR: Duration = Duration::from_secs(10);

/// The keys of users who are kept elsewhere.
pub(crate) struct OutsideKeys {
    mode: &'static str,
    store: Store,
    /// Counts the keys that they create.
    desk: Desk,
    /// What users were when their keys were last made to follow them.
    followed: Mutex<HashMap<String, (Caller, Instant)>>,
}

impl OutsideKeys {
    pub(super) fn new(mode: &'static str, store: Store, desk: Desk) -> Self {
        Self { mode, store, desk, followed: Mutex::default() }
    }

    /// Whose key this is, and what it is for; none when it does not count.
    pub(super) async fn key(&self, key: &str) -> Result<Option<(Caller, Vec<Scope>)>, StoreError> {
        let found = self.store.outside_key(password::hash(key), self.mode, password::now()).await?;
        Ok(found.map(|(user, names)| {
            let roles = user.roles.iter().map(String::as_str);
            (user::signed_in(&user.id, user.name.as_deref(), roles), keys::scopes(&names))
        }))
    }

    /// A user came by himself: from now on his keys have the roles that he has.
    pub(super) async fn follow(&self, user: &Caller) -> Result<(), StoreError> {
        // What he came with is of this request.
        let seen = Caller { bearer: None, ..user.clone() };
        let is_known = |(known, at): &(Caller, Instant)| *known == seen && at.elapsed() < KNOWN_FOR;
        if self.followed.lock().get(&user.user_id).is_some_and(is_known) {
            return Ok(());
        }
        self.store.follow_outside_user(self.user(user)).await?;
        let mut followed = self.followed.lock();
        if followed.len() >= MAX_FOLLOWED {
            followed.clear();
        }
        followed.insert(user.user_id.clone(), (seen, Instant::now()));
        Ok(())
    }

    fn user(&self, caller: &Caller) -> OutsideUser {
        let Caller { user_id, name, roles, .. } = caller.clone();
        OutsideUser { mode: self.mode, id: user_id, name, roles }
    }
}

/// Where the keys of a mode's users are kept.
#[derive(Clone)]
pub(crate) enum Keys {
    /// With their accounts.
    Accounts(Arc<Accounts>),
    /// With nobody.
    Outside(Arc<OutsideKeys>),
}

impl Keys {
    /// Counts a key that a user is about to create; one too many is recorded.
    ///
    /// # Errors
    /// The seconds after which to try again.
    pub(crate) fn take_one(&self, user_id: &str, address: Option<&str>) -> Result<(), u32> {
        let (desk, store) = match self {
            Self::Accounts(accounts) => (&accounts.desk, &accounts.store),
            Self::Outside(outside) => (&outside.desk, &outside.store),
        };
        desk.budgets.take_key(user_id).inspect_err(|_| {
            let limited = ("keys", Subject::User(user_id.to_owned()));
            desk.record_limited(store, AccountAction::AddKey, limited, address);
        })
    }

    /// Makes a key for its user, and enters that in the audit log with their address, as far as it is recorded; none when they have too
    /// many.
    pub(crate) async fn make(
        &self,
        caller: &Caller,
        name: &str,
        scopes: &[Scope],
        days: u32,
        address: Option<&str>,
    ) -> Result<Option<NewKey>, StoreError> {
        match self {
            Self::Accounts(accounts) => accounts.make_key(&caller.user_id, name, scopes, days, address).await,
            Self::Outside(outside) => {
                let (kept, key) = keys::new(&caller.user_id, name, scopes, days);
                let entry = keys::entry(AccountAction::AddKey, &caller.user_id, &kept.id, address, Some(&kept));
                let is_made = outside.store.add_outside_key(outside.user(caller), kept, Some(entry)).await?;
                Ok(is_made.then_some(key))
            }
        }
    }

    /// A user's keys, the newest first.
    pub(crate) async fn of(&self, user_id: &str) -> Result<Vec<ApiKeyRow>, StoreError> {
        match self {
            Self::Accounts(accounts) => accounts.store.api_keys(user_id).await,
            Self::Outside(outside) => outside.store.outside_keys(user_id, outside.mode).await,
        }
    }

    /// Deletes a key of a user, and enters that in the audit log. False when it is unknown or someone else's.
    pub(crate) async fn delete(&self, user_id: &str, id: &str, address: Option<&str>) -> Result<bool, StoreError> {
        let entry = Some(keys::entry(AccountAction::DeleteKey, user_id, id, address, None));
        match self {
            Self::Accounts(accounts) => accounts.store.delete_api_key(user_id, id, entry).await,
            Self::Outside(outside) => outside.store.delete_outside_key(user_id, outside.mode, id, entry).await,
        }
    }
}

impl Authentication {
    /// Makes the keys of a user's programs follow him, who has come by himself. Not of a stream that goes on: it has only what he came
    /// with once.
    pub(super) async fn follow(&self, known: &Known) {
        let comes = known.via == Via::Whole && known.caller.is_authenticated && !self.is_local();
        let Some(outside) = self.outside.as_ref().filter(|_| comes) else { return };
        // What he asks for need not wait for his programs. The next time it is tried again.
        if let Err(error) = outside.follow(&known.caller).await {
            tracing::warn!(%error, "the keys of a user's programs could not be given his roles");
        }
    }

    /// The keys of users' programs, where there are users.
    pub(crate) fn keys(&self) -> Option<Keys> {
        let outside = self.outside.clone().map(Keys::Outside);
        outside.or_else(|| self.accounts().map(Keys::Accounts))
    }

    /// Who sent this. Who sends nothing that names him is a visitor.
    ///
    /// # Errors
    /// 400 for what is ambiguous, 401 for what names somebody and is not good, 403 for what he may not say, 503 when it cannot be
    /// known just now.
    pub(crate) async fn identify(&self, sent: &Credentials) -> Result<Known, UserError> {
        let Some(outside) = &self.outside else { return self.by_himself(sent).await };
        let key = match (sent.bearer()?.filter(|token| is_key(token)), sent.api_key()?.filter(|key| is_key(key))) {
            (Some(one), Some(other)) if one != other => return Err(two_users()),
            (one, other) => one.or(other),
        };
        let Some(key) = key else {
            return self.by_himself(sent).await;
        };
        let (user, scopes) = outside.key(key).await.map_err(of_store)?.ok_or_else(wrong_key)?;
        let user = if self.is_local() { local_owner() } else { user };
        let other = self.by_himself(sent).await?.caller;
        match other.is_authenticated && other.user_id != user.user_id {
            true => Err(two_users()),
            false => Ok(Known { via: Via::Key(scopes), ..known(user) }),
        }
    }
}
