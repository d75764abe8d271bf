//! The operations of administrators on entries of any kind: add, change, switch and delete them.

use crate::entry::{Author, Change, ChangeOutcome, Planned};
use crate::kind::{Entries, EntryKind, load};
use capability::Context;
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// Adds an entry.
///
/// # Errors
/// 409 if there is one with this name, 422 for invalid fields.
pub async fn add<E: Entries>(context: &Context, admin: &Admin, name: &str, body: &E::Body) -> Result<(), UserError> {
    let current: E = load(context).await?;
    current.check_allowed()?;
    if current.stored().find(name).is_ok() {
        return Err(taken(&E::KIND));
    }
    let change = current.save(name, body)?;
    store::<E>(context, admin, None, change.into_iter().collect()).await
}

/// Changes the entry that has this version.
///
/// # Errors
/// 404, 409 if it has another version, 422 for invalid fields.
pub async fn update<E: Entries>(
    context: &Context,
    admin: &Admin,
    name: &str,
    version: i64,
    body: &E::Body,
) -> Result<(), UserError> {
    let current: E = load(context).await?;
    current.check_allowed()?;
    if current.stored().find(name)?.version != version {
        return Err(changed());
    }
    let change = current.save(name, body)?;
    store::<E>(context, admin, None, change.into_iter().collect()).await
}

/// Switches the entry that has this version on or off.
///
/// # Errors
/// The errors of [`update`].
pub async fn set_enabled<E: Entries>(
    context: &Context,
    admin: &Admin,
    name: &str,
    version: i64,
    enabled: bool,
) -> Result<(), UserError> {
    load::<E>(context).await?.check_allowed()?;
    let action = E::KIND.action(if enabled { "enable" } else { "disable" });
    let change = Change::Enable { name: name.to_owned(), version, enabled };
    store::<E>(context, admin, None, vec![Planned { change, action, about: E::KIND.about(name) }]).await
}

/// Deletes an entry, with a version the one that has it. This is possible also where the config allows no changes.
///
/// # Errors
/// 404, 409 if it has another version.
pub async fn delete<E: Entries>(
    context: &Context,
    admin: &Admin,
    name: &str,
    version: Option<i64>,
) -> Result<(), UserError> {
    store::<E>(context, admin, None, vec![E::KIND.deletion(name, version)]).await
}

/// Stores changes, all or nothing, and builds the config with them. With `expected`, nothing may have changed since this
/// version of all entries.
///
/// # Errors
/// 404, 409 for a change of someone else or a name that is taken, 422 if there are too many entries.
pub async fn store<E: Entries>(
    context: &Context,
    admin: &Admin,
    expected: Option<i64>,
    planned: Vec<Planned<E::Definition>>,
) -> Result<(), UserError> {
    if planned.is_empty() {
        return Ok(());
    }
    let kind = E::KIND;
    let with_entry = |Planned { change, action, about }| (change, admin.audit_entry(&action, "", about));
    let changes = planned.into_iter().map(with_entry).collect();
    let author = Author { user_id: admin.caller.user_id.clone(), now: now_millis() };
    let outcome = kind.tables.change(&context.store, kind.most, expected, changes, author).await;
    match outcome.map_err(from_store_error)? {
        ChangeOutcome::Done => {}
        ChangeOutcome::Unknown => return Err(UserError::not_found()),
        ChangeOutcome::Changed => return Err(changed()),
        ChangeOutcome::Taken => return Err(taken(&kind)),
        ChangeOutcome::Full => return Err(kind.full("/name")),
    }
    context.current.refresh_additions().await.map_err(|error| {
        tracing::error!(%error, "{} were changed, but the config cannot be rebuilt", kind.nouns);
        let message = "The change was saved, but is not in effect yet: the config cannot be rebuilt right now.";
        UserError::new(ErrorCode::Unavailable, message)
    })
}

/// Says that an administrator has changed something since it was read.
pub fn changed() -> UserError {
    let message = "Someone else has changed this in the meantime. Load it again and make your change again.";
    UserError::new(ErrorCode::Conflict, message)
}

fn taken(kind: &EntryKind) -> UserError {
    UserError::new(ErrorCode::Conflict, format!("There is a {} with this name already.", kind.noun))
}
