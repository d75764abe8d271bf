//! What administrators do: add, change, switch, delete and test servers.

use crate::body::ServerBody;
use crate::catalog::place;
use crate::definition::{Rules, ServerDefinition};
use crate::probe;
use crate::read::{self, StoredState, check_name, sentence};
use crate::secrets::{Keys, Secrets};
use crate::section::McpServers;
use crate::store::{
    self, Author, Change, ChangeOutcome, MAX_SERVERS, ServerWrite, StoredCatalog, StoredServer, TestResult,
};
use ::store::append_audit;
use capability::Context;
use config::{Config, Env, ProcessEnv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// How long a request waits for the test of a stored server, which goes on in the background.
const PATIENCE: Duration = Duration::from_secs(5);

/// The servers that administrators have added, and which servers of the config are switched on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpConfig {
    /// Grows with each change; send it with the next one.
    pub(crate) version: i64,
    /// The added servers by their names.
    pub(crate) mcp_servers: BTreeMap<String, ServerBody>,
    /// Whether the servers of the config are switched on. The key is the id of a connection, or the name of a
    /// server that only agents have, with a hash of how it is reached.
    pub(crate) config_servers: BTreeMap<String, bool>,
}

// It holds secrets as they were sent, so it has no `Debug`.
/// Replaces all added servers: those that are not named are deleted.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct McpConfigUpdate {
    /// The version that the change is based on.
    version: i64,
    /// The added servers by their names. Masked values stay as they are stored.
    #[schemars(with = "BTreeMap<String, ServerBody>")]
    mcp_servers: Map<String, Value>,
    /// Whether servers of the config are switched on. Those that are not named stay as they are.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, bool>")]
    config_servers: Map<String, Value>,
}

/// A change with what the audit log says of it.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) change: Change,
    pub(crate) action: &'static str,
    pub(crate) about: Value,
}

/// The servers at the moment of a request.
pub(crate) struct Current {
    pub(crate) config: Arc<Config>,
    pub(crate) section: McpServers,
    keys: Keys,
    env: &'static (dyn Env + Sync),
    pub(crate) stored: StoredCatalog,
}

impl Current {
    pub(crate) async fn load(context: &Context) -> Result<Self, UserError> {
        let stored = store::read(&context.store).await.map_err(from_store_error)?;
        Ok(Self::new(context.current.config(), stored, &ProcessEnv))
    }

    pub(crate) fn new(config: Arc<Config>, stored: StoredCatalog, env: &'static (dyn Env + Sync)) -> Self {
        let section = config.section::<McpServers>().cloned().unwrap_or_default();
        Self { keys: Keys::read(&section.keys, env), config, section, env, stored }
    }

    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules::from_config(&self.config, &self.section, self.env)
    }

    /// Returns an added server.
    ///
    /// # Errors
    /// 404.
    pub(crate) fn find(&self, name: &str) -> Result<&StoredServer, UserError> {
        self.stored.servers.iter().find(|server| server.name == name).ok_or_else(UserError::not_found)
    }

    /// Returns the secrets of a server, as far as they can be read.
    pub(crate) fn readable_secrets(&self, server: &StoredServer) -> Secrets {
        self.keys.open(&server.name, &server.secrets).unwrap_or_default()
    }

    /// Returns a server without its secrets.
    pub(crate) fn body(&self, server: &StoredServer) -> ServerBody {
        let definition = server.definition.clone().unwrap_or_default();
        ServerBody::masked(server.enabled, &definition, &self.readable_secrets(server), self.rules())
    }

    /// Returns all servers without their secrets.
    pub(crate) fn mcp_config(&self) -> McpConfig {
        let servers = self.stored.servers.iter();
        let switches = self.section.catalog.servers.iter();
        McpConfig {
            version: self.stored.version,
            mcp_servers: servers.map(|server| (server.name.clone(), self.body(server))).collect(),
            config_servers: switches.map(|server| (server.key.clone(), self.is_on(&server.key))).collect(),
        }
    }

    /// Returns whether a server of the config is switched on. Switches are without effect if the config does not
    /// allow changes at run time.
    pub(crate) fn is_on(&self, key: &str) -> bool {
        !self.section.at_run_time || !self.has_switch(key)
    }

    /// Returns whether a server of the config is stored as switched off.
    fn has_switch(&self, key: &str) -> bool {
        self.stored.switched_off.iter().any(|off| off == key)
    }

    /// Returns the host of a server, or the name of its program; empty if it cannot be used.
    pub(crate) fn place(&self, definition: &ServerDefinition, secrets: &Secrets) -> String {
        let connection = definition.connection(secrets, self.rules());
        connection.map(|connection| place(&connection.transport).1).unwrap_or_default()
    }

    fn known(&self, server: &StoredServer) -> Option<StoredState> {
        let definition = server.definition.clone()?;
        Some(StoredState { definition, secrets: self.keys.open(&server.name, &server.secrets) })
    }

    /// # Errors
    /// 422 if the config does not allow changes.
    pub(crate) fn check_allowed(&self) -> Result<(), UserError> {
        match self.section.at_run_time {
            true => Ok(()),
            false => Err(UserError::invalid(
                "/",
                "The config does not allow changes of MCP servers at run time (`mcpServers.atRunTime`).",
            )),
        }
    }

    /// Returns the change that stores a server; `None` if it is stored like this already.
    pub(crate) fn save(&self, name: &str, body: &ServerBody) -> Result<Option<Planned>, UserError> {
        let stored = self.stored.servers.iter().find(|server| server.name == name);
        if stored.is_none() {
            self.check_new(name)?;
        }
        let known = stored.and_then(|server| self.known(server));
        let (definition, secrets) = read::read(body, known.as_ref(), self.rules())?;
        // The same secrets are not encrypted anew, so that nothing seems to have changed.
        let is_kept = known.as_ref().is_some_and(|known| known.secrets.as_ref() == Ok(&secrets));
        let sealed = match stored.filter(|_| is_kept) {
            Some(server) => server.secrets.clone(),
            None => self.keys.seal(name, &secrets).map_err(|problem| UserError::invalid("/", sentence(&problem)))?,
        };
        let place = self.place(&definition, &secrets);
        let about = json!({ "server": name, "type": definition.transport.name(), "place": place,
            "agents": definition.agents, "enabled": body.enabled });
        let keeps_test = is_kept && known.as_ref().is_some_and(|known| known.definition.is_reached_as(&definition));
        let write =
            ServerWrite { name: name.to_owned(), enabled: body.enabled, definition, secrets: sealed, keeps_test };
        Ok(match stored {
            None => Some(Planned { change: Change::Add(write), action: "add_mcp_server", about }),
            Some(server) if is_same(server, &write) => None,
            Some(server) => {
                let change = Change::Update(write, server.version);
                Some(Planned { change, action: "change_mcp_server", about })
            }
        })
    }

    fn check_new(&self, name: &str) -> Result<(), UserError> {
        check_name(name)?;
        if self.section.catalog.is_taken(name) {
            let message =
                format!("The config has a server or a connection with the name `{name}`. Choose another one.");
            return Err(UserError::invalid("/name", message));
        }
        Ok(())
    }
}

