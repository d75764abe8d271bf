//! `/scim/v2/Users`: users of the directory.

use crate::directory::{Directory, Scim};
use crate::error::ScimError;
use crate::filter;
use crate::patch;
use crate::queries::{self, UserFilter};
use crate::reply::{Found, Made, list as list_reply};
use crate::request::{Body, ListQuery, OneQuery, page, projection};
use crate::user::{self, SentUser};
use auth::audit_row;
use auth::groups::SCIM_USER;
use auth::password::credential_rules::{NAME_TAKEN, account_name, name_key};
use auth::password::{NewNames, now_millis};
use axum::extract::{Path, State};
use axum::response::NoContent;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use store::{
    AuditEntry, ChangeUserOutcome, MAX_SCIM_USERS_LISTED, NewUser, ScimUser, ScimUserChange, ScimUserOutcome, User,
    UserChange,
};
use uuid::Uuid;
use web::SentQuery;

/// `GET /scim/v2/Users`
pub(crate) async fn list(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    query: SentQuery<ListQuery>,
) -> Result<Found, ScimError> {
    let page = page(query, MAX_SCIM_USERS_LISTED)?;
    let condition = match &page.filter {
        Some(text) => filter::of_users(&filter::parse(text)?)?,
        None => UserFilter::All(Vec::new()),
    };
    let (found, total) = queries::users(&scim.context.store, &condition, page.offset, page.limit).await?;
    let groups = if page.projection.omits("groups") {
        HashMap::new()
    } else {
        queries::groups_of(&scim.context.store, found.iter().map(|user| user.id.clone()).collect()).await?
    };
    let resource = |user: &ScimUser| {
        let groups = groups.get(&user.id).map(Vec::as_slice).unwrap_or_default();
        user::resource(user, groups, &directory.base)
    };
    let resources = found.iter().map(resource).collect();
    Ok(list_reply(resources, page.start(), usize::try_from(total).unwrap_or_default(), &page.projection))
}

/// `GET /scim/v2/Users/{id}`
pub(crate) async fn show(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    Path(id): Path<String>,
    query: SentQuery<OneQuery>,
) -> Result<Found, ScimError> {
    let projection = projection(query)?;
    Ok(Found(projection.apply(resource(&scim, &directory, &id).await?)))
}

/// `POST /scim/v2/Users`
pub(crate) async fn add(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    Body(body): Body,
) -> Result<Made, ScimError> {
    let sent = user::read(&body)?;
    let id = match known_user(&scim, &directory, &sent).await? {
        Some(known) => {
            adopt(&scim, &known, sent).await?;
            known.id
        }
        None => create(&scim, &directory, sent).await?,
    };
    Ok(Made(resource(&scim, &directory, &id).await?))
}

/// `PUT /scim/v2/Users/{id}`
pub(crate) async fn replace(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    Path(id): Path<String>,
    Body(body): Body,
) -> Result<Found, ScimError> {
    let before = find(&scim, &id).await?;
    update(&scim, &before, user::read(&body)?).await?;
    Ok(Found(resource(&scim, &directory, &id).await?))
}

/// `PATCH /scim/v2/Users/{id}`
pub(crate) async fn change(
    directory: Directory,
    State(scim): State<Arc<Scim>>,
    Path(id): Path<String>,
    query: SentQuery<OneQuery>,
    Body(body): Body,
) -> Result<Found, ScimError> {
    let (before, projection) = (find(&scim, &id).await?, projection(query)?);
    let mut document = user::document(&before);
    for operation in patch::operations(&body)? {
        patch::apply(&mut document, &operation)?;
    }
    update(&scim, &before, user::read(&document)?).await?;
    Ok(Found(projection.apply(resource(&scim, &directory, &id).await?)))
}

