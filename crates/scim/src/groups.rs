//! `/scim/v2/Groups`: groups of the directory. Their roles are given on this server, by administrators.

use crate::directory::{Directory, Scim};
use crate::error::ScimError;
use crate::filter;
use crate::group::{self, SentGroup};
use crate::patch;
use crate::queries;
use crate::reply::{Found, Made, list as list_reply};
use crate::request::{Body, ListQuery, OneQuery, page, projection};
use crate::users::entry;
use auth::password::credential_rules::name_key;
use auth::password::now_millis;
use axum::extract::{Path, State};
use axum::response::NoContent;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Group, GroupChange, GroupMember, GroupOutcome, MAX_GROUP_MEMBERS, MAX_GROUPS, MemberChange, NewGroup};
use uuid::Uuid;
use web::SentQuery;

/// The most groups of a page.
const MAX_LISTED: u32 = 100;
/// The most members of all groups of a page: it ends earlier if it would have more.
const MAX_MEMBERS_LISTED: usize = MAX_GROUP_MEMBERS;
/// How many members are read at once.
const MEMBERS_READ: u32 = 1_000;

/// `GET /scim/v2/Groups`
pub(crate) async fn list(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    query: SentQuery<ListQuery>,
) -> Result<Found, ScimError> {
    let page = page(query, MAX_LISTED)?;
    let mut found = scim.context.store.groups().await?;
    found.retain(|group| group.provisioned);
    if let Some(text) = &page.filter {
        let condition = filter::of_groups(&filter::parse(text)?)?;
        let mut groups_of = BTreeMap::new();
        for user_id in condition.members()? {
            let groups = scim.context.store.user_groups(&user_id).await?;
            groups_of.insert(user_id, groups.into_iter().map(|group| group.id).collect());
        }
        found.retain(|group| condition.matches(group, &groups_of));
    }
    let (total, has_members) = (found.len(), !page.projection.omits("members"));
    let (mut resources, mut count) = (Vec::new(), 0);
    for group in found.iter().skip(page.offset as usize).take(page.limit as usize) {
        let members = if has_members { Some(members(&scim, &group.id).await?) } else { None };
        count += members.as_ref().map_or(0, Vec::len);
        if count > MAX_MEMBERS_LISTED && !resources.is_empty() {
            break;
        }
        resources.push(group::resource(group, members.as_deref(), &directory.base));
    }
    Ok(list_reply(resources, page.start(), total, &page.projection))
}

/// `GET /scim/v2/Groups/{id}`
pub(crate) async fn show(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    Path(id): Path<String>,
    query: SentQuery<OneQuery>,
) -> Result<Found, ScimError> {
    let (group, projection) = (find(&scim, &id).await?, projection(query)?);
    let members = if projection.omits("members") { None } else { Some(members(&scim, &id).await?) };
    Ok(Found(projection.apply(group::resource(&group, members.as_deref(), &directory.base))))
}

/// `POST /scim/v2/Groups`
pub(crate) async fn add(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    Body(body): Body,
) -> Result<Made, ScimError> {
    let SentGroup { name: (name, name_key), external_id, members } = group::read(&body)?;
    let members = members.unwrap_or_default();
    check_members(&scim, &members).await?;
    let id = Uuid::now_v7().to_string();
    let about = json!({ "groupId": id, "after": { "name": name, "roles": [], "provisioned": true } });
    let new = NewGroup {
        id: id.clone(),
        name,
        name_key,
        description: String::new(),
        roles: Vec::new(),
        provisioned: true,
        external_id,
        members,
        now: now_millis(),
    };
    check(scim.context.store.add_group(new, entry("add_group", about)).await?)?;
    Ok(Made(whole(&scim, &directory, &id).await?))
}

/// `PUT /scim/v2/Groups/{id}`
pub(crate) async fn replace(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    Path(id): Path<String>,
    Body(body): Body,
) -> Result<Found, ScimError> {
    let before = find(&scim, &id).await?;
    let SentGroup { name, external_id, members } = group::read(&body)?;
    let change = GroupChange {
        name: Some(name),
        external_id: Some(external_id.unwrap_or_default()),
        members: vec![MemberChange::Replace(members.unwrap_or_default())],
        ..GroupChange::default()
    };
    update(&scim, &before, change).await?;
    Ok(Found(whole(&scim, &directory, &id).await?))
}

