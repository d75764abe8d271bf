//! Administration of users, with forms or with the API. Administrators can change only other users:
//! they change their own password on the account page, and only another administrator can change
//! their roles.

mod api;
mod identities;
mod import;
mod invitations;
mod list;
mod page;
mod roles;

pub(crate) use roles::{
    check_roles, config_roles, fields as role_fields, is_unknown_role, parse_role_fields, roles_text,
};

use crate::state::ConsoleState;
use api::NewUserBody;
use auth::password::{Accounts, credential_rules, now_millis};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use store::{
    AddUserOutcome, ChangeUserOutcome, NewUser, ScimProfile, ScimUserOutcome, UserChange, UserFilter, UserRow, UserSort,
};
use uuid::Uuid;
use web::admin::{Admin, from_store_error};
use web::openapi::ApiRouter;
use wire::{ErrorCode, UserError};

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    list::routes()
        .merge(api::routes())
        .merge(identities::routes())
        .merge(import::routes())
        .merge(invitations::routes())
        .with_pages(page::routes())
}

/// Returns the accounts of this server.
///
/// # Errors
/// 404 if this server does not manage users.
pub(crate) fn accounts(state: &ConsoleState) -> Result<Arc<Accounts>, UserError> {
    state.host.authentication().accounts().ok_or_else(UserError::not_found)
}

