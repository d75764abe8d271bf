//! What administrators do: add, change, switch, delete and test connections, and list the models of providers.

use crate::body::ConnectionBody;
use crate::current::{Current, Planned, deletion, full};
use crate::definition::ConnectionDefinition;
use crate::store::{self, Author, Change, ChangeOutcome, Found, ListResult, TestResult};
use crate::{listing, probe};
use ::store::append_audit;
use capability::Context;
use secrecy::SecretString;
use serde_json::{Value, json};
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// Adds a connection.
///
/// # Errors
/// 409 if there is one with this name, 422 for invalid fields.
pub(crate) async fn add(context: &Context, admin: &Admin, name: &str, body: &ConnectionBody) -> Result<(), UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    if current.find(name).is_ok() {
        return Err(taken());
    }
    let change = current.save(name, body)?;
    store(context, admin, change).await
}

/// Changes the connection that has this version.
///
/// # Errors
/// 404, 409 if it has another version, 422 for invalid fields.
pub(crate) async fn update(
    context: &Context,
    admin: &Admin,
    name: &str,
    version: i64,
    body: &ConnectionBody,
) -> Result<(), UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    if current.find(name)?.version != version {
        return Err(changed());
    }
    let change = current.save(name, body)?;
    store(context, admin, change).await
}

/// Switches the connection that has this version on or off.
///
/// # Errors
/// As [`update`].
pub(crate) async fn set_enabled(
    context: &Context,
    admin: &Admin,
    name: &str,
    version: i64,
    enabled: bool,
) -> Result<(), UserError> {
    Current::load(context).await?.check_allowed()?;
    let action = if enabled { "enable_model_connection" } else { "disable_model_connection" };
    let change = Change::Enable { name: name.to_owned(), version, enabled };
    store(context, admin, Some(Planned { change, action, about: json!({ "connection": name }) })).await
}

/// Deletes a connection, with a version the one that has it.
///
/// # Errors
/// 404, 409 if it has another version.
pub(crate) async fn delete(
    context: &Context,
    admin: &Admin,
    name: &str,
    version: Option<i64>,
) -> Result<(), UserError> {
    store(context, admin, Some(deletion(name, version))).await
}

/// Asks a model of a connection for one word, and keeps what was found. Without a name, the first model is asked.
///
/// # Errors
/// 404, 422 if there is no such model or the connection cannot be used, 429 if too many tests are running.
pub(crate) async fn test(
    context: &Context,
    admin: &Admin,
    name: &str,
    model: Option<&str>,
) -> Result<TestResult, UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    let (version, definition, key) = readable(&current, name)?;
    let asked = match model {
        Some(model) => definition.models.iter().find(|known| *known == model),
        None => definition.models.first(),
    };
    let asked = asked.ok_or_else(|| UserError::invalid("/model", "Choose a model of the connection first."))?.clone();
    let additions = definition.additions(name, key.as_ref(), current.allows_private());
    let connection = additions.map_err(|problem| unusable(&problem))?.connection;
    let model = context.current.model(&connection.kind, &asked).ok_or_else(|| unusable("it has no models"))?;
    let permit = probe::permit()?;
    record(context, admin, "test_model_connection", about(name, &definition, Some(&asked))).await?;
    let found = probe::ask(&asked, model, current.config.price_of(&asked)).await;
    drop(permit);
    keep(context, name, version, Found::Test(found.clone())).await?;
    Ok(found)
}

/// Asks the provider of a connection for its models, and keeps their names.
///
/// # Errors
/// 404, 422 if the connection cannot be used, 429 if too many requests are running.
pub(crate) async fn list(context: &Context, admin: &Admin, name: &str) -> Result<ListResult, UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    let (version, definition, key) = readable(&current, name)?;
    definition.additions(name, key.as_ref(), current.allows_private()).map_err(|problem| unusable(&problem))?;
    let permit = probe::permit()?;
    record(context, admin, "list_provider_models", about(name, &definition, None)).await?;
    let found = listing::list(&definition, key.as_ref(), current.allows_private()).await;
    drop(permit);
    keep(context, name, version, Found::List(found.clone())).await?;
    Ok(found)
}

/// Records the export in the audit log.
///
/// # Errors
/// The database is not available.
pub(crate) async fn record_export(context: &Context, admin: &Admin) -> Result<(), UserError> {
    record(context, admin, "export_model_connections", json!({})).await
}

/// Returns a stored connection with its version and its key.
fn readable(current: &Current, name: &str) -> Result<(i64, ConnectionDefinition, Option<SecretString>), UserError> {
    let stored = current.find(name)?;
    let definition = stored.definition.clone().ok_or_else(|| unusable("its row in the database is damaged"))?;
    let key = current.keys.open(name, &stored.secret).map_err(unusable)?;
    Ok((stored.version, definition, key))
}

fn unusable(problem: &str) -> UserError {
    UserError::invalid("/", format!("The connection cannot be used: {problem}."))
}

fn about(name: &str, definition: &ConnectionDefinition, model: Option<&str>) -> Value {
    json!({ "connection": name, "provider": definition.provider.name(), "host": definition.host(), "model": model })
}

/// Records what is about to be done: the key is sent to the address.
async fn record(context: &Context, admin: &Admin, action: &str, about: Value) -> Result<(), UserError> {
    let entry = admin.audit_entry(action, "", about);
    let write = context.store.write(move |db| Box::pin(async move { append_audit(db, vec![entry]).await }));
    write.await.map_err(from_store_error)
}

async fn keep(context: &Context, name: &str, version: i64, found: Found) -> Result<(), UserError> {
    store::keep(&context.store, name, version, found).await.map_err(from_store_error)
}

/// Stores a change, and gives agents the models as they are then.
async fn store(context: &Context, admin: &Admin, planned: Option<Planned>) -> Result<(), UserError> {
    let Some(Planned { change, action, about }) = planned else { return Ok(()) };
    let entry = admin.audit_entry(action, "", about);
    let author = Author { user_id: admin.caller.user_id.clone(), now: now_millis() };
    match store::change(&context.store, change, entry, author).await.map_err(from_store_error)? {
        ChangeOutcome::Done => {}
        ChangeOutcome::Unknown => return Err(UserError::not_found()),
        ChangeOutcome::Changed => return Err(changed()),
        ChangeOutcome::Taken => return Err(taken()),
        ChangeOutcome::Full => return Err(full("/name")),
    }
    context.current.refresh_additions().await.map_err(|error| {
        tracing::error!(%error, "connections to providers were changed, but the config cannot be rebuilt");
        let message = "The change was saved, but is not in effect yet: the config cannot be rebuilt right now.";
        UserError::new(ErrorCode::Unavailable, message)
    })
}

fn changed() -> UserError {
    let message = "Someone else has changed this in the meantime. Load it again and make your change again.";
    UserError::new(ErrorCode::Conflict, message)
}

fn taken() -> UserError {
    UserError::new(ErrorCode::Conflict, "There is a connection with this name already.")
}
