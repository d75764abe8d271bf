//! Checks and saves definitions.

use super::table::{self, Save, SaveOutcome};
use super::{StoredWorkflow, rights};
use ::store::{Store, StoreError};
use auth::audit_row;
use capability::Context;
use chat::Caller;
use config::{AuthMode, Config, ValueProblem};
use serde_json::{Value, json};
use std::collections::HashMap;
use web::admin::{from_store_error, is_admin};
use web::times::now_millis;
use wire::{ErrorCode, UserError};
use workflow_definition::{Workflow, Workflows};

/// The largest definition in bytes.
const MAX_BYTES: usize = 256 << 10;
/// The most problems in an error's message.
const MAX_SHOWN: usize = 10;

/// Checks a definition as if it stood in the config, beside the workflows that are there.
pub(crate) async fn check(
    context: &Context,
    caller: &Caller,
    definition: Value,
) -> Result<Workflow, Vec<ValueProblem>> {
    let problem = |message: String| vec![ValueProblem { path: String::new(), message, help: None }];
    if definition.to_string().len() > MAX_BYTES {
        return Err(problem(format!("a definition has at most {MAX_BYTES} bytes")));
    }
    let (config, language) = (context.current.config(), context.current.language());
    // A large definition takes a while.
    let checked = tokio::task::spawn_blocking(move || {
        let (mut all, index) = others(&config, &definition);
        all.push(definition);
        let prefix = format!("/{index}");
        let read = language.read_section_value::<Workflows>(&config, &Value::Array(all));
        let read =
            read.map_err(|problems| problems.into_iter().map(|found| within(found, &prefix)).collect::<Vec<_>>());
        read.map(|mut all| all.0.pop())
    });
    let workflow = match checked.await {
        Ok(read) => read?.ok_or_else(|| problem("there is no definition".to_owned()))?,
        Err(_) => return Err(problem("the definition could not be checked".to_owned())),
    };
    match rights::problems(&workflow, caller, &context.current.config()) {
        problems if problems.is_empty() => Ok(workflow),
        problems => Err(problems),
    }
}

/// Returns the other workflows in use, and their number.
fn others(config: &Config, definition: &Value) -> (Vec<Value>, usize) {
    let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    let others = all.iter().filter(|workflow| definition["id"] != workflow.id.0.as_str());
    let others: Vec<_> = others.filter_map(|workflow| serde_json::to_value(workflow).ok()).collect();
    let count = others.len();
    (others, count)
}

/// Lets the place of a problem begin at the definition.
fn within(found: ValueProblem, prefix: &str) -> ValueProblem {
    let path = found.path.strip_prefix(prefix).unwrap_or_default().to_owned();
    ValueProblem { path, ..found }
}

/// Returns the error of a request whose definition has problems.
fn invalid(problems: Vec<ValueProblem>) -> UserError {
    let path = problems.first().map(|first| first.path.clone()).unwrap_or_default();
    let line = |ValueProblem { path, message, help }: ValueProblem| {
        let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
        let place = if path.is_empty() { "/".to_owned() } else { path };
        format!("{place}: {message}{help}")
    };
    let lines: Vec<_> = problems.into_iter().take(MAX_SHOWN).map(line).collect();
    UserError::invalid(format!("/definition{path}"), lines.join("\n"))
}

/// Saves a new definition, or a new version of the one with this id and version.
///
/// # Errors
/// 404 for an unknown id, 409 if the id is taken or another user has saved a newer version, 422 for an invalid
/// definition, 429 if there are too many.
pub(crate) async fn save(
    context: &Context,
    caller: &Caller,
    after: Option<(String, i64)>,
    definition: Value,
    is_enabled: bool,
) -> Result<StoredWorkflow, UserError> {
    save_version(context, caller, after, definition, is_enabled, None).await
}

/// Saves an earlier version of a definition as the newest one. `version` is the one in use until then.
///
/// # Errors
/// As [`save`]; 404 also for an unknown version.
pub(crate) async fn roll_back(
    context: &Context,
    caller: &Caller,
    id: &str,
    version: i64,
    to: i64,
) -> Result<StoredWorkflow, UserError> {
    let store = &context.store;
    let current = table::find(store, id).await.map_err(from_store_error)?.ok_or_else(UserError::not_found)?;
    let earlier = table::version_of(store, id, to).await.map_err(from_store_error)?.ok_or_else(UserError::not_found)?;
    save_version(context, caller, Some((id.to_owned(), version)), earlier, current.is_enabled, Some(to)).await
}

