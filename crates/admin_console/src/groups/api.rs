//! The API for groups. The list is in `list`.

use super::GroupAdmin;
use crate::state::ConsoleState;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Group, GroupMember};
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::{ApiRouter, Created};
use web::{HttpError, SentJson, SentQuery, valid_json, valid_query};

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .post("/api/admin/groups", add, "Add a group of users")
        .get("/api/admin/groups/{id}", show, "Get a group")
        .patch("/api/admin/groups/{id}", change, "Change a group, its roles and its members")
        .delete("/api/admin/groups/{id}", remove, "Delete a group; its members lose its roles")
        .get("/api/admin/groups/{id}/members", members, "List the members of a group, by name")
}

/// The body that adds a group.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewGroupBody {
    /// The name, up to 200 characters.
    pub(super) name: String,
    /// The purpose of the group, up to 500 characters.
    #[serde(default)]
    pub(super) description: String,
    /// The roles of its members.
    #[serde(default)]
    pub(super) roles: Vec<String>,
    /// The users in it, by id.
    #[serde(default)]
    pub(super) members: Vec<String>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    pub(super) allow_unknown_roles: bool,
}

/// A new group.
#[derive(Serialize, JsonSchema)]
struct AddedGroup {
    /// The group's id.
    id: String,
}

/// `POST /api/admin/groups`
async fn add(
    admin: Admin,
    State(state): State<ConsoleState>,
    sent: SentJson<NewGroupBody>,
) -> Result<Created<AddedGroup>, HttpError> {
    let sent = valid_json(sent)?;
    Ok(Created(AddedGroup { id: GroupAdmin::new(&state, &admin)?.add(&sent).await? }))
}

/// `GET /api/admin/groups/{id}`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<Group>, HttpError> {
    Ok(Json(GroupAdmin::new(&state, &admin)?.get(&id).await?))
}

/// The body that changes a group. Absent properties stay as they are.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupChangeBody {
    /// The new name.
    pub(super) name: Option<String>,
    /// The purpose of the group.
    pub(super) description: Option<String>,
    /// The new roles of its members.
    pub(super) roles: Option<Vec<String>>,
    /// Whether a directory sets the name and the members over SCIM.
    pub(super) provisioned: Option<bool>,
    /// Users to add, by id.
    #[serde(default, rename = "addMembers")]
    pub(super) add_members: Vec<String>,
    /// Users to remove, by id.
    #[serde(default, rename = "removeMembers")]
    pub(super) remove_members: Vec<String>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    pub(super) allow_unknown_roles: bool,
}

/// `PATCH /api/admin/groups/{id}`
async fn change(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    sent: SentJson<GroupChangeBody>,
) -> Result<Json<Group>, HttpError> {
    let sent = valid_json(sent)?;
    let groups = GroupAdmin::new(&state, &admin)?;
    groups.change(&id, &sent).await?;
    Ok(Json(groups.get(&id).await?))
}

/// `DELETE /api/admin/groups/{id}`
async fn remove(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    GroupAdmin::new(&state, &admin)?.delete(&id).await?;
    Ok(NoContent)
}

/// The query of the members.
#[derive(Deserialize, JsonSchema)]
struct MembersQuery {
    /// `next` of the previous page.
    #[serde(default)]
    after: String,
}

/// Members of a group.
#[derive(Serialize, JsonSchema)]
struct GroupMembers {
    /// The members, by name.
    items: Vec<GroupMember>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// `GET /api/admin/groups/{id}/members`
async fn members(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    query: SentQuery<MembersQuery>,
) -> Result<Json<GroupMembers>, HttpError> {
    let groups = GroupAdmin::new(&state, &admin)?;
    groups.get(&id).await?;
    let (items, next) = groups.members(&id, &valid_query(query)?.after).await?;
    Ok(Json(GroupMembers { items, next }))
}
