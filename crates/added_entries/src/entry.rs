//! Entries as they are stored, and changes of them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use wire::UserError;

/// The contents of an entry without its secrets. It is stored as JSON.
pub trait Definition: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> Definition for D {}

/// An added entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<D> {
    /// The name, which is unique in its kind.
    pub name: String,
    /// Grows with each change. An entry that is deleted and added again continues above its earlier versions.
    pub version: i64,
    /// Whether it is switched on.
    pub enabled: bool,
    /// `None` if the row is damaged.
    pub definition: Option<D>,
    /// The encrypted secrets; empty if there are none.
    pub secret: String,
    /// The administrator who has added it.
    pub created_by: String,
    /// The administrator who has changed it last.
    pub changed_by: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub changed_at: i64,
    /// The findings on it, such as results of tests, as JSON by the column.
    pub found: BTreeMap<&'static str, String>,
}

impl<D> Entry<D> {
    /// Returns a finding on it, for example the result of a test; the column is one of `EntryTables::found`.
    pub fn found<T: DeserializeOwned>(&self, column: &str) -> Option<T> {
        serde_json::from_str(self.found.get(column)?).ok()
    }
}

/// The columns of an entry that are written.
#[derive(Clone, Debug)]
pub struct EntryWrite<D> {
    /// The name.
    pub name: String,
    /// Whether it is switched on.
    pub enabled: bool,
    /// The entry without its secrets.
    pub definition: D,
    /// The encrypted secrets; empty if there are none.
    pub secret: String,
    /// For a change: whether it is reached as before, so that what was found about it still holds.
    pub keeps_found: bool,
}

/// A change.
#[derive(Clone, Debug)]
pub enum Change<D> {
    /// Adds an entry.
    Add(EntryWrite<D>),
    /// Changes the entry with this version.
    Update(EntryWrite<D>, i64),
    /// Switches the entry with this version on or off.
    Enable {
        /// The name.
        name: String,
        /// The version that the change is based on.
        version: i64,
        /// Whether it is switched on.
        enabled: bool,
    },
    /// Deletes an entry, with a version only the one that has it.
    Delete {
        /// The name.
        name: String,
        /// The version that the change is based on.
        version: Option<i64>,
    },
    /// Switches an entry of the config on or off, in kinds that have a table for it.
    Switch {
        /// Identifies the entry.
        key: String,
        /// Whether it is switched off.
        off: bool,
    },
}

/// A change with what the audit log says of it.
#[derive(Clone, Debug)]
pub struct Planned<D> {
    /// The change.
    pub change: Change<D>,
    /// The action, without `admin:`.
    pub action: String,
    /// The details.
    pub about: Value,
}

/// The outcome of changes. Only [`ChangeOutcome::Done`] writes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// They are stored.
    Done,
    /// There is no such entry.
    Unknown,
    /// Another administrator has changed it meanwhile.
    Changed,
    /// There is an entry with this name.
    Taken,
    /// There are too many entries.
    Full,
}

/// The author and the time of a change.
#[derive(Clone, Debug)]
pub struct Author {
    /// The administrator.
    pub user_id: String,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// All entries of a kind at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntries<D> {
    /// Grows with each change; 0 at first.
    pub version: i64,
    /// The added entries by their names.
    pub entries: Vec<Entry<D>>,
    /// The keys of the config's entries that are switched off.
    pub switched_off: Vec<String>,
}

impl<D> Default for StoredEntries<D> {
    fn default() -> Self {
        Self { version: 0, entries: Vec::new(), switched_off: Vec::new() }
    }
}

impl<D: Definition> StoredEntries<D> {
    /// Returns an entry.
    ///
    /// # Errors
    /// 404.
    pub fn find(&self, name: &str) -> Result<&Entry<D>, UserError> {
        self.entries.iter().find(|entry| entry.name == name).ok_or_else(UserError::not_found)
    }

    /// Returns the change that stores an entry, whether it is new or known; `None` if it is stored like this already.
    pub fn change(&self, write: EntryWrite<D>) -> Option<Change<D>> {
        let Ok(known) = self.find(&write.name) else { return Some(Change::Add(write)) };
        let is_same = known.enabled == write.enabled
            && known.definition.as_ref() == Some(&write.definition)
            && known.secret == write.secret;
        (!is_same).then(|| Change::Update(write, known.version))
    }
}
