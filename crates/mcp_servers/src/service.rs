//! The actions of administrators that only servers have: switch those of the config, replace all added ones, and test them.

use crate::body::ServerBody;
use crate::catalog::place;
use crate::current::{Current, McpConfigUpdate};
use crate::definition::ServerDefinition;
use crate::probe;
use crate::read;
use crate::secrets::Secrets;
use crate::store::{SERVERS, TESTED, TestResult};
use added_entries::checks::sentence;
use added_entries::{Entries, changed, load, store};
use capability::Context;
use serde_json::json;
use std::time::Duration;
use web::admin::Admin;
use wire::UserError;

/// How long a request waits for the test of a stored server, which goes on in the background.
const PATIENCE: Duration = Duration::from_secs(5);

/// Switches a server of the config on or off.
///
/// # Errors
/// 404 if the config has no such server, and it is not switched off either.
pub(crate) async fn switch(context: &Context, admin: &Admin, key: &str, on: bool) -> Result<(), UserError> {
    let current: Current = load(context).await?;
    current.check_allowed()?;
    let change = current.switch(key, on)?;
    store::<Current>(context, admin, None, change.into_iter().collect()).await
}

/// Makes the added servers those of the update, in one transaction.
///
/// # Errors
/// 409 if there was a change since the version of the update, 422 for invalid fields.
pub(crate) async fn replace(context: &Context, admin: &Admin, update: McpConfigUpdate) -> Result<(), UserError> {
    let current: Current = load(context).await?;
    current.check_allowed()?;
    let version = update.version;
    if version != current.stored.version {
        return Err(changed());
    }
    let changes = current.replacement(update)?;
    store::<Current>(context, admin, Some(version), changes).await
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
    let current: Current = load(context).await?;
    current.check_allowed()?;
    let stored = current.stored.find(name).ok();
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
    let current: Current = load(context).await?;
    current.check_allowed()?;
    let server = current.stored.find(name)?;
    let definition = server.definition.clone().unwrap_or_default();
    let secrets = current.keys.open(name, &server.secret);
    let secrets = secrets.map_err(|problem| UserError::invalid("/", sentence(problem)))?;
    let test = start_test(context, &current, admin, name, (&definition, &secrets)).await?;
    let (store, name, version) = (context.store.clone(), name.to_owned(), server.version);
    let kept = tokio::spawn(async move {
        let found = test.await;
        if let Err(error) = SERVERS.tables.keep(&store, &name, version, (TESTED, &found)).await {
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
    admin.record(&context.store, "test_mcp_server", "", about).await?;
    probe::start(name, connection, &admin.caller.user_id)
}
