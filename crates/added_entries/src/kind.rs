//! A kind of entries.

use crate::checks::refuse;
use crate::entry::{Change, Definition, EntryWrite, Planned, StoredEntries};
use crate::tables::EntryTables;
use capability::Context;
use config::Config;
use serde_json::Value;
use std::sync::Arc;
use web::admin::from_store_error;
use wire::UserError;

/// A kind of entries, such as MCP servers.
#[derive(Clone, Copy, Debug)]
pub struct EntryKind {
    /// The section of the config that says what administrators may do, such as `mcpServers`.
    pub section: &'static str,
    /// The name of one in the audit log, such as `mcp_server` in `admin:add_mcp_server`.
    pub action: &'static str,
    /// The noun for one, such as `server`; also the key of its name in the details of the audit log.
    pub noun: &'static str,
    /// The plural noun, such as `MCP servers`.
    pub nouns: &'static str,
    /// The most entries that administrators can add.
    pub most: usize,
    /// The tables.
    pub tables: EntryTables,
}

/// The entries of one kind at the moment of a request, with the rules for them.
pub trait Entries: Sized + Send + Sync + 'static {
    /// An entry without its secrets, as it is stored.
    type Definition: Definition;
    /// An entry as the API shows and reads it.
    type Body: Send + Sync;

    /// The kind.
    const KIND: EntryKind;

    /// Creates it of the config in use and of what is stored. Secrets come from the environment of the process.
    fn from_stored(config: Arc<Config>, stored: StoredEntries<Self::Definition>) -> Self;

    /// Returns the stored entries.
    fn stored(&self) -> &StoredEntries<Self::Definition>;

    /// Returns whether the config allows changes at run time.
    fn is_allowed(&self) -> bool;

    /// Validates the submitted entry, and returns the change that stores it; `None` if it is stored like this already.
    ///
    /// # Errors
    /// 422 for invalid fields.
    fn save(&self, name: &str, body: &Self::Body) -> Result<Option<Planned<Self::Definition>>, UserError>;

    /// # Errors
    /// 422 if the config does not allow changes at run time.
    fn check_allowed(&self) -> Result<(), UserError> {
        let EntryKind { section, nouns, .. } = Self::KIND;
        if self.is_allowed() {
            Ok(())
        } else {
            refuse("/", format!("The config does not allow changes of {nouns} at run time (`{section}.atRunTime`)."))
        }
    }
}

/// Loads the entries of a kind.
///
/// # Errors
/// The database is not available.
pub async fn load<E: Entries>(context: &Context) -> Result<E, UserError> {
    let stored = E::KIND.tables.read(&context.store, E::KIND.most).await.map_err(from_store_error)?;
    Ok(E::from_stored(context.current.config(), stored))
}

impl EntryKind {
    /// Returns the change that stores an entry, with what the audit log says of it; `None` if it is stored like this
    /// already.
    pub fn saved<D: Definition>(
        &self,
        stored: &StoredEntries<D>,
        write: EntryWrite<D>,
        about: Value,
    ) -> Option<Planned<D>> {
        let change = stored.change(write)?;
        let act = if matches!(change, Change::Add(_)) { "add" } else { "change" };
        Some(Planned { change, action: self.action(act), about })
    }

    /// Returns the deletion of an entry, with a version of the one that has it.
    pub fn deletion<D>(&self, name: &str, version: Option<i64>) -> Planned<D> {
        let change = Change::Delete { name: name.to_owned(), version };
        Planned { change, action: self.action("delete"), about: self.about(name) }
    }

    /// Returns an action as the audit log names it, without `admin:`.
    pub fn action(&self, act: &str) -> String {
        format!("{act}_{}", self.action)
    }

    /// Returns the details of an action that is about an entry.
    pub(crate) fn about(&self, name: &str) -> Value {
        Value::from_iter([(self.noun, name)])
    }

    /// Says that there are too many entries. `path` is the field.
    pub fn full(&self, path: &str) -> UserError {
        let message = format!("There are at most {} added {}s. Delete one first.", self.most, self.noun);
        UserError::invalid(path, message)
    }
}
