//! The members of a project.

use super::{Service, audit, new_id, owner_only};
use crate::project::Role;
use crate::store::{self, AddMember, AddOutcome, RemoveOutcome};
use auth::password::credential_rules::name_key;
use chat::Caller;
use serde_json::json;
use web::admin::from_store_error;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// Adds a user by their name to a project that the caller owns, and returns their id.
///
/// # Errors
/// 401 for visitors, 404 for an unknown project, 403 if another user owns it, 422 for a user who
/// cannot be added.
pub(crate) async fn add_member(
    service: &Service,
    caller: &Caller,
    id: &str,
    name: &str,
    role: Role,
) -> Result<String, UserError> {
    owned(service, caller, id).await?;
    if role == Role::Owner {
        return Err(UserError::invalid("/role", "A project has one owner. Choose `viewer` or `editor`."));
    }
    let found = service.store().user_by_name(&name_key(name)).await.map_err(from_store_error)?;
    let Some((user, _)) = found.filter(|(user, _)| user.disabled_at.is_none()) else {
        return Err(UserError::invalid("/name", "There is no user with this name."));
    };
    let most = service.section()?.members;
    let about = json!({ "userId": user.id, "role": role });
    let audit = audit(&caller.user_id, "add_member", id, about);
    let add = AddMember {
        project_id: id.to_owned(),
        owner: caller.user_id.clone(),
        user_id: user.id.clone(),
        role,
        folder_id: new_id(),
        most,
        now: now_millis(),
    };
    let refused = |message: String| Err(UserError::invalid("/name", message));
    match store::add_member(service.store(), add, audit).await.map_err(from_store_error)? {
        AddOutcome::Added => Ok(user.id),
        AddOutcome::Known => refused("This user is in the project already.".to_owned()),
        AddOutcome::Full => refused(format!("The project has {most} users, which is the maximum.")),
        AddOutcome::TooMany => refused("This user is in too many projects.".to_owned()),
        AddOutcome::Unknown => Err(UserError::not_found()),
    }
}

/// Gives a user of a project that the caller owns another role.
///
/// # Errors
/// 401 for visitors, 404 for an unknown project or user, 403 if another user owns it, 422 for the
/// role `owner`.
pub(crate) async fn change_role(
    service: &Service,
    caller: &Caller,
    id: &str,
    user_id: &str,
    role: Role,
) -> Result<(), UserError> {
    owned(service, caller, id).await?;
    if role == Role::Owner {
        return Err(UserError::invalid("/role", "A project has one owner. Choose `viewer` or `editor`."));
    }
    let audit = audit(&caller.user_id, "change_member", id, json!({ "userId": user_id, "role": role }));
    let change = store::change_role(service.store(), &caller.user_id, (id, user_id), role, audit);
    if change.await.map_err(from_store_error)? { Ok(()) } else { Err(UserError::not_found()) }
}

/// Removes a user from a project: its owner removes others, and everybody else themselves.
///
/// # Errors
/// 401 for visitors, 404 for an unknown project or user, 403 if the caller may not remove them, 409
/// for the owner.
pub(crate) async fn remove_member(
    service: &Service,
    caller: &Caller,
    id: &str,
    user_id: &str,
) -> Result<(), UserError> {
    let known = service.project(caller, id).await?;
    if user_id != caller.user_id && known.role != Role::Owner {
        return Err(owner_only("remove others"));
    }
    let audit = audit(&caller.user_id, "remove_member", id, json!({ "userId": user_id }));
    let remove =
        store::remove_member(service.store(), service.projects.libraries(), &caller.user_id, (id, user_id), audit);
    match remove.await.map_err(from_store_error)? {
        RemoveOutcome::Removed => Ok(()),
        RemoveOutcome::Unknown => Err(UserError::not_found()),
        RemoveOutcome::IsOwner => {
            let message = "The owner cannot leave the project. Delete it instead.";
            Err(UserError::new(ErrorCode::Conflict, message))
        }
    }
}

async fn owned(service: &Service, caller: &Caller, id: &str) -> Result<(), UserError> {
    match service.project(caller, id).await?.role {
        Role::Owner => Ok(()),
        Role::Viewer | Role::Editor => Err(owner_only("manage its members")),
    }
}