/// Returns the value of a field of a form; `None` if the form lacks it.
pub(crate) fn sent_field<'f>(form: &'f [(String, String)], name: &str) -> Option<&'f str> {
    form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
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
        Ok(Self { state, accounts: accounts(state)?, admin })
    }

    pub(crate) async fn get(&self, id: &str) -> Result<UserRow, UserError> {
        let filter = UserFilter { id: Some(id.to_owned()), ..UserFilter::default() };
        let found = self.accounts.store.users(filter, UserSort::Name, 1, None).await.map_err(from_store_error)?;
        found.into_iter().next().map(|(user, _)| user).ok_or_else(UserError::not_found)
    }

    /// Adds a user. Returns the id and the first password, which cannot be read again, and which the user replaces
    /// before they are signed in.
    ///
    /// # Errors
    /// 422 for an invalid name or role, and for a name that is taken or looks like another one.
    async fn add(&self, sent: &NewUserBody) -> Result<(String, String), UserError> {
        let (name, roles) = (sent.name.trim(), &sent.roles);
        self.check_passwords()?;
        if let Some(problem) = credential_rules::name_problem(name) {
            return Err(UserError::invalid("/name", problem));
        }
        check_roles(self.state, roles, &[], sent.allow_unknown_roles)?;
        let (password, hash) = self.new_password().await?;
        let mut names = self.accounts.new_names().await.map_err(from_store_error)?;
        if names.has_lookalike(name).await.map_err(from_store_error)? {
            return Err(UserError::invalid("/name", credential_rules::NAME_TAKEN));
        }
        let id = Uuid::now_v7().to_string();
        let user = NewUser {
            id: id.clone(),
            name: name.to_owned(),
            name_key: credential_rules::name_key(name),
            password: hash,
            must_change_password: true,
            roles: roles.clone(),
            now: now_millis(),
        };
        let entry = self.admin.audit_entry("add_user", "", json!({ "userId": id, "after": { "roles": roles } }));
        match self.accounts.store.add_user(user, false, Some(entry)).await.map_err(from_store_error)? {
            AddUserOutcome::Done => Ok((id, password)),
            AddUserOutcome::NameTaken
            | AddUserOutcome::NotTheFirst
            | AddUserOutcome::IdentityTaken
            | AddUserOutcome::NotInvited => Err(UserError::invalid("/name", credential_rules::NAME_TAKEN)),
        }
    }

    /// Sets a user's roles.
    ///
    /// # Errors
    /// 422 for invalid roles, if no administrator would be left, and for the administrator's own
    /// account. The other changes fail in the same cases.
    async fn set_roles(&self, id: &str, roles: Vec<String>, allow_unknown: bool) -> Result<(), UserError> {
        let before = self.get(id).await?.roles;
        check_roles(self.state, &roles, &before, allow_unknown)?;
        let about = json!({ "userId": id, "before": { "roles": before }, "after": { "roles": roles } });
        self.change(id, UserChange::Roles(roles), "set_roles", about).await
    }

    async fn set_disabled(&self, id: &str, disabled: bool) -> Result<(), UserError> {
        let before = self.get(id).await?.disabled_at.is_some();
        let about = json!({ "userId": id, "before": { "disabled": before }, "after": { "disabled": disabled } });
        let what = if disabled { "disable_user" } else { "enable_user" };
        self.change(id, UserChange::Disabled(disabled.then(now_millis)), what, about).await?;
        if disabled {
            self.state.chat.stop_user_runs(id);
        }
        Ok(())
    }

    /// Lets a directory manage the user over SCIM, who finds them by their name, or ends that.
    async fn set_provisioned(&self, id: &str, provisioned: bool) -> Result<(), UserError> {
        self.check_other(id)?;
        let user = self.get(id).await?;
        if user.provisioned == provisioned {
            return Ok(());
        }
        let about =
            json!({ "userId": id, "before": { "provisioned": !provisioned }, "after": { "provisioned": provisioned } });
        let entry = self.admin.audit_entry("set_provisioned", "", about);
        if !provisioned {
            self.accounts.store.release_user(id, entry).await.map_err(from_store_error)?;
            return Ok(());
        }
        let profile = ScimProfile {
            user_name_key: credential_rules::name_key(&user.name),
            user_name: user.name,
            external_id: None,
            display_name: None,
            attributes: Map::new(),
        };
        match self.accounts.store.provision_user(id, profile, now_millis(), entry).await.map_err(from_store_error)? {
            ScimUserOutcome::Done => Ok(()),
            ScimUserOutcome::UserNameTaken | ScimUserOutcome::ExternalIdTaken => {
                Err(UserError::invalid("/id", "The directory manages another user with this name."))
            }
            ScimUserOutcome::Unknown | ScimUserOutcome::NameTaken | ScimUserOutcome::LastAdmin => {
                Err(UserError::not_found())
            }
        }
    }

    async fn end_sessions(&self, id: &str) -> Result<(), UserError> {
        self.change(id, UserChange::EndSessions, "end_sessions", json!({ "userId": id })).await
    }

    /// Replaces a user's password by a new one, which cannot be read again and which the user replaces before they
    /// are signed in, and ends all their sessions.
    async fn reset_password(&self, id: &str) -> Result<String, UserError> {
        self.check_passwords()?;
        self.get(id).await?;
        let (password, hash) = self.new_password().await?;
        self.change(id, UserChange::Password(hash), "reset_password", json!({ "userId": id })).await?;
        Ok(password)
    }

    /// Removes a user's authenticator app and recovery codes, and ends all their sessions.
    async fn reset_second_factor(&self, id: &str) -> Result<(), UserError> {
        self.change(id, UserChange::ResetSecondFactor, "reset_second_factor", json!({ "userId": id })).await
    }

    /// Deletes a user and everything they own.
    ///
    /// # Errors
    /// 422 if `name` is not the user's name.
    async fn delete(&self, id: &str, name: &str) -> Result<(), UserError> {
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
        self.check_other(id)?;
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

    /// Checks that a user is not the administrator.
    ///
    /// # Errors
    /// 422 if they are.
    pub(crate) fn check_other(&self, id: &str) -> Result<(), UserError> {
        let text = "This is your own account. Another administrator can change it.";
        if id == self.admin.caller.user_id { Err(UserError::invalid("/id", text)) } else { Ok(()) }
    }

    /// Checks that users can sign in with a password.
    ///
    /// # Errors
    /// 422 if they cannot.
    fn check_passwords(&self) -> Result<(), UserError> {
        let text = "Nobody has a password on this server: users sign in with their company account.";
        if self.accounts.settings.passwords { Ok(()) } else { Err(UserError::invalid("/", text)) }
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
