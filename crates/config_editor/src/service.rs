//! The operations of administrators: write drafts, try them, publish them, and go back to earlier versions.

use crate::check::{self, Checked};
use crate::section::ConfigEditor;
use crate::store::{self, ChangeOutcome, Draft, Publication};
use capability::Context;
use config::{Config, Outline};
use serde_json::json;
use std::sync::Arc;
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// How long an administrator tries a draft.
pub(crate) const PREVIEW_MINUTES: i64 = 30;

/// The config at the moment of a request.
pub(crate) struct Current {
    pub(crate) config: Arc<Config>,
    pub(crate) section: ConfigEditor,
    /// The newest published version.
    pub(crate) newest: i64,
    /// Its text, which is empty before the first version.
    pub(crate) published: String,
}

impl Current {
    /// # Errors
    /// 503 if the database is not available.
    pub(crate) async fn load(context: &Context) -> Result<Self, UserError> {
        let config = context.current.config();
        let newest = store::newest(&context.store).await.map_err(from_store_error)?;
        let stored = store::find(&context.store, newest).await.map_err(from_store_error)?;
        let section = config.section::<ConfigEditor>().cloned().unwrap_or_default();
        Ok(Self { config, section, newest, published: stored.map(|stored| stored.text).unwrap_or_default() })
    }

    /// Checks changes against the files of the config.
    ///
    /// # Errors
    /// The errors of [`check::check`].
    pub(crate) async fn check(&self, context: &Context, text: &str) -> Result<Checked, UserError> {
        check::check(context.current.language(), &self.config, &self.section, text).await
    }

    /// Returns the entries of the config with what is published.
    ///
    /// # Errors
    /// The errors of [`check::check`].
    pub(crate) async fn published_outline(&self, context: &Context) -> Result<Outline, UserError> {
        Ok(self.check(context, &self.published).await?.outline)
    }

    /// Returns the lines of changes, without the secrets that are written in them.
    ///
    /// # Errors
    /// The errors of [`check::check`].
    pub(crate) async fn lines(&self, context: &Context, text: &str) -> Result<Vec<String>, UserError> {
        check::shown_changes(context.current.language(), &self.config, &self.section, text).await
    }
}

/// Returns the administrator's draft.
///
/// # Errors
/// 404 if there is none.
pub(crate) async fn own_draft(context: &Context, admin: &Admin) -> Result<Draft, UserError> {
    let draft = store::draft(&context.store, &admin.caller.user_id).await.map_err(from_store_error)?;
    draft.ok_or_else(UserError::not_found)
}

/// Saves a draft.
///
/// # Errors
/// 409 if the administrator has saved it elsewhere, 422 if it is too large.
pub(crate) async fn save(
    context: &Context,
    admin: &Admin,
    text: &str,
    based_on: i64,
    revision: i64,
) -> Result<(), UserError> {
    check::check_size(text)?;
    let draft = Draft { text: text.to_owned(), based_on, revision, changed_at: now_millis() };
    let saved = store::save_draft(&context.store, &admin.caller.user_id, draft).await.map_err(from_store_error)?;
    outcome(saved).map(drop)
}

/// Bases the draft on the newest version, so that publishing it replaces that one.
///
/// # Errors
/// 404 without a draft, 409 if it has another revision.
pub(crate) async fn rebase(context: &Context, admin: &Admin, revision: i64, newest: i64) -> Result<(), UserError> {
    let draft = own_draft(context, admin).await?;
    save(context, admin, &draft.text, newest, revision).await
}

/// Deletes the draft, and ends its preview.
///
/// # Errors
/// 503 if the database is not available.
pub(crate) async fn discard(context: &Context, admin: &Admin) -> Result<(), UserError> {
    context.current.drafts().end_preview(&admin.caller.user_id);
    store::delete_draft(&context.store, &admin.caller.user_id).await.map_err(from_store_error)
}

/// Lets the administrator's own requests to this server use the draft for a while.
///
/// # Errors
/// 404 without a draft, 409 if it has another revision, 422 if it cannot be used.
pub(crate) async fn start_preview(context: &Context, admin: &Admin, revision: i64) -> Result<(), UserError> {
    let (draft, config) = valid_draft(context, admin, revision).await?;
    admin.record(&context.store, "try_config", "", json!({ "basedOn": draft.based_on })).await?;
    let until = now_millis() + PREVIEW_MINUTES * 60_000;
    let started = context.current.drafts().start_preview(&admin.caller.user_id, config, until).await;
    started.map_err(|error| unusable(&error))
}