/// `DELETE /scim/v2/Users/{id}`
pub(crate) async fn remove(
    _: Directory,
    State(scim): State<Arc<Scim>>,
    Path(id): Path<String>,
) -> Result<NoContent, ScimError> {
    let user = find(&scim, &id).await?;
    let entry = entry("delete_user", json!({ "userId": id, "before": { "userName": user.profile.user_name } }));
    let store = &scim.context.store;
    match store.change_user(&id, UserChange::Delete, now_millis(), entry).await? {
        ChangeUserOutcome::Done => {
            scim.context.chat.begin_deletions(&id);
            Ok(NoContent)
        }
        ChangeUserOutcome::Unknown => Err(not_found()),
        ChangeUserOutcome::LastAdmin => Err(last_admin()),
    }
}

async fn find(scim: &Scim, id: &str) -> Result<ScimUser, ScimError> {
    scim.context.store.scim_user(id).await?.ok_or_else(not_found)
}

async fn resource(scim: &Scim, directory: &Directory, id: &str) -> Result<Value, ScimError> {
    let user = find(scim, id).await?;
    let groups = queries::groups_of(&scim.context.store, vec![id.to_owned()]).await?.remove(id).unwrap_or_default();
    Ok(user::resource(&user, &groups, &directory.base))
}

/// Returns the user who signs in at the provider with the id that the directory has sent, if the directory does not
/// manage them yet. The config says that this id of both is of the same person.
async fn known_user(scim: &Scim, directory: &Directory, sent: &SentUser) -> Result<Option<User>, ScimError> {
    let providers = directory.accounts().map(|accounts| accounts.providers.as_slice()).unwrap_or_default();
    let provider = providers.iter().find(|provider| provider.directory_claim.as_deref() == Some("sub"));
    let (Some(provider), Some(external_id)) = (provider, &sent.profile.external_id) else { return Ok(None) };
    let store = &scim.context.store;
    let Some((user, _)) = store.user_by_identity(&provider.issuer, external_id).await? else { return Ok(None) };
    Ok(store.scim_user(&user.id).await?.is_none().then_some(user))
}

/// Lets the directory manage a user who has signed in before. They keep their name.
async fn adopt(scim: &Scim, known: &User, sent: SentUser) -> Result<(), ScimError> {
    let about = json!({ "userId": known.id, "after": { "provisioned": true, "userName": sent.profile.user_name } });
    let (store, profile) = (&scim.context.store, sent.profile.clone());
    check(store.provision_user(&known.id, profile, now_millis(), entry("set_provisioned", about)).await?)?;
    // An account that was disabled here stays disabled until the directory changes it.
    if sent.active == Some(false) && known.disabled_at.is_none() {
        let user = find(scim, &known.id).await?;
        update(scim, &user, sent).await?;
    }
    Ok(())
}

/// Adds a user. Returns the id.
async fn create(scim: &Scim, directory: &Directory, sent: SentUser) -> Result<String, ScimError> {
    let store = &scim.context.store;
    let has_passwords = directory.accounts().is_some_and(|accounts| accounts.passwords);
    // Otherwise nobody could become the first administrator any more.
    if has_passwords && !store.has_users().await? {
        return Err(ScimError::forbidden(
            "This server has no administrator yet. Create the first account on it first.",
        ));
    }
    // Held until the user is stored.
    let mut new_names = NewNames::lock(store).await?;
    let name = free_name(scim, &mut new_names, &sent.profile.user_name).await?;
    let id = Uuid::now_v7().to_string();
    let new = NewUser {
        id: id.clone(),
        name_key: name_key(&name),
        name,
        password: String::new(),
        must_change_password: false,
        roles: Vec::new(),
        now: now_millis(),
    };
    let active = sent.active.unwrap_or(true);
    let about =
        json!({ "userId": id, "after": { "userName": sent.profile.user_name, "disabled": !active, "roles": [] } });
    check(store.add_scim_user(new, sent.profile, active, entry("add_user", about)).await?)?;
    Ok(id)
}

/// Returns the name of an account for a name in the directory.
///
/// # Errors
/// 400 if there is none, 409 if another user has it or one that looks like it.
async fn free_name(scim: &Scim, new: &mut NewNames<'_>, user_name: &str) -> Result<String, ScimError> {
    let name = account_name(user_name)
        .ok_or_else(|| ScimError::value("This `userName` has too few letters of one script to be a name here."))?;
    let store = &scim.context.store;
    let is_taken = store.user_by_name(&name_key(&name)).await?.is_some() || new.has_lookalike(&name).await?;
    if is_taken { Err(ScimError::taken(NAME_TAKEN)) } else { Ok(name) }
}

