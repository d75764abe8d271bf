//! The servers as they are, and the changes that are planned for them.

use crate::body::ServerBody;
use crate::catalog::place;
use crate::definition::{Rules, ServerDefinition};
use crate::read::{self, StoredState, check_name, sentence};
use crate::secrets::{Keys, Secrets};
use crate::section::McpServers;
use crate::store::{self, Change, MAX_SERVERS, ServerWrite, StoredCatalog, StoredServer};
use capability::Context;
use config::{Config, Env, ProcessEnv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use web::admin::from_store_error;
use wire::UserError;

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
    pub(crate) version: i64,
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
    pub(crate) keys: Keys,
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

    pub(crate) fn known(&self, server: &StoredServer) -> Option<StoredState> {
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

    pub(crate) fn check_new(&self, name: &str) -> Result<(), UserError> {
        check_name(name)?;
        if self.section.catalog.is_taken(name) {
            let message =
                format!("The config has a server or a connection with the name `{name}`. Choose another one.");
            return Err(UserError::invalid("/name", message));
        }
        Ok(())
    }

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

fn is_same(server: &StoredServer, write: &ServerWrite) -> bool {
    server.enabled == write.enabled
        && server.definition.as_ref() == Some(&write.definition)
        && server.secrets == write.secrets
}

/// Returns what is wrong with what was sent. A message about a type repeats the value, which may be a secret.
fn without_values(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.starts_with("unknown field") || message.starts_with("missing field") {
        true => message,
        false => "A field has another type than it should have.".to_owned(),
    }
}

pub(crate) fn deletion(name: &str, version: Option<i64>) -> Planned {
    let change = Change::Delete { name: name.to_owned(), version };
    Planned { change, action: "delete_mcp_server", about: json!({ "server": name }) }
}

pub(crate) fn full(path: &str) -> UserError {
    UserError::invalid(path, format!("There are at most {MAX_SERVERS} added servers. Delete one first."))
}