/// Saves a definition. `restored` is the earlier version that it is.
async fn save_version(
    context: &Context,
    caller: &Caller,
    after: Option<(String, i64)>,
    definition: Value,
    is_enabled: bool,
    restored: Option<i64>,
) -> Result<StoredWorkflow, UserError> {
    let workflow = check(context, caller, definition.clone()).await.map_err(invalid)?;
    let id = workflow.id.0.clone();
    if after.as_ref().is_some_and(|(known, _)| *known != id) {
        return Err(UserError::invalid("/definition/id", "The id of a workflow does not change."));
    }
    if after.is_none() && super::in_config(&context.current.config(), &id).is_some() {
        let message = format!("The config has a workflow `{id}`. Use another id.");
        return Err(UserError::new(ErrorCode::Busy, message));
    }
    let save = Save {
        id: id.clone(),
        after: after.map(|(_, version)| version),
        definition,
        is_enabled,
        author: caller.user_id.clone(),
        is_limited: !is_admin(caller),
        now: now_millis(),
    };
    let action = if save.after.is_some() { "admin:change_workflow" } else { "admin:add_workflow" };
    let version = save.after.unwrap_or_default() + 1;
    let mut about = json!({ "workflowId": id, "version": version, "enabled": is_enabled });
    if let Some(restored) = restored {
        about["restoredVersion"] = restored.into();
    }
    let audit = audit_row(&caller.user_id, action, "", about);
    match table::save(&context.store, save, audit).await.map_err(from_store_error)? {
        SaveOutcome::Done => {}
        SaveOutcome::Unknown => return Err(UserError::not_found()),
        SaveOutcome::Taken => {
            let message = format!("There is a stored workflow `{id}`. Change that one, or use another id.");
            return Err(UserError::new(ErrorCode::Busy, message));
        }
        SaveOutcome::Changed => {
            let message = "Somebody has saved a newer version. Read it, and send your change again.";
            return Err(UserError::new(ErrorCode::Busy, message));
        }
        SaveOutcome::Full => {
            let message = format!("There are {} stored workflows, which is the limit.", table::MAX_STORED);
            return Err(UserError::new(ErrorCode::RateLimited, message));
        }
    }
    refresh(context).await;
    table::find(&context.store, &id).await.map_err(from_store_error)?.ok_or_else(UserError::not_found)
}

/// Deletes a definition. Its runs continue with their versions.
///
/// # Errors
/// 404 for an unknown id.
pub(crate) async fn delete(context: &Context, caller: &Caller, id: &str) -> Result<(), UserError> {
    let audit = audit_row(&caller.user_id, "admin:delete_workflow", "", json!({ "workflowId": id }));
    let deleted = table::delete(&context.store, id, now_millis(), audit).await.map_err(from_store_error)?;
    if !deleted {
        return Err(UserError::not_found());
    }
    refresh(context).await;
    Ok(())
}

/// Disables the definitions whose authors have lost rights with which they run: authors who are no administrators and
/// were deleted, disabled, or lost a role.
///
/// # Errors
/// The database failed. They are found again.
pub(crate) async fn disable_unentitled(context: &Context) -> Result<(), StoreError> {
    let store = &context.store;
    let has_accounts = matches!(context.current.config().auth.mode, AuthMode::Accounts(_));
    let found = unentitled(store, has_accounts).await?;
    if found.is_empty() {
        return Ok(());
    }
    let disabled = table::disable(store, found).await?;
    if !disabled.is_empty() {
        tracing::warn!(workflows = ?disabled, "stored workflows were disabled, because their authors have lost rights");
        refresh(context).await;
    }
    Ok(())
}

/// Returns the definitions in use whose authors have lost rights, each with the cause. Only with accounts, their roles are
/// those in the database.
pub(super) async fn unentitled(store: &Store, has_accounts: bool) -> Result<Vec<(StoredWorkflow, String)>, StoreError> {
    let (mut authors, mut found) = (HashMap::new(), Vec::new());
    for row in table::limited(store).await? {
        if has_accounts && !authors.contains_key(&row.author) {
            let author = store.user_by_id(&row.author).await?.map(|(user, _)| user);
            authors.insert(row.author.clone(), author);
        }
        let author = authors.get(&row.author).and_then(Option::as_ref);
        if let Some(cause) = rights::lost(&row, author) {
            found.push((row, cause));
        }
    }
    Ok(found)
}

/// Loads the definitions on this server; others are notified. If that fails, the server looks again.
async fn refresh(context: &Context) {
    if let Err(error) = context.current.refresh_additions().await {
        tracing::error!(%error, "the stored workflows could not be loaded");
    }
}
