//! The connections as they are, and the changes that are planned for them.

use crate::body::ConnectionBody;
use crate::read::{self, Rules, StoredState, check_name, sentence};
use crate::secrets::Keys;
use crate::section::ModelConnections;
use crate::store::{self, Change, ConnectionWrite, MAX_CONNECTIONS, StoredCatalog, StoredConnection};
use capability::Context;
use config::{Config, Env, ProcessEnv};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::sync::Arc;
use web::admin::from_store_error;
use wire::UserError;

/// A change with what the audit log says of it.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) change: Change,
    pub(crate) action: &'static str,
    pub(crate) about: Value,
}

/// The connections at the moment of a request.
pub(crate) struct Current {
    pub(crate) config: Arc<Config>,
    pub(crate) section: ModelConnections,
    pub(crate) keys: Keys,
    pub(crate) stored: StoredCatalog,
}

impl Current {
    pub(crate) async fn load(context: &Context) -> Result<Self, UserError> {
        let stored = store::read(&context.store).await.map_err(from_store_error)?;
        Ok(Self::new(context.current.config(), stored, &ProcessEnv))
    }

    pub(crate) fn new(config: Arc<Config>, stored: StoredCatalog, env: &dyn Env) -> Self {
        let section = ModelConnections::from_config(&config);
        Self { keys: Keys::read(&section.keys, env), config, section, stored }
    }

    pub(crate) fn allows_private(&self) -> bool {
        self.section.allows_private(&self.config)
    }

    /// Returns an added connection.
    ///
    /// # Errors
    /// 404.
    pub(crate) fn find(&self, name: &str) -> Result<&StoredConnection, UserError> {
        self.stored.connections.iter().find(|connection| connection.name == name).ok_or_else(UserError::not_found)
    }

    /// Returns a connection without its key.
    pub(crate) fn body(connection: &StoredConnection) -> ConnectionBody {
        ConnectionBody::masked(connection.enabled, &connection.definition.clone().unwrap_or_default())
    }

    fn known(&self, connection: &StoredConnection) -> Option<StoredState> {
        let definition = connection.definition.clone()?;
        Some(StoredState { definition, key: self.keys.open(&connection.name, &connection.secret) })
    }

    /// # Errors
    /// 422 if the config does not allow changes.
    pub(crate) fn check_allowed(&self) -> Result<(), UserError> {
        match self.section.at_run_time {
            true => Ok(()),
            false => Err(UserError::invalid(
                "/",
                "The config does not allow changes of connections at run time (`modelConnections.atRunTime`).",
            )),
        }
    }

    /// Returns the change that stores a connection; `None` if it is stored like this already.
    ///
    /// # Errors
    /// 422 for invalid fields.
    pub(crate) fn save(&self, name: &str, body: &ConnectionBody) -> Result<Option<Planned>, UserError> {
        let stored = self.find(name).ok();
        if stored.is_none() {
            self.check_new(name)?;
        }
        let known = stored.and_then(|connection| self.known(connection));
        let rules =
            Rules { config: &self.config, catalog: &self.section.catalog, allow_private: self.allows_private() };
        let (definition, key) = read::read(name, body, known.as_ref(), rules)?;
        // The same key is not encrypted anew, so that nothing seems to have changed.
        let text = |key: Option<&secrecy::SecretString>| key.map(|key| key.expose_secret().to_owned());
        let same_key = known
            .as_ref()
            .is_some_and(|known| known.key.as_ref().is_ok_and(|stored| text(stored.as_ref()) == text(key.as_ref())));
        let secret = match stored.filter(|_| same_key) {
            Some(connection) => connection.secret.clone(),
            None => {
                let sealed = self.keys.seal(name, key.as_ref());
                sealed.map_err(|problem| UserError::invalid("/apiKey", sentence(&problem)))?
            }
        };
        let about = json!({ "connection": name, "provider": definition.provider.name(), "host": definition.host(),
            "models": definition.models, "agents": definition.agents,
            "agent": definition.agent.as_ref().map(|agent| &agent.id), "enabled": body.enabled });
        let keeps_found = same_key
            && known.is_some_and(|known| {
                known.definition.provider == definition.provider && known.definition.address() == definition.address()
            });
        let write = ConnectionWrite { name: name.to_owned(), enabled: body.enabled, definition, secret, keeps_found };
        Ok(match stored {
            None => Some(Planned { change: Change::Add(write), action: "add_model_connection", about }),
            Some(connection) if is_same(connection, &write) => None,
            Some(connection) => {
                let change = Change::Update(write, connection.version);
                Some(Planned { change, action: "change_model_connection", about })
            }
        })
    }

    fn check_new(&self, name: &str) -> Result<(), UserError> {
        check_name(name)?;
        if self.section.catalog.has_connection(name) {
            let message = format!("The config has a connection with the name `{name}`. Choose another one.");
            return Err(UserError::invalid("/name", message));
        }
        Ok(())
    }
}

fn is_same(connection: &StoredConnection, write: &ConnectionWrite) -> bool {
    connection.enabled == write.enabled
        && connection.definition.as_ref() == Some(&write.definition)
        && connection.secret == write.secret
}

pub(crate) fn deletion(name: &str, version: Option<i64>) -> Planned {
    let change = Change::Delete { name: name.to_owned(), version };
    Planned { change, action: "delete_model_connection", about: json!({ "connection": name }) }
}

pub(crate) fn full(path: &str) -> UserError {
    UserError::invalid(path, format!("There are at most {MAX_CONNECTIONS} added connections. Delete one first."))
}
