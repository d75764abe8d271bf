//! The operations of administrators that only connections have: test their models, and list those of their providers.

use crate::current::Current;
use crate::definition::ConnectionDefinition;
use crate::store::{CONNECTIONS, LISTED, ListResult, TESTED, TestResult};
use crate::{listing, probe};
use added_entries::{Entries, load};
use capability::Context;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Value, json};
use web::admin::{Admin, from_store_error};
use wire::UserError;

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
    let current: Current = load(context).await?;
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
    // The key is sent to the address.
    let asked_for = about(name, &definition, Some(&asked));
    admin.record(&context.store, "test_model_connection", "", asked_for).await?;
    let found = probe::ask(&asked, model, current.config.price_of(&asked)).await;
    drop(permit);
    keep(context, name, version, (TESTED, &found)).await?;
    Ok(found)
}

/// Asks the provider of a connection for its models, and keeps their names.
///
/// # Errors
/// 404, 422 if the connection cannot be used, 429 if too many requests are running.
pub(crate) async fn list(context: &Context, admin: &Admin, name: &str) -> Result<ListResult, UserError> {
    let current: Current = load(context).await?;
    current.check_allowed()?;
    let (version, definition, key) = readable(&current, name)?;
    definition.additions(name, key.as_ref(), current.allows_private()).map_err(|problem| unusable(&problem))?;
    let permit = probe::permit()?;
    admin.record(&context.store, "list_provider_models", "", about(name, &definition, None)).await?;
    let found = listing::list(&definition, key.as_ref(), current.allows_private()).await;
    drop(permit);
    keep(context, name, version, (LISTED, &found)).await?;
    Ok(found)
}

/// Returns a stored connection with its version and its key.
fn readable(current: &Current, name: &str) -> Result<(i64, ConnectionDefinition, Option<SecretString>), UserError> {
    let stored = current.stored.find(name)?;
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

async fn keep<T: Serialize>(
    context: &Context,
    name: &str,
    version: i64,
    found: (&'static str, &T),
) -> Result<(), UserError> {
    CONNECTIONS.tables.keep(&context.store, name, version, found).await.map_err(from_store_error)
}
