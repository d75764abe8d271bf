//! What administrators do with users, by a form or by a program. They change other users only: their own password they change
//! on the account page, and their rights are another administrator's to change.

use super::lists::{PAGE, filled, place};
use super::{Admin, of_store, roles};
use crate::auth::password::{Accounts, now, words};
use crate::router::AppState;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use store::{Added, NewUser, Place, UserChange, UserChanged, UserFilter, UserRow, UserSort};
use uuid::Uuid;
use wire::{ErrorCode, UserError};

/// Which users, in an address.
#[derive(Default, Deserialize)]
pub(crate) struct UserQuery {
    pub(super) text: Option<String>,
    pub(super) role: Option<String>,
    #[serde(default)]
    pub(super) state: StateQuery,
    #[serde(default)]
    pub(super) sort: SortQuery,
    pub(super) after: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StateQuery {
    #[default]
    All,
    Enabled,
    Disabled,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SortQuery {
    #[default]
    Name,
    Newest,
}

/// The users of this server.
pub(super) struct Users<'a> {
    state: &'a AppState,
    accounts: Arc<Accounts>,
    admin: &'a Admin,
}

impl<'a> Users<'a> {
    /// # Errors
    /// 404 where users are kept elsewhere.
    pub(super) fn of(state: &'a AppState, admin: &'a Admin) -> Result<Self, UserError> {
        let accounts = state.composition.current.authentication().accounts().ok_or_else(UserError::not_found)?;
        Ok(Self { state, accounts, admin })
    }

    pub(super) async fn list(&self, query: &UserQuery) -> Result<Vec<(UserRow, Place)>, UserError> {
        let filter = UserFilter {
            text: words::key(query.text.as_deref().unwrap_or_default()),
            role: filled(query.role.as_deref()),
            disabled: match query.state {
                StateQuery::All => None,
                StateQuery::Enabled => Some(false),
                StateQuery::Disabled => Some(true),
            },
            id: None,
        };
        let sort = if query.sort == SortQuery::Name { UserSort::Name } else { UserSort::Newest };
        let after = place(query.after.as_deref())?;
        self.accounts.store.users(filter, sort, PAGE + 1, after).await.map_err(of_store)
    }

    pub(super) async fn one(&self, id: &str) -> Result<UserRow, UserError> {
        let filter = UserFilter { id: Some(id.to_owned()), ..UserFilter::default() };
        let found = self.accounts.store.users(filter, UserSort::Name, 1, None).await.map_err(of_store)?;
        found.into_iter().next().map(|(user, _)| user).ok_or_else(UserError::not_found)
    }

    /// Adds a user; gives the id and the first password, which nobody can read again.
    ///
    /// # Errors
    /// 422 for the name or the roles, also when the name is taken or looks like another one.
    pub(super) async fn add(
        &self,
        name: &str,
        roles: Vec<String>,
        allow_unknown: bool,
    ) -> Result<(String, String), UserError> {
        let name = name.trim();
        if let Some(problem) = words::problem_of_name(name) {
            return Err(UserError::invalid("/name", problem));
        }
        roles::check(self.state, &roles, &[], allow_unknown)?;
        if self.accounts.has_lookalike(name).await.map_err(of_store)? {
            return Err(UserError::invalid("/name", words::TAKEN));
        }
        let (password, hash) = self.new_password().await?;
        let id = Uuid::now_v7().to_string();
        let user = NewUser {
            id: id.clone(),
            name: name.to_owned(),
            name_key: words::key(name),
            password: hash,
            roles: roles.clone(),
            now: now(),
        };
        let entry = self.admin.entry("add_user", "", json!({ "userId": id, "after": { "roles": roles } }));
        match self.accounts.store.add_user(user, false, Some(entry)).await.map_err(of_store)? {
            Added::Done => Ok((id, password)),
            Added::NameTaken | Added::NotTheFirst => Err(UserError::invalid("/name", words::TAKEN)),
        }
    }

    /// # Errors
    /// 422 for the roles, when nobody would be an administrator afterwards, and for one's own account; so for the others.
    pub(super) async fn set_roles(&self, id: &str, roles: Vec<String>, allow_unknown: bool) -> Result<(), UserError> {
        let before = self.one(id).await?.roles;
        roles::check(self.state, &roles, &before, allow_unknown)?;
        let about = json!({ "userId": id, "before": { "roles": before }, "after": { "roles": roles } });
        self.change(id, UserChange::Roles(roles), "set_roles", about).await
    }

    pub(super) async fn set_disabled(&self, id: &str, disabled: bool) -> Result<(), UserError> {
        let before = self.one(id).await?.disabled_at.is_some();
        let about = json!({ "userId": id, "before": { "disabled": before }, "after": { "disabled": disabled } });
        let what = if disabled { "disable_user" } else { "enable_user" };
        self.change(id, UserChange::Disabled(disabled.then(now)), what, about).await?;
        if disabled {
            self.state.composition.chat.stop_all_of(id);
        }
        Ok(())
    }

    pub(super) async fn end_sessions(&self, id: &str) -> Result<(), UserError> {
        self.change(id, UserChange::EndSessions, "end_sessions", json!({ "userId": id })).await
    }

    /// Replaces a user's password by one that nobody can read again, and ends all their sessions.
    pub(super) async fn reset_password(&self, id: &str) -> Result<String, UserError> {
        self.one(id).await?;
        let (password, hash) = self.new_password().await?;
        self.change(id, UserChange::Password(hash), "reset_password", json!({ "userId": id })).await?;
        Ok(password)
    }

    /// Deletes a user and everything they own.
    ///
    /// # Errors
    /// 422 when `name` is not theirs.
    pub(super) async fn delete(&self, id: &str, name: &str) -> Result<(), UserError> {
        let user = self.one(id).await?;
        if words::key(name) != words::key(&user.name) {
            return Err(UserError::invalid("/name", "This is not the user's name. Nothing was deleted."));
        }
        let about = json!({ "userId": id, "before": { "roles": user.roles } });
        self.change(id, UserChange::Delete, "delete_user", about).await?;
        self.state.composition.chat.begin_deletions(id);
        Ok(())
    }

    async fn change(&self, id: &str, change: UserChange, what: &str, about: Value) -> Result<(), UserError> {
        if id == self.admin.0.user_id {
            let text = "This is your own account. Another administrator can change it.";
            return Err(UserError::invalid("/id", text));
        }
        let entry = self.admin.entry(what, "", about);
        match self.accounts.store.change_user(id, change, now(), entry).await.map_err(of_store)? {
            UserChanged::Done => Ok(()),
            UserChanged::Unknown => Err(UserError::not_found()),
            UserChanged::LastAdmin => Err(UserError::invalid(
                "/id",
                "This is the last administrator. Make another user an administrator first.",
            )),
        }
    }

    async fn new_password(&self) -> Result<(String, String), UserError> {
        let busy =
            || UserError::new(ErrorCode::Unavailable, "Many users are signing in right now. Try again in a moment.");
        let password = words::random_password();
        let hash = self.accounts.desk.hasher.hash(password.clone()).await.map_err(|_| busy())?;
        let hash = hash.map_err(|error| {
            tracing::error!(%error, "a password could not be hashed");
            busy()
        })?;
        Ok((password, hash))
    }
}