/// Changes a user to what the directory has sent, all or nothing.
async fn update(scim: &Scim, before: &ScimUser, sent: SentUser) -> Result<(), ScimError> {
    let active = sent.active.filter(|active| *active != before.active);
    let is_same = sent.profile == before.profile;
    if is_same && active.is_none() {
        return Ok(());
    }
    let is_renamed = sent.profile.user_name_key != before.profile.user_name_key;
    // Held until the new name is stored.
    let mut new_names = if is_renamed { Some(NewNames::lock(&scim.context.store).await?) } else { None };
    let name = match &mut new_names {
        None => None,
        Some(new_names) => match account_name(&sent.profile.user_name) {
            Some(name) if name_key(&name) == name_key(&before.name) => None,
            _ => Some(free_name(scim, new_names, &sent.profile.user_name).await?),
        },
    };
    let mut entries = Vec::new();
    if !is_same {
        entries.push(entry("change_user", about_change(before, &sent, name.as_deref())));
    }
    if let Some(active) = active {
        let about = json!({ "userId": before.id, "before": { "disabled": active }, "after": { "disabled": !active } });
        entries.push(entry(if active { "enable_user" } else { "disable_user" }, about));
    }
    let name = name.map(|name| (name.clone(), name_key(&name)));
    let change = ScimUserChange { profile: sent.profile, name, active, now: now_millis() };
    check(scim.context.store.change_scim_user(&before.id, change, entries).await?)?;
    drop(new_names);
    if active == Some(false) {
        scim.context.chat.stop_user_runs(&before.id);
    }
    Ok(())
}

/// Returns the details of a change for the audit log: names and ids, and the names of other attributes.
fn about_change(before: &ScimUser, sent: &SentUser, name: Option<&str>) -> Value {
    let (old, new) = (&before.profile, &sent.profile);
    let mut about = json!({ "userId": before.id });
    let mut record = |key: &str, from: Value, to: Value| {
        if from != to {
            about["before"][key] = from;
            about["after"][key] = to;
        }
    };
    record("userName", old.user_name.clone().into(), new.user_name.clone().into());
    record("externalId", old.external_id.clone().into(), new.external_id.clone().into());
    if let Some(name) = name {
        record("name", before.name.clone().into(), name.into());
    }
    let changed = |one: &Map<String, Value>, other: &Map<String, Value>| {
        let keys = one.iter().filter(|(key, value)| other.get(*key) != Some(*value)).map(|(key, _)| key.clone());
        keys.collect::<Vec<_>>()
    };
    let mut attributes =
        [changed(&old.attributes, &new.attributes), changed(&new.attributes, &old.attributes)].concat();
    attributes.sort_unstable();
    attributes.dedup();
    if !attributes.is_empty() {
        about["attributes"] = attributes.into();
    }
    about
}

/// Returns an entry of the audit log about an action of the directory.
pub(crate) fn entry(action: &str, about: Value) -> AuditEntry {
    audit_row(SCIM_USER, &format!("admin:{action}"), "", about)
}

fn check(outcome: ScimUserOutcome) -> Result<(), ScimError> {
    match outcome {
        ScimUserOutcome::Done => Ok(()),
        ScimUserOutcome::Unknown => Err(not_found()),
        ScimUserOutcome::UserNameTaken => Err(ScimError::taken("The directory has another user with this `userName`.")),
        ScimUserOutcome::ExternalIdTaken => {
            Err(ScimError::taken("The directory has another user with this `externalId`."))
        }
        ScimUserOutcome::NameTaken => Err(ScimError::taken(NAME_TAKEN)),
        ScimUserOutcome::LastAdmin => Err(last_admin()),
    }
}

fn not_found() -> ScimError {
    ScimError::not_found("The directory manages no user with this id.")
}

fn last_admin() -> ScimError {
    ScimError::conflict("This is the last administrator of the server. Make another user an administrator there first.")
}
