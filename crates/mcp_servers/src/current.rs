//! The servers as they are, and the changes that are planned for them.

use crate::body::ServerBody;
use crate::catalog::place;
use crate::definition::{Rules, ServerDefinition};
use crate::read::{self, MAX_NAME, StoredState};
use crate::secrets::{Keys, Secrets};
use crate::section::McpServers;
use crate::store::{SERVERS, StoredServer, StoredServers};
use added_entries::checks::{check_name, refuse, sentence};
use added_entries::{Change, Entries, EntryKind, EntryWrite};
use config::{Config, Env, ProcessEnv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
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

/// A change of a server.
pub(crate) type Planned = added_entries::Planned<ServerDefinition>;

/// The servers at the moment of a request.
pub(crate) struct Current {
    pub(crate) config: Arc<Config>,
    pub(crate) section: McpServers,
    pub(crate) keys: Keys,
    env: &'static (dyn Env + Sync),
    pub(crate) stored: StoredServers,
}

impl Current {
    pub(crate) fn new(config: Arc<Config>, stored: StoredServers, env: &'static (dyn Env + Sync)) -> Self {
        let section = config.section::<McpServers>().cloned().unwrap_or_default();
        Self { keys: Keys::read(&section.keys, env), config, section, env, stored }
    }

    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules::from_config(&self.config, &self.section, self.env)
    }

    /// Returns the secrets of a server, as far as they can be read.
    pub(crate) fn readable_secrets(&self, server: &StoredServer) -> Secrets {
        self.keys.open(&server.name, &server.secret).unwrap_or_default()
    }

    /// Returns a server without its secrets.
    pub(crate) fn body(&self, server: &StoredServer) -> ServerBody {
        let definition = server.definition.clone().unwrap_or_default();
        ServerBody::masked(server.enabled, &definition, &self.readable_secrets(server), self.rules())
    }

    /// Returns all servers without their secrets.
    pub(crate) fn mcp_config(&self) -> McpConfig {
        let servers = self.stored.entries.iter();
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
        Some(StoredState { definition, secrets: self.keys.open(&server.name, &server.secret) })
    }

    pub(crate) fn check_new(&self, name: &str) -> Result<(), UserError> {
        check_name(name, MAX_NAME)?;
        if self.section.catalog.is_taken(name) {
            refuse(
                "/name",
                format!("The config has a server or a connection with the name `{name}`. Choose another one."),
            )
        } else {
            Ok(())
        }
    }

    /// Returns the change that switches a server of the config; `None` if it is like this already.
    pub(crate) fn switch(&self, key: &str, on: bool) -> Result<Option<Planned>, UserError> {
        let is_on = !self.has_switch(key);
        // A switch stays when the config loses the server, until it is taken back.
        if !self.section.catalog.servers.iter().any(|server| server.key == key) && is_on {
            return Err(UserError::not_found());
        }
        let action = SERVERS.action(if on { "enable" } else { "disable" });
        let change = Change::Switch { key: key.to_owned(), off: !on };
        Ok((on != is_on).then(|| Planned { change, action, about: json!({ "configServer": key }) }))
    }

    /// Returns the changes that make the added servers those of the update.
    pub(crate) fn replacement(&self, update: McpConfigUpdate) -> Result<Vec<Planned>, UserError> {
        let McpConfigUpdate { mcp_servers, config_servers, .. } = update;
        if mcp_servers.len() > SERVERS.most {
            return Err(SERVERS.full("/mcpServers"));
        }
        let gone = self.stored.entries.iter().filter(|server| !mcp_servers.contains_key(&server.name));
        let mut changes: Vec<_> = gone.map(|server| SERVERS.deletion(&server.name, Some(server.version))).collect();
        for (name, value) in mcp_servers {
            let at = format!("/mcpServers/{name}");
            let body: ServerBody =
                serde_json::from_value(value).map_err(|error| UserError::invalid(&at, without_values(&error)))?;
            // One that stays as it is need not be allowed any more.
            let is_kept = self.stored.find(&name).is_ok_and(|server| self.body(server) == body);
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

impl Entries for Current {
    type Definition = ServerDefinition;
    type Body = ServerBody;

    const KIND: EntryKind = SERVERS;

    fn from_stored(config: Arc<Config>, stored: StoredServers) -> Self {
        Self::new(config, stored, &ProcessEnv)
    }

    fn stored(&self) -> &StoredServers {
        &self.stored
    }

    fn is_allowed(&self) -> bool {
        self.section.at_run_time
    }

    fn save(&self, name: &str, body: &ServerBody) -> Result<Option<Planned>, UserError> {
        let stored = self.stored.find(name).ok();
        if stored.is_none() {
            self.check_new(name)?;
        }
        let known = stored.and_then(|server| self.known(server));
        let (definition, secrets) = read::read(body, known.as_ref(), self.rules())?;
        // The same secrets are not encrypted anew, so that nothing seems to have changed.
        let is_kept = known.as_ref().is_some_and(|known| known.secrets.as_ref() == Ok(&secrets));
        let secret = match stored.filter(|_| is_kept) {
            Some(server) => server.secret.clone(),
            None => self.keys.seal(name, &secrets).map_err(|problem| UserError::invalid("/", sentence(&problem)))?,
        };
        let place = self.place(&definition, &secrets);
        let about = json!({ "server": name, "type": definition.transport.name(), "place": place,
            "agents": definition.agents, "enabled": body.enabled });
        let keeps_found = is_kept && known.is_some_and(|known| known.definition.is_reached_as(&definition));
        let write = EntryWrite { name: name.to_owned(), enabled: body.enabled, definition, secret, keeps_found };
        Ok(SERVERS.saved(&self.stored, write, about))
    }
}

/// Returns what is wrong with what was sent. A message about a type repeats the value, which may be a secret.
fn without_values(error: &serde_json::Error) -> String {
    let message = error.to_string();
    if message.starts_with("unknown field") || message.starts_with("missing field") {
        message
    } else {
        "A field has another type than it should have.".to_owned()
    }
}
