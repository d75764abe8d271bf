//! The libraries that the config declares.

use super::{Knowledge, failed};
use crate::section::{DeclaredLibrary, Libraries};
use crate::store::{self, LibraryRow};
use std::path::PathBuf;
use web::times::now_millis;
use wire::UserError;

impl Knowledge {
    /// Returns the libraries that the config in use declares, with the folders that they follow.
    pub(crate) fn declared(&self) -> Vec<(DeclaredLibrary, Option<PathBuf>)> {
        let config = self.0.config.load();
        let Some(config) = config.as_ref() else { return Vec::new() };
        let base = config.folder.clone().unwrap_or_default();
        let libraries = config.section::<Libraries>().map_or(&[][..], |libraries| &libraries.0);
        let folder = |library: &DeclaredLibrary| Some(base.join(&library.folder.as_ref()?.0));
        libraries.iter().map(|library| (library.clone(), folder(library))).collect()
    }

    /// Returns whether a config is in use yet.
    pub(crate) fn has_config(&self) -> bool {
        self.0.config.load().is_some()
    }

    /// Returns a library. One that the config in use declares exists from its first use on, also before its
    /// documents are looked for.
    pub(super) async fn row(&self, id: &str) -> Result<Option<LibraryRow>, UserError> {
        let found = store::library(self.store(), id).await.map_err(failed)?;
        if found.is_some() {
            return Ok(found);
        }
        let Some(title) = self.declared_title(id) else { return Ok(None) };
        store::declare(self.store(), id, &title, now_millis()).await.map_err(failed)?;
        store::library(self.store(), id).await.map_err(failed)
    }

    fn declared_title(&self, id: &str) -> Option<String> {
        let config = self.0.config.load();
        let declared = config.as_ref()?.section::<Libraries>()?.get(id)?;
        Some(declared.title().to_owned())
    }
}
