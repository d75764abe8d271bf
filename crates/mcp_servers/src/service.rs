//! What administrators do: add, change, switch, delete and test servers.

use crate::body::ServerBody;
use crate::catalog::place;
use crate::current::{Current, McpConfigUpdate, Planned, deletion, full};
use crate::definition::ServerDefinition;
use crate::probe;
use crate::read::{self, sentence};
use crate::secrets::Secrets;
use crate::store::{self, Author, Change, ChangeOutcome, TestResult};
use ::store::append_audit;
use capability::Context;
use serde_json::json;
use std::time::Duration;
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// How long a request waits for the test of a stored server, which goes on in the background.
const PATIENCE: Duration = Duration::from_secs(5);

/// Adds a server.
///
/// # Errors
/// 409 if there is one with this name, 422 for invalid fields.
pub(crate) async fn add(context: &Context, admin: &Admin, name: &str, body: &ServerBody) -> Result<(), UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    if current.find(name).is_ok() {
        return Err(taken());
    }
    let change = current.save(name, body)?;
    store(context, admin, None, change.into_iter().collect()).await
}

/// Changes the server that has this version.
///
/// # Errors
/// 404, 409 if it has another version, 422 for invalid fields.
pub(crate) async fn update(
    context: &Context,
    admin: &Admin,
    name: &str,
    version: i64,
    body: &ServerBody,
) -> Result<(), UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    if current.find(name)?.version != version {
        return Err(changed());
    }
    let change = current.save(name, body)?;
    store(context, admin, None, change.into_iter().collect()).await
}

/// Switches the server that has this version on or off.
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
    let action = if enabled { "enable_mcp_server" } else { "disable_mcp_server" };
    let change = Change::Enable { name: name.to_owned(), version, enabled };
    store(context, admin, None, vec![Planned { change, action, about: json!({ "server": name }) }]).await
}

/// Deletes a server, with a version the one that has it.
///
/// # Errors
/// As [`update`].
pub(crate) async fn delete(
    context: &Context,
    admin: &Admin,
    name: &str,
    version: Option<i64>,
) -> Result<(), UserError> {
    store(context, admin, None, vec![deletion(name, version)]).await
}

/// Switches a server of the config on or off.
///
/// # Errors
/// 404 if the config has no such server, and it is not switched off either.
pub(crate) async fn switch(context: &Context, admin: &Admin, key: &str, on: bool) -> Result<(), UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    let change = current.switch(key, on)?;
    store(context, admin, None, change.into_iter().collect()).await
}

/// Makes the added servers those of the update, in one transaction.
///
/// # Errors
/// 409 if there was a change since the version of the update, 422 for invalid fields.
pub(crate) async fn replace(context: &Context, admin: &Admin, update: McpConfigUpdate) -> Result<(), UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    let version = update.version;
    if version != current.stored.version {
        return Err(changed());
    }
    let changes = current.replacement(update)?;
    store(context, admin, Some(version), changes).await
}

/// Tests a server that need not be stored. Masked values are those of the stored one with its name.
///
/// # Errors
/// 422 for invalid fields, 429 if too many tests are running.
pub(crate) async fn test(
    context: &Context,
    admin: &Admin,
    name: &str,
    body: &ServerBody,
) -> Result<TestResult, UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    let stored = current.find(name).ok();
    if stored.is_none() {
        current.check_new(name)?;
    }
    let known = stored.and_then(|server| current.known(server));
    let (definition, secrets) = read::read(body, known.as_ref(), current.rules())?;
    Ok(start_test(context, &current, admin, name, (&definition, &secrets)).await?.await)
}

/// Tests a stored server, and keeps what was found. `None` if it takes long: the test goes on.
///
/// # Errors
/// As [`test`].
pub(crate) async fn test_stored(context: &Context, admin: &Admin, name: &str) -> Result<Option<TestResult>, UserError> {
    let current = Current::load(context).await?;
    current.check_allowed()?;
    let server = current.find(name)?;
    let definition = server.definition.clone().unwrap_or_default();
    let secrets = current.keys.open(name, &server.secrets);
    let secrets = secrets.map_err(|problem| UserError::invalid("/", sentence(problem)))?;
    let test = start_test(context, &current, admin, name, (&definition, &secrets)).await?;
    let (store, name, version) = (context.store.clone(), name.to_owned(), server.version);
    let kept = tokio::spawn(async move {
        let found = test.await;
        if let Err(error) = store::keep_test(&store, &name, version, &found).await {
            tracing::warn!(%error, "the test of an MCP server cannot be stored");
        }
        found
    });
    Ok(tokio::time::timeout(PATIENCE, kept).await.ok().and_then(Result::ok))
}

/// Starts a test, which is recorded first: secrets are sent to the address.
async fn start_test(
    context: &Context,
    current: &Current,
    admin: &Admin,
    name: &str,
    (definition, secrets): (&ServerDefinition, &Secrets),
) -> Result<impl Future<Output = TestResult> + Send + use<>, UserError> {
    let connection = definition.connection(secrets, current.rules());
    let connection =
        connection.map_err(|problem| UserError::invalid("/", format!("The server cannot be used: {problem}.")))?;
    let (transport, place) = place(&connection.transport);
    let about = json!({ "server": name, "type": transport, "place": place });
    let entry = admin.audit_entry("test_mcp_server", "", about);
    let write = context.store.write(move |db| Box::pin(async move { append_audit(db, vec![entry]).await }));
    write.await.map_err(from_store_error)?;
    probe::start(name, connection, &admin.caller.user_id)
}

/// Stores changes, and gives agents the servers as they are then.
async fn store(
    context: &Context,
    admin: &Admin,
    expected: Option<i64>,
    planned: Vec<Planned>,
) -> Result<(), UserError> {
    if planned.is_empty() {
        return Ok(());
    }
    let with_entry = |Planned { change, action, about }| (change, admin.audit_entry(action, "", about));
    let changes = planned.into_iter().map(with_entry).collect();
    let author = Author { user_id: admin.caller.user_id.clone(), now: now_millis() };
    match store::change(&context.store, expected, changes, author).await.map_err(from_store_error)? {
        ChangeOutcome::Done => {}
        ChangeOutcome::Unknown => return Err(UserError::not_found()),
        ChangeOutcome::Changed => return Err(changed()),
        ChangeOutcome::Taken => return Err(taken()),
        ChangeOutcome::Full => return Err(full("/name")),
    }
    context.current.refresh_additions().await.map_err(|error| {
        tracing::error!(%error, "MCP servers were changed, but the config cannot be rebuilt");
        let message = "The change was saved, but is not in effect yet: the config cannot be rebuilt right now.";
        UserError::new(ErrorCode::Unavailable, message)
    })
}

fn changed() -> UserError {
    let message = "Someone else has changed this in the meantime. Load it again and make your change again.";
    UserError::new(ErrorCode::Conflict, message)
}

fn taken() -> UserError {
    UserError::new(ErrorCode::Conflict, "There is a server with this name already.")
}
