//! Prompts as routes and pages use them.

use crate::prompt::{Origin, Problem, PromptContent, checked_roles};
use crate::section::Prompts;
use crate::store::{self, SHARED, SaveOutcome, SavePrompt, StoredPrompt};
use crate::views::{
    CONFIG_ID, ExportedPrompt, PromptBody, PromptDetail, PromptExport, PromptItem, PromptItems, SharedPromptBody,
};
use ::store::AuditEntry;
use auth::audit_row;
use capability::Context;
use chat::Caller;
use serde_json::{Value, json};
use web::admin::{Admin, from_store_error};
use web::signed_in;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The most prompts that administrators share.
pub(crate) const MAX_SHARED: u32 = 200;

/// Returns the section of the config; `None` if there are no prompts.
pub(crate) fn settings(context: &Context) -> Option<Prompts> {
    context.current.config().section::<Prompts>().cloned()
}

/// Returns the section of the config.
///
/// # Errors
/// 404 without the section `prompts`.
fn needed_settings(context: &Context) -> Result<Prompts, UserError> {
    settings(context).ok_or_else(UserError::not_found)
}

/// Whether a caller sees a shared prompt.
fn may_see(caller: &Caller, roles: &[String]) -> bool {
    roles.is_empty() || roles.iter().any(|role| caller.has_role(role))
}

/// Returns the prompts that the caller sees.
///
/// # Errors
/// 404 if there are none here.
pub(crate) async fn list(context: &Context, caller: &Caller) -> Result<PromptItems, UserError> {
    let settings = needed_settings(context)?;
    let mut items =
        if caller.is_authenticated { items(context, &caller.user_id, Origin::Own).await? } else { Vec::new() };
    items.extend(shared(context, &settings).await?.into_iter().filter(|item| may_see(caller, &item.roles)));
    let Prompts { per_user, text_bytes, .. } = settings;
    Ok(PromptItems { items, may_add: caller.is_authenticated, most: per_user, text_bytes })
}

/// Returns the prompts that the caller sees, with their texts.
///
/// # Errors
/// 404 if there are none here.
pub(crate) async fn whole(context: &Context, caller: &Caller) -> Result<Vec<(Origin, PromptContent)>, UserError> {
    let settings = needed_settings(context)?;
    let mut all = Vec::new();
    if caller.is_authenticated {
        let own = store::list_whole(&context.store, &caller.user_id).await.map_err(from_store_error)?;
        all.extend(own.into_iter().map(|prompt| (Origin::Own, prompt.content)));
    }
    let shared = store::list_whole(&context.store, SHARED).await.map_err(from_store_error)?;
    let seen = shared.into_iter().filter(|prompt| may_see(caller, &prompt.roles));
    all.extend(seen.map(|prompt| (Origin::Shared, prompt.content)));
    let of_config = settings.shared.iter().filter(|prompt| may_see(caller, &prompt.roles));
    all.extend(of_config.map(|prompt| (Origin::Config, prompt.content())));
    Ok(all)
}

async fn items(context: &Context, owner: &str, origin: Origin) -> Result<Vec<PromptItem>, UserError> {
    let stored = store::list(&context.store, owner).await.map_err(from_store_error)?;
    Ok(stored.into_iter().map(|prompt| PromptItem::stored(prompt, origin)).collect())
}

/// Returns all shared prompts by their names, whoever sees them.
///
/// # Errors
/// The database failed.
pub(crate) async fn shared(context: &Context, settings: &Prompts) -> Result<Vec<PromptItem>, UserError> {
    let mut all = items(context, SHARED, Origin::Shared).await?;
    all.extend(settings.shared.iter().map(PromptItem::of_config));
    all.sort_by_cached_key(|item| crate::prompt::name_key(&item.name));
    Ok(all)
}

/// Returns a prompt that the caller sees.
///
/// # Errors
/// 404 for one that they do not see.
pub(crate) async fn detail(context: &Context, caller: &Caller, id: &str) -> Result<PromptDetail, UserError> {
    let settings = needed_settings(context)?;
    if let Some(name) = id.strip_prefix(CONFIG_ID) {
        let found = settings.find(name).filter(|prompt| may_see(caller, &prompt.roles));
        return found.map(PromptDetail::of_config).ok_or_else(UserError::not_found);
    }
    if caller.is_authenticated
        && let Some(own) = find(context, &caller.user_id, id).await?
    {
        return Ok(PromptDetail::stored(own, Origin::Own));
    }
    let shared = find(context, SHARED, id).await?.filter(|prompt| may_see(caller, &prompt.roles));
    let shared = shared.ok_or_else(UserError::not_found)?;
    Ok(PromptDetail { roles: Vec::new(), ..PromptDetail::stored(shared, Origin::Shared) })
}

async fn find(context: &Context, owner: &str, id: &str) -> Result<Option<StoredPrompt>, UserError> {
    store::find(&context.store, owner, id).await.map_err(from_store_error)
}

/// Returns a prompt of the caller's own.
///
/// # Errors
/// 401 for visitors, 404 if they have no such prompt.
pub(crate) async fn own(context: &Context, caller: &Caller, id: &str) -> Result<PromptDetail, UserError> {
    let user_id = signed_in(caller)?;
    needed_settings(context)?;
    let found = find(context, user_id, id).await?.ok_or_else(UserError::not_found)?;
    Ok(PromptDetail::stored(found, Origin::Own))
}

/// Returns the caller's own prompts with their texts.
///
/// # Errors
/// 401 for visitors, 404 if there are no prompts here.
pub(crate) async fn export(context: &Context, caller: &Caller) -> Result<PromptExport, UserError> {
    let user_id = signed_in(caller)?;
    needed_settings(context)?;
    let own = store::list_whole(&context.store, user_id).await.map_err(from_store_error)?;
    Ok(PromptExport { prompts: own.into_iter().map(|prompt| ExportedPrompt::from(prompt.content)).collect() })
}

