//! The connections as they are, and the changes that are planned for them.

use crate::body::ConnectionBody;
use crate::definition::ConnectionDefinition;
use crate::read::{self, MAX_NAME, Rules, StoredState};
use crate::secrets::Keys;
use crate::section::ModelConnections;
use crate::store::{CONNECTIONS, StoredConnection, StoredConnections};
use added_entries::checks::{check_name, refuse, sentence};
use added_entries::{Entries, EntryKind, EntryWrite};
use config::{Config, Env, ProcessEnv};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::sync::Arc;
use wire::UserError;

/// A change of a connection.
pub(crate) type Planned = added_entries::Planned<ConnectionDefinition>;

/// The connections at the moment of a request.
pub(crate) struct Current {
    pub(crate) config: Arc<Config>,
    pub(crate) section: ModelConnections,
    pub(crate) keys: Keys,
    pub(crate) stored: StoredConnections,
}

impl Current {
    pub(crate) fn new(config: Arc<Config>, stored: StoredConnections, env: &dyn Env) -> Self {
        let section = ModelConnections::from_config(&config);
        Self { keys: Keys::read(&section.keys, env), config, section, stored }
    }

    pub(crate) fn allows_private(&self) -> bool {
        self.section.allows_private(&self.config)
    }

    /// Returns a connection without its key.
    pub(crate) fn body(connection: &StoredConnection) -> ConnectionBody {
        ConnectionBody::masked(connection.enabled, &connection.definition.clone().unwrap_or_default())
    }

    fn known(&self, connection: &StoredConnection) -> Option<StoredState> {
        let definition = connection.definition.clone()?;
        Some(StoredState { definition, key: self.keys.open(&connection.name, &connection.secret) })
    }

    fn check_new(&self, name: &str) -> Result<(), UserError> {
        check_name(name, MAX_NAME)?;
        if self.section.catalog.has_connection(name) {
            refuse("/name", format!("The config has a connection with the name `{name}`. Choose another one."))
        } else {
            Ok(())
        }
    }
}

impl Entries for Current {
    type Definition = ConnectionDefinition;
    type Body = ConnectionBody;

    const KIND: EntryKind = CONNECTIONS;

    fn from_stored(config: Arc<Config>, stored: StoredConnections) -> Self {
        Self::new(config, stored, &ProcessEnv)
    }

    fn stored(&self) -> &StoredConnections {
        &self.stored
    }

    fn is_allowed(&self) -> bool {
        self.section.at_run_time
    }

    fn save(&self, name: &str, body: &ConnectionBody) -> Result<Option<Planned>, UserError> {
        let stored = self.stored.find(name).ok();
        if stored.is_none() {
            self.check_new(name)?;
        }
        let known = stored.and_then(|connection| self.known(connection));
        let rules =
            Rules { config: &self.config, catalog: &self.section.catalog, allow_private: self.allows_private() };
        let (definition, key) = read::read(name, body, known.as_ref(), rules)?;
        // The same key is not encrypted anew, so that nothing seems to have changed.
        let text = |key: &Option<SecretString>| key.as_ref().map(|key| key.expose_secret().to_owned());
        let is_same = |known: &StoredState| known.key.as_ref().is_ok_and(|stored| text(stored) == text(&key));
        let is_kept = known.as_ref().is_some_and(is_same);
        let secret = match stored.filter(|_| is_kept) {
            Some(connection) => connection.secret.clone(),
            None => {
                let sealed = self.keys.seal(name, key.as_ref());
                sealed.map_err(|problem| UserError::invalid("/apiKey", sentence(&problem)))?
            }
        };
        let about = json!({ "connection": name, "provider": definition.provider.name(), "host": definition.host(),
            "models": definition.models, "agents": definition.agents,
            "agent": definition.agent.as_ref().map(|agent| &agent.id), "enabled": body.enabled });
        let keeps_found = is_kept && known.is_some_and(|known| known.definition.is_reached_as(&definition));
        let write = EntryWrite { name: name.to_owned(), enabled: body.enabled, definition, secret, keeps_found };
        Ok(CONNECTIONS.saved(&self.stored, write, about))
    }
}
