//! Administration of users, with forms or with the API. Administrators can change only other users:
//! they change their own password on the account page, and only another administrator can change
//! their roles.

pub(crate) mod list_page;
pub(crate) mod names;
pub(crate) mod page;
pub(crate) mod roles;

use crate::state::ConsoleState;
use auth::password::{Accounts, credential_rules, now_millis};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use store::{AddUserOutcome, ChangeUserOutcome, ListCursor, NewUser, UserChange, UserFilter, UserRow, UserSort};
use uuid::Uuid;
use web::admin::lists::{PAGE_SIZE, non_empty, parse_cursor};
use web::admin::{Admin, from_store_error};
use wire::{ErrorCode, UserError};

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct UserQuery {
    /// Part of the name.
    pub(crate) text: Option<String>,
    /// Only users with this role.
    pub(crate) role: Option<String>,
    /// `all`, `enabled` or `disabled`.
    #[serde(default)]
    pub(crate) state: UserStateQuery,
    /// `name` or `newest`.
    #[serde(default)]
    pub(crate) sort: UserSortQuery,
    /// `next` of the previous page.
    pub(crate) after: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UserStateQuery {
    #[default]
    All,
    Enabled,
    Disabled,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UserSortQuery {
    #[default]
    Name,
    Newest,
}

/// Operations of an administrator on the users of this server.
pub(crate) struct UserAdmin<'a> {
    state: &'a ConsoleState,
    accounts: Arc<Accounts>,
    admin: &'a Admin,
}

impl<'a> UserAdmin<'a> {
    /// Creates the operations.
    ///
    /// # Errors
    /// 404 if this server does not manage users.
    pub(crate) fn new(state: &'a ConsoleState, admin: &'a Admin) -> Result<Self, UserError> {
        let accounts = state.host.authentication().accounts().ok_or_else(UserError::not_found)?;
        Ok(Self { state, accounts, admin })
    }

    pub(crate) async fn list(&self, query: &UserQuery) -> Result<Vec<(UserRow, ListCursor)>, UserError> {
        let filter = UserFilter {
            text: credential_rules::name_key(query.text.as_deref().unwrap_or_default()),
            role: non_empty(query.role.as_deref()),
            disabled: match query.state {
                UserStateQuery::All => None,
                UserStateQuery::Enabled => Some(false),
                UserStateQuery::Disabled => Some(true),
            },
            id: None,
        };
        let sort = if query.sort == UserSortQuery::Name { UserSort::Name } else { UserSort::Newest };
        let after = parse_cursor(query.after.as_deref())?;
        self.accounts.store.users(filter, sort, PAGE_SIZE + 1, after).await.map_err(from_store_error)
    }

    pub(crate) async fn get(&self, id: &str) -> Result<UserRow, UserError> {
        let filter = UserFilter { id: Some(id.to_owned()), ..UserFilter::default() };
        let found = self.accounts.store.users(filter, UserSort::Name, 1, None).await.map_err(from_store_error)?;
        found.into_iter().next().map(|(user, _)| user).ok_or_else(UserError::not_found)
    }

    /// Adds a user. Returns the id and the first password, which cannot be read again.
    ///
    /// # Errors
    /// 422 for an invalid name or role, and for a name that is taken or looks like another one.
    pub(crate) async fn add(
        &self,
        name: &str,
        roles: Vec<String>,
        allow_unknown: bool,
    ) -> Result<(String, String), UserError> {
        let name = name.trim();
        if let Some(problem) = credential_rules::name_problem(name) {
            return Err(UserError::invalid("/name", problem));
        }
        roles::check_roles(self.state, &roles, &[], allow_unknown)?;
        if self.accounts.has_lookalike(name).await.map_err(from_store_error)? {
            return Err(UserError::invalid("/name", credential_rules::NAME_TAKEN));
        }
        let (password, hash) = self.new_password().await?;
        let id = Uuid::now_v7().to_string();
        let user = NewUser {
            id: id.clone(),
            name: name.to_owned(),
            name_key: credential_rules::name_key(name),
            password: hash,
            roles: roles.clone(),
            now: now_millis(),
        };
        let entry = self.admin.audit_entry("add_user", "", json!({ "userId": id, "after": { "roles": roles } }));
        match self.accounts.store.add_user(user, false, Some(entry)).await.map_err(from_store_error)? {
            AddUserOutcome::Done => Ok((id, password)),
            AddUserOutcome::NameTaken | AddUserOutcome::NotTheFirst => {
                Err(UserError::invalid("/name", credential_rules::NAME_TAKEN))
            }
        }
    }

    /// Sets a user's roles.
    ///
    /// # Errors
    /// 422 for invalid roles, if no administrator would be left, and for the administrator's own
    /// account. The other changes fail in the same cases.
    pub(crate) async fn set_roles(&self, id: &str, roles: Vec<String>, allow_unknown: bool) -> Result<(), UserError> {
        let before = self.get(id).await?.roles;
        roles::check_roles(self.state, &roles, &before, allow_unknown)?;
        let about = json!({ "userId": id, "before": { "roles": before }, "after": { "roles": roles } });
        self.change(id, UserChange::Roles(roles), "set_roles", about).await
    }

    pub(crate) async fn set_disabled(&self, id: &str, disabled: bool) -> Result<(), UserError> {
        let before = self.get(id).await?.disabled_at.is_some();
        let about = json!({ "userId": id, "before": { "disabled": before }, "after": { "disabled": disabled } });
        let what = if disabled { "disable_user" } else { "enable_user" };
        self.change(id, UserChange::Disabled(disabled.then(now_millis)), what, about).await?;
        if disabled {
            self.state.chat.stop_user_runs(id);
        }
        Ok(())
    }

    pub(crate) async fn end_sessions(&self, id: &str) -> Result<(), UserError> {
        self.change(id, UserChange::EndSessions, "end_sessions", json!({ "userId": id })).await
    }

    /// Replaces a user's password by a new one, which cannot be read again, and ends all their
    /// sessions.
    pub(crate) async fn reset_password(&self, id: &str) -> Result<String, UserError> {
        self.get(id).await?;
        let (password, hash) = self.new_password().await?;
        self.change(id, UserChange::Password(hash), "reset_password", json!({ "userId": id })).await?;
        Ok(password)
    }

    /// Deletes a user and everything they own.
    ///
    /// # Errors
    /// 422 if `name` is not the user's name.
    pub(crate) async fn delete(&self, id: &str, name: &str) -> Result<(), UserError> {
        let user = self.get(id).await?;
        if credential_rules::name_key(name) != credential_rules::name_key(&user.name) {
            return Err(UserError::invalid("/name", "This is not the user's name. Nothing was deleted."));
        }
        let about = json!({ "userId": id, "before": { "roles": user.roles } });
        self.change(id, UserChange::Delete, "delete_user", about).await?;
        self.state.chat.begin_deletions(id);
        Ok(())
    }

    async fn change(&self, id: &str, change: UserChange, what: &str, about: Value) -> Result<(), UserError> {
        if id == self.admin.caller.user_id {
            let text = "This is your own account. Another administrator can change it.";
            return Err(UserError::invalid("/id", text));
        }
        let entry = self.admin.audit_entry(what, "", about);
        match self.accounts.store.change_user(id, change, now_millis(), entry).await.map_err(from_store_error)? {
            ChangeUserOutcome::Done => Ok(()),
            ChangeUserOutcome::Unknown => Err(UserError::not_found()),
            ChangeUserOutcome::LastAdmin => Err(UserError::invalid(
                "/id",
                "This is the last administrator. Make another user an administrator first.",
            )),
        }
    }

    async fn new_password(&self) -> Result<(String, String), UserError> {
        let busy =
            || UserError::new(ErrorCode::Unavailable, "Many users are signing in right now. Try again in a moment.");
        let password = credential_rules::random_password();
        let hash = self.accounts.sign_in.hasher.hash(password.clone()).await.map_err(|_| busy())?;
        let hash = hash.map_err(|error| {
            tracing::error!(%error, "a password could not be hashed");
            busy()
        })?;
        Ok((password, hash))
    }
}
