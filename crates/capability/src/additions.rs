//! Entries of the config that capabilities store in the database.

use crate::Definition;
use config::Config;
use futures::future::BoxFuture;
use std::fmt;
use store::{Store, StoreError};

/// How a capability adds entries to the config that are stored in the database, such as agents that
/// administrators create.
///
/// When it changes an entry it calls [`Store::notify_config_changed`] in the same transaction, so
/// that other servers load it.
#[derive(Clone, Copy)]
pub struct ConfigAdditions {
    /// Returns a text that changes whenever the entries change.
    pub version: for<'s> fn(&'s Store) -> BoxFuture<'s, Result<String, StoreError>>,
    /// Returns the config with the entries. Those that the config does not allow are left out.
    pub add: for<'s> fn(&'s Store, Config) -> BoxFuture<'s, Result<Config, StoreError>>,
}

/// Formats nothing of the functions.
impl fmt::Debug for ConfigAdditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigAdditions").finish_non_exhaustive()
    }
}

/// The versions of all stored additions at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAdditions(Vec<String>);

impl StoredAdditions {
    /// Reads the versions.
    ///
    /// # Errors
    /// The database failed.
    pub async fn read(capabilities: &[Definition], store: &Store) -> Result<Self, StoreError> {
        let mut versions = Vec::new();
        for additions in all(capabilities) {
            versions.push((additions.version)(store).await?);
        }
        Ok(Self(versions))
    }

    /// Returns the config with the additions of all capabilities, and their versions.
    ///
    /// # Errors
    /// The database failed, or an entry is damaged.
    pub async fn apply(
        capabilities: &[Definition],
        store: &Store,
        mut config: Config,
    ) -> Result<(Config, Self), StoreError> {
        // Read before the entries: a change in between is noticed as a change at the next look.
        let versions = Self::read(capabilities, store).await?;
        for additions in all(capabilities) {
            config = (additions.add)(store, config).await?;
        }
        Ok((config, versions))
    }
}

fn all(capabilities: &[Definition]) -> impl Iterator<Item = ConfigAdditions> {
    capabilities.iter().filter_map(|capability| capability.config_additions)
}
