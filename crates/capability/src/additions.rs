//! Entries of the config that capabilities store in the database.

use crate::Definition;
use config::{Config, Language};
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

/// How a capability changes the texts of the config before they are read: administrators may change entries of its
/// files. It is applied before all additions.
///
/// When it changes something it calls [`Store::notify_config_changed`] in the same transaction.
#[derive(Clone, Copy)]
pub struct ConfigOverlay {
    /// Returns a text that changes whenever the changes do.
    pub version: for<'s> fn(&'s Store) -> BoxFuture<'s, Result<String, StoreError>>,
    /// Returns the config with the changes. Those that are not valid are left out.
    pub apply: for<'s> fn(&'s Store, &'static Language, Config) -> BoxFuture<'s, Result<Config, StoreError>>,
    /// Returns the config without the changes, because they cannot be used for this reason.
    pub leave_out: fn(Config, &str) -> Config,
}

/// Formats nothing of the functions.
impl fmt::Debug for ConfigOverlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigOverlay").finish_non_exhaustive()
    }
}

/// Which config the additions are added to.
#[derive(Debug)]
pub enum Written {
    /// One that was read from files, with the stored changes of them.
    WithOverlay(Config),
    /// One that was read from files, without the stored changes, which cannot be used for this reason.
    FilesAlone(Config, String),
    /// One that has changes already.
    Changed(Config),
}

/// The versions of all stored changes and additions at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAdditions(Vec<String>);

impl StoredAdditions {
    /// Reads the versions.
    ///
    /// # Errors
    /// The database failed.
    pub async fn read(capabilities: &[Definition], store: &Store) -> Result<Self, StoreError> {
        let mut versions = Vec::new();
        for overlay in overlays(capabilities) {
            versions.push((overlay.version)(store).await?);
        }
        for additions in all(capabilities) {
            versions.push((additions.version)(store).await?);
        }
        Ok(Self(versions))
    }

    /// Returns the config with the changes and the additions of all capabilities, and their versions.
    ///
    /// # Errors
    /// The database failed, or an entry is damaged.
    pub async fn apply(
        capabilities: &[Definition],
        language: &'static Language,
        store: &Store,
        written: Written,
    ) -> Result<(Config, Self), StoreError> {
        // Read before the entries: a change in between is noticed as a change at the next look.
        let versions = Self::read(capabilities, store).await?;
        let mut config = match written {
            Written::WithOverlay(mut config) => {
                for overlay in overlays(capabilities) {
                    config = (overlay.apply)(store, language, config).await?;
                }
                config
            }
            Written::FilesAlone(config, reason) => {
                overlays(capabilities).fold(config, |config, overlay| (overlay.leave_out)(config, &reason))
            }
            Written::Changed(config) => config,
        };
        for additions in all(capabilities) {
            config = (additions.add)(store, config).await?;
        }
        Ok((config, versions))
    }
}

fn overlays(capabilities: &[Definition]) -> impl Iterator<Item = ConfigOverlay> {
    capabilities.iter().filter_map(|capability| capability.config_overlay)
}

fn all(capabilities: &[Definition]) -> impl Iterator<Item = ConfigAdditions> {
    capabilities.iter().filter_map(|capability| capability.config_additions)
}
