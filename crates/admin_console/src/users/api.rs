//! The API for users. The list is in `list`.

use super::UserAdmin;
use crate::state::ConsoleState;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::UserRow;
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::{Accepted, ApiRouter, Created};
use web::{HttpError, SentJson, SentQuery, valid_json, valid_query};

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .post("/api/admin/users", add, "Add a user")
        .get("/api/admin/users/{id}", show, "Get a user")
        .patch("/api/admin/users/{id}", change, "Change a user's roles, or disable them")
        .delete("/api/admin/users/{id}", remove, "Delete a user and everything they own, in the background")
        .post("/api/admin/users/{id}/password", reset_password, "Reset a user's password")
        .delete(
            "/api/admin/users/{id}/second-factor",
            reset_second_factor,
            "Remove a user's authenticator app and recovery codes, and sign them out everywhere",
        )
        .delete("/api/admin/users/{id}/sessions", end_sessions, "Sign a user out everywhere")
}

/// The body that adds a user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUserBody {
    /// The name for signing in.
    pub(super) name: String,
    /// The roles.
    #[serde(default)]
    pub(super) roles: Vec<String>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    pub(super) allow_unknown_roles: bool,
}

/// A new user.
#[derive(Serialize, JsonSchema)]
struct AddedUser {
    /// The user's id.
    id: String,
    /// The password, which is shown only once.
    password: String,
}

/// `POST /api/admin/users`
async fn add(
    admin: Admin,
    State(state): State<ConsoleState>,
    sent: SentJson<NewUserBody>,
) -> Result<Created<AddedUser>, HttpError> {
    let sent = valid_json(sent)?;
    let (id, password) = UserAdmin::new(&state, &admin)?.add(&sent).await?;
    Ok(Created(AddedUser { id, password }))
}

/// `GET /api/admin/users/{id}`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<UserRow>, HttpError> {
    Ok(Json(UserAdmin::new(&state, &admin)?.get(&id).await?))
}

/// The body that changes a user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UserChangeBody {
    /// The new roles; absent to keep them.
    roles: Option<Vec<String>>,
    /// Whether the user may not sign in; absent to keep it.
    disabled: Option<bool>,
    /// Whether a directory manages the user over SCIM; absent to keep it.
    provisioned: Option<bool>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    allow_unknown_roles: bool,
}

/// `PATCH /api/admin/users/{id}`
async fn change(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    sent: SentJson<UserChangeBody>,
) -> Result<Json<UserRow>, HttpError> {
    let sent = valid_json(sent)?;
    let users = UserAdmin::new(&state, &admin)?;
    if let Some(roles) = sent.roles {
        users.set_roles(&id, roles, sent.allow_unknown_roles).await?;
    }
    if let Some(disabled) = sent.disabled {
        users.set_disabled(&id, disabled).await?;
    }
    if let Some(provisioned) = sent.provisioned {
        users.set_provisioned(&id, provisioned).await?;
    }
    Ok(Json(users.get(&id).await?))
}

/// A new password.
#[derive(Serialize, JsonSchema)]
struct NewPassword {
    /// The password, which is shown only once.
    password: String,
}

/// `POST /api/admin/users/{id}/password`
async fn reset_password(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<NewPassword>, HttpError> {
    Ok(Json(NewPassword { password: UserAdmin::new(&state, &admin)?.reset_password(&id).await? }))
}

/// `DELETE /api/admin/users/{id}/second-factor`
async fn reset_second_factor(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    UserAdmin::new(&state, &admin)?.reset_second_factor(&id).await?;
    Ok(NoContent)
}

/// `DELETE /api/admin/users/{id}/sessions`
async fn end_sessions(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    UserAdmin::new(&state, &admin)?.end_sessions(&id).await?;
    Ok(NoContent)
}

/// The query of a deletion: the name of the user, as a confirmation.
#[derive(Deserialize, JsonSchema)]
struct DeleteQuery {
    /// The user's name, as a confirmation.
    #[serde(default)]
    name: String,
}

/// `DELETE /api/admin/users/{id}?name=…`
async fn remove(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    query: SentQuery<DeleteQuery>,
) -> Result<Accepted, HttpError> {
    UserAdmin::new(&state, &admin)?.delete(&id, &valid_query(query)?.name).await?;
    Ok(Accepted)
}
