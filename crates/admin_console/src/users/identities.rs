//! The company accounts of a user: an administrator sees which roles they give, and unlinks those that are not
//! the user's.

use super::UserAdmin;
use crate::state::ConsoleState;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use store::{Identity, UnlinkOutcome};
use web::HttpError;
use web::admin::{ADMINISTRATION, Admin, from_store_error};
use web::html::row_button_with;
use web::openapi::ApiRouter;
use web::times::{day, minute};
use wire::UserError;

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/users/{id}/identities", list, "List the company accounts of a user")
        .delete("/api/admin/users/{id}/identities/{identity}", unlink, "Unlink a company account of a user")
}

/// A company account of a user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct IdentityItem {
    /// Its id.
    id: String,
    /// The issuer of the provider.
    issuer: String,
    /// The name at the provider.
    label: String,
    /// The roles that the last sign-in gave; they count in sessions that begin with this account.
    roles: Vec<String>,
    /// When it was linked; Unix time, milliseconds.
    created_at: i64,
    /// When it was last used to sign in; Unix time, milliseconds.
    used_at: i64,
}

/// The company accounts of a user.
#[derive(Serialize, JsonSchema)]
struct IdentityItems {
    /// The oldest first.
    items: Vec<IdentityItem>,
}

/// `GET /api/admin/users/{id}/identities`
async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<IdentityItems>, HttpError> {
    let item = |Identity { id, issuer, label, roles, created_at, used_at, .. }| IdentityItem {
        id,
        issuer,
        label,
        roles,
        created_at,
        used_at,
    };
    let users = UserAdmin::new(&state, &admin)?;
    users.get(&id).await?;
    let found = users.identities(&id).await?;
    Ok(Json(IdentityItems { items: found.into_iter().map(item).collect() }))
}

/// `DELETE /api/admin/users/{id}/identities/{identity}`
async fn unlink(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((id, identity)): Path<(String, String)>,
) -> Result<NoContent, HttpError> {
    UserAdmin::new(&state, &admin)?.unlink_identity(&id, &identity).await?;
    Ok(NoContent)
}

impl UserAdmin<'_> {
    /// Returns the company accounts of a user, oldest first; none for an unknown user.
    pub(super) async fn identities(&self, id: &str) -> Result<Vec<Identity>, UserError> {
        self.accounts.store.identities(id).await.map_err(from_store_error)
    }

    /// Unlinks a company account, even if the user has no other way to sign in, and ends the sessions that were
    /// begun with it.
    ///
    /// # Errors
    /// 404 if the user has no such account, 422 for the administrator's own account.
    pub(super) async fn unlink_identity(&self, id: &str, identity_id: &str) -> Result<(), UserError> {
        self.check_other(id)?;
        let known = self.identities(id).await?.into_iter().find(|known| known.id == identity_id);
        let identity = known.ok_or_else(UserError::not_found)?;
        let about = json!({ "userId": id, "issuer": identity.issuer, "label": identity.label });
        let entry = self.admin.audit_entry("unlink_identity", "", about);
        match self.accounts.store.unlink_identity(id, identity_id, None, Some(entry)).await.map_err(from_store_error)? {
            UnlinkOutcome::Done => Ok(()),
            UnlinkOutcome::Unknown | UnlinkOutcome::LastWay => Err(UserError::not_found()),
        }
    }
}

/// Renders the company accounts of a user, with a button that unlinks each if `can_unlink`.
pub(super) fn identities_view(
    user_id: &str,
    identities: Vec<Identity>,
    can_unlink: bool,
) -> Option<impl IntoView + use<>> {
    if identities.is_empty() {
        return None;
    }
    let path = format!("/admin/users/{user_id}/unlink");
    let line = move |identity: Identity| {
        let roles = match identity.roles.as_slice() {
            [] => "no roles".to_owned(),
            roles => format!("gives {} in its sessions", roles.join(", ")),
        };
        let (linked, used) = (day(identity.created_at), minute(identity.used_at));
        let about = format!("{}; {roles}; linked on {linked}, last used {used} UTC", identity.issuer);
        let button = can_unlink.then(|| {
            let label = format!("Unlink {}", identity.label);
            row_button_with([("identity", identity.id)], path.clone(), "Unlink", label)
        });
        view! {
            <li class="cw-account-line">
                <div>
                    <strong>{identity.label}</strong>
                    <p class="cw-account-note">{about}</p>
                </div>
                {button}
            </li>
        }
    };
    Some(view! {
        <section class="cw-account-part" aria-labelledby="identities">
            <h2 id="identities">"Company accounts"</h2>
            <p class="cw-account-note">
                "A new password and signing out everywhere do not unlink them. Unlinking one ends the sessions that began with it."
            </p>
            <ul class="cw-account-list">{identities.into_iter().map(line).collect_view()}</ul>
        </section>
    })
}