/// Ends the preview of the administrator.
pub(crate) fn end_preview(context: &Context, admin: &Admin) {
    context.current.drafts().end_preview(&admin.caller.user_id);
}

/// Publishes the administrator's draft. Returns its version.
///
/// # Errors
/// 404 without a draft, 409 if it has another revision or somebody has published meanwhile, 422 if it cannot be used.
pub(crate) async fn publish(context: &Context, admin: &Admin, revision: i64) -> Result<i64, UserError> {
    let (Draft { text, based_on, .. }, config) = valid_draft(context, admin, revision).await?;
    context.current.drafts().try_config(config).await.map_err(|error| unusable(&error))?;
    let version =
        store_version(context, admin, Source { text, based_on, restored: None, revision: Some(revision) }).await?;
    end_preview(context, admin);
    Ok(version)
}

/// Publishes an earlier version again; 0 stands for the files alone. `newest` is the version that it replaces.
///
/// # Errors
/// 404 for an unknown version, 409 if somebody has published meanwhile, 422 if it cannot be used any more.
pub(crate) async fn roll_back(context: &Context, admin: &Admin, to: i64, newest: i64) -> Result<i64, UserError> {
    let text = match to {
        0 => String::new(),
        to => store::find(&context.store, to).await.map_err(from_store_error)?.ok_or_else(UserError::not_found)?.text,
    };
    let current = Current::load(context).await?;
    let config = valid(current.check(context, &text).await?)?;
    context.current.drafts().try_config(config).await.map_err(|error| unusable(&error))?;
    store_version(context, admin, Source { text, based_on: newest, restored: Some(to), revision: None }).await
}

/// Returns the draft with this revision, and the config with it.
async fn valid_draft(context: &Context, admin: &Admin, revision: i64) -> Result<(Draft, Config), UserError> {
    let draft = own_draft(context, admin).await?;
    if draft.revision != revision {
        return Err(draft_changed());
    }
    let current = Current::load(context).await?;
    let config = valid(current.check(context, &draft.text).await?)?;
    Ok((draft, config))
}

fn valid(checked: Checked) -> Result<Config, UserError> {
    let errors = checked.errors();
    checked.config.ok_or_else(|| UserError::invalid("/text", format!("The changes have {errors} error(s).")))
}

struct Source {
    text: String,
    based_on: i64,
    restored: Option<i64>,
    revision: Option<i64>,
}

/// Stores a version, and puts it into use on this server. Other servers hear of it.
async fn store_version(context: &Context, admin: &Admin, source: Source) -> Result<i64, UserError> {
    let Source { text, based_on, restored, revision } = source;
    let (action, mut about) = ("publish_config", json!({ "version": based_on + 1, "bytes": text.len() }));
    if let Some(restored) = restored {
        about["restoredVersion"] = restored.into();
    }
    let author = admin.caller.user_id.clone();
    let publication = Publication { text, based_on, restored, revision, author, now: now_millis() };
    let entry = admin.audit_entry(action, "", about);
    let stored = store::publish(&context.store, publication, entry).await.map_err(from_store_error)?;
    let version = outcome(stored)?;
    context.current.refresh_additions().await.map_err(|error| {
        tracing::error!(%error, "changes of the config were published, but the config cannot be rebuilt");
        let message = "The changes were published, but are not in use yet: the config cannot be rebuilt right now.";
        UserError::new(ErrorCode::Unavailable, message)
    })?;
    Ok(version)
}

fn outcome(outcome: ChangeOutcome) -> Result<i64, UserError> {
    match outcome {
        ChangeOutcome::Done(number) => Ok(number),
        ChangeOutcome::Outdated => {
            let message = "Somebody else has published changes in the meantime. Compare your draft with them first.";
            Err(UserError::new(ErrorCode::Conflict, message))
        }
        ChangeOutcome::DraftChanged => Err(draft_changed()),
    }
}

fn draft_changed() -> UserError {
    UserError::new(
        ErrorCode::Conflict,
        "You have saved or published this draft elsewhere, such as in another tab. Load the page again.",
    )
}

fn unusable(error: &impl std::fmt::Display) -> UserError {
    UserError::invalid("/text", format!("The config with these changes cannot be used: {error}"))
}