fn is_same(server: &StoredServer, write: &ServerWrite) -> bool {
    server.enabled == write.enabled
        && server.definition.as_ref() == Some(&write.definition)
        && server.secrets == write.secrets
}

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

fn deletion(name: &str, version: Option<i64>) -> Planned {
    let change = Change::Delete { name: name.to_owned(), version };
    Planned { change, action: "delete_mcp_server", about: json!({ "server": name }) }
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

impl Current {
    /// Returns the change that switches a server of the config; `None` if it is like this already.
    pub(crate) fn switch(&self, key: &str, on: bool) -> Result<Option<Planned>, UserError> {
        let is_on = !self.has_switch(key);
        // A switch stays when the config loses the server, until it is taken back.
        if !self.section.catalog.servers.iter().any(|server| server.key == key) && is_on {
            return Err(UserError::not_found());
        }
        let action = if on { "enable_mcp_server" } else { "disable_mcp_server" };
        let change = Change::Switch { server: key.to_owned(), off: !on };
        Ok((on != is_on).then(|| Planned { change, action, about: json!({ "configServer": key }) }))
    }

    /// Returns the changes that make the added servers those of the update.
    pub(crate) fn replacement(&self, update: McpConfigUpdate) -> Result<Vec<Planned>, UserError> {
        let McpConfigUpdate { mcp_servers, config_servers, .. } = update;
        if mcp_servers.len() > MAX_SERVERS {
            return Err(full("/mcpServers"));
        }
        let gone = self.stored.servers.iter().filter(|server| !mcp_servers.contains_key(&server.name));
        let mut changes: Vec<_> = gone.map(|server| deletion(&server.name, Some(server.version))).collect();
        for (name, value) in mcp_servers {
            let at = format!("/mcpServers/{name}");
            let body: ServerBody =
                serde_json::from_value(value).map_err(|error| UserError::invalid(&at, without_values(&error)))?;
            // One that stays as it is need not be allowed any more.
            let is_kept = self.find(&name).is_ok_and(|server| self.body(server) == body);
            if is_kept {
                continue;
            }
            let change = self.save(&name, &body).map_err(|error| {
                let path = error.path.as_deref().filter(|path| *path != "/").unwrap_or_default();
                UserError { path: Some(format!("{at}{path}")), ..error }
            });
            changes.extend(change?);
        }
        for (key, on) in config_servers {
            let at = format!("/configServers/{key}");
            let on = on.as_bool().ok_or_else(|| UserError::invalid(&at, "This must be true or false."))?;
            let change = self.switch(&key, on);
            changes.extend(change.map_err(|_| UserError::invalid(&at, "The config has no such server."))?);
        }
        Ok(changes)
    }
}

/// Returns what is wrong with what was sent. A message about a type repeats the value, which may be a secret.
fn without_values(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.starts_with("unknown field") || message.starts_with("missing field") {
        true => message,
        false => "A field has another type than it should have.".to_owned(),
    }
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

fn full(path: &str) -> UserError {
    UserError::invalid(path, format!("There are at most {MAX_SERVERS} added servers. Delete one first."))
}