/// Adds a prompt of the caller (without an id) or changes one, and returns its id.
///
/// # Errors
/// 401 for visitors, 404 for an unknown prompt, 409 if it was changed meanwhile, 422 for fields that cannot be
/// used and for a name that another prompt has.
pub(crate) async fn save_own(
    context: &Context,
    caller: &Caller,
    id: Option<&str>,
    sent: PromptBody,
) -> Result<String, UserError> {
    let user_id = signed_in(caller)?.to_owned();
    let settings = needed_settings(context)?;
    if let Some(id) = id {
        find(context, &user_id, id).await?.ok_or_else(UserError::not_found)?;
    }
    let PromptBody { name, description, text, version } = sent;
    let after = based_on(id, version)?;
    let content = PromptContent { name, description, text }.checked(settings.most_bytes()).map_err(invalid)?;
    let what = if id.is_none() { "prompts:add" } else { "prompts:change" };
    let id = id.map_or_else(new_id, str::to_owned);
    let audit = audit_row(&user_id, what, "", about(&id));
    let (roles, most, now) = (Vec::new(), settings.per_user, now_millis());
    store_prompt(context, SavePrompt { owner: user_id, id, after, content, roles, most, now }, audit).await
}

/// Deletes a prompt of the caller.
///
/// # Errors
/// 401 for visitors, 404 for an unknown prompt.
pub(crate) async fn delete_own(context: &Context, caller: &Caller, id: &str) -> Result<(), UserError> {
    let user_id = signed_in(caller)?;
    let audit = audit_row(user_id, "prompts:delete", "", about(id));
    delete(context, user_id, id, audit).await
}

/// Returns a shared prompt, for an administrator.
///
/// # Errors
/// 404 for an unknown prompt.
pub(crate) async fn shared_detail(context: &Context, id: &str) -> Result<PromptDetail, UserError> {
    let found = find(context, SHARED, id).await?.ok_or_else(UserError::not_found)?;
    Ok(PromptDetail::stored(found, Origin::Shared))
}

/// Adds a shared prompt (without an id) or changes one, and returns its id.
///
/// # Errors
/// The errors of [`save_own`].
pub(crate) async fn save_shared(
    context: &Context,
    admin: &Admin,
    id: Option<&str>,
    sent: SharedPromptBody,
) -> Result<String, UserError> {
    if let Some(id) = id {
        shared_detail(context, id).await?;
    }
    let settings = settings(context).unwrap_or_default();
    let SharedPromptBody { name, description, text, roles, version } = sent;
    let after = based_on(id, version)?;
    let content = PromptContent { name, description, text }.checked(settings.most_bytes()).map_err(invalid)?;
    let roles = checked_roles(roles).map_err(invalid)?;
    if settings.find(&content.name).is_some() {
        return Err(UserError::invalid("/name", "The config shares a prompt with this name. Choose another one."));
    }
    let what = if id.is_none() { "add_prompt" } else { "change_prompt" };
    let id = id.map_or_else(new_id, str::to_owned);
    let audit = admin.audit_entry(what, "", json!({ "promptId": id, "name": content.name, "roles": roles }));
    let save = SavePrompt { owner: SHARED.to_owned(), id, after, content, roles, most: MAX_SHARED, now: now_millis() };
    store_prompt(context, save, audit).await
}

/// Deletes a shared prompt.
///
/// # Errors
/// 404 for an unknown prompt.
pub(crate) async fn delete_shared(context: &Context, admin: &Admin, id: &str) -> Result<(), UserError> {
    let name = shared_detail(context, id).await?.name;
    let audit = admin.audit_entry("delete_prompt", "", json!({ "promptId": id, "name": name }));
    delete(context, SHARED, id, audit).await
}

async fn delete(context: &Context, owner: &str, id: &str, audit: AuditEntry) -> Result<(), UserError> {
    if store::delete(&context.store, owner, id, audit).await.map_err(from_store_error)? {
        Ok(())
    } else {
        Err(UserError::not_found())
    }
}

/// Returns the version that a change is based on; none for a new prompt.
fn based_on(id: Option<&str>, version: Option<i64>) -> Result<Option<i64>, UserError> {
    match (id, version) {
        (None, _) => Ok(None),
        (Some(_), Some(version)) => Ok(Some(version)),
        (Some(_), None) => Err(UserError::invalid("/version", "Send the version that your change is based on.")),
    }
}

async fn store_prompt(context: &Context, save: SavePrompt, audit: AuditEntry) -> Result<String, UserError> {
    let (id, most) = (save.id.clone(), save.most);
    match store::save(&context.store, save, audit).await.map_err(from_store_error)? {
        SaveOutcome::Saved | SaveOutcome::Unchanged => Ok(id),
        SaveOutcome::Unknown => Err(UserError::not_found()),
        SaveOutcome::Changed => {
            let message = "The prompt was changed in the meantime. Load it again and repeat your change.";
            Err(UserError::new(ErrorCode::Conflict, message))
        }
        SaveOutcome::NameTaken => Err(UserError::invalid("/name", "There is another prompt with this name.")),
        SaveOutcome::Full => {
            let message = format!("There are already {most} prompts, which is the maximum. Delete one first.");
            Err(UserError::invalid("/name", message))
        }
    }
}

fn invalid(Problem { field, message }: Problem) -> UserError {
    UserError::invalid(format!("/{field}"), message)
}

/// Returns the details of a user's prompt for the audit log, without its text.
fn about(id: &str) -> Value {
    json!({ "promptId": id })
}

/// Returns a new id, which begins with the time.
fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