/// `PATCH /scim/v2/Groups/{id}`. The response has no body: the group may have many members.
pub(crate) async fn change(
    _: Directory,
    State(scim): State<Arc<Scim>>,
    Path(id): Path<String>,
    Body(body): Body,
) -> Result<NoContent, ScimError> {
    let (before, mut change) = (find(&scim, &id).await?, GroupChange::default());
    for operation in patch::operations(&body)? {
        group::apply(&mut change, &operation)?;
    }
    update(&scim, &before, change).await?;
    Ok(NoContent)
}

/// `DELETE /scim/v2/Groups/{id}`
pub(crate) async fn remove(
    _: Directory,
    State(scim): State<Arc<Scim>>,
    Path(id): Path<String>,
) -> Result<NoContent, ScimError> {
    let group = find(&scim, &id).await?;
    let about = json!({ "groupId": id, "before": { "name": group.name, "roles": group.roles } });
    if scim.context.store.delete_group(&id, entry("delete_group", about)).await? {
        Ok(NoContent)
    } else {
        Err(not_found())
    }
}

async fn find(scim: &Scim, id: &str) -> Result<Group, ScimError> {
    scim.context.store.group(id).await?.filter(|group| group.provisioned).ok_or_else(not_found)
}

async fn whole(scim: &Scim, directory: &Directory, id: &str) -> Result<Value, ScimError> {
    let group = find(scim, id).await?;
    Ok(group::resource(&group, Some(&members(scim, id).await?), &directory.base))
}

/// Returns the members of a group whom the directory manages.
async fn members(scim: &Scim, id: &str) -> Result<Vec<GroupMember>, ScimError> {
    let (mut members, mut after) = (Vec::new(), String::new());
    while members.len() < MAX_GROUP_MEMBERS {
        let found = scim.context.store.group_members(id, &after, MEMBERS_READ).await?;
        let Some(last) = found.last() else { break };
        after = name_key(&last.name);
        let is_end = found.len() < MEMBERS_READ as usize;
        members.extend(found.into_iter().filter(|member| member.provisioned));
        if is_end {
            break;
        }
    }
    Ok(members)
}

/// Changes a group, all or nothing.
async fn update(scim: &Scim, before: &Group, change: GroupChange) -> Result<(), ScimError> {
    for members in &change.members {
        if let MemberChange::Add(ids) | MemberChange::Replace(ids) = members {
            check_members(scim, ids).await?;
        }
    }
    let name = change.name.filter(|(name, _)| *name != before.name);
    let known_id = before.external_id.as_deref().unwrap_or_default();
    let external_id = change.external_id.filter(|id| id != known_id);
    let mut about = json!({ "groupId": before.id, "name": before.name });
    if let Some((name, _)) = &name {
        about["after"]["name"] = name.clone().into();
    }
    if let Some(id) = &external_id {
        about["before"]["externalId"] = before.external_id.clone().into();
        about["after"]["externalId"] = id.clone().into();
    }
    let change = GroupChange { name, external_id, ..change };
    check(scim.context.store.change_group(&before.id, change, now_millis(), entry("change_group", about)).await?)
}

/// Checks that the directory manages these users: it must not give rights to others.
async fn check_members(scim: &Scim, ids: &[String]) -> Result<(), ScimError> {
    if queries::has_unmanaged(&scim.context.store, ids.to_vec()).await? {
        Err(ScimError::value("One of `members` is no user of the directory on this server."))
    } else {
        Ok(())
    }
}

fn check(outcome: GroupOutcome) -> Result<(), ScimError> {
    match outcome {
        GroupOutcome::Done => Ok(()),
        GroupOutcome::Unknown => Err(not_found()),
        GroupOutcome::NameTaken => Err(ScimError::taken("There is a group with this `displayName` on the server.")),
        GroupOutcome::TooMany => Err(ScimError::conflict(format!("A server has at most {MAX_GROUPS} groups."))),
        GroupOutcome::TooManyMembers => {
            Err(ScimError::bad("tooMany", format!("A group has at most {MAX_GROUP_MEMBERS} members.")))
        }
        GroupOutcome::UnknownMember(_) => Err(ScimError::value("One of `members` is no user of this server.")),
    }
}

fn not_found() -> ScimError {
    ScimError::not_found("The directory manages no group with this id.")
}
