//! The texts of a config as they were read, so that it can be read again with changes and be shown.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The texts of a config as they were read. Changes of its files do not change it.
#[derive(Clone, Default)]
pub struct ConfigSource {
    /// The folder of the main file as the user named it, if the files are on disk.
    pub folder: Option<PathBuf>,
    /// The main file and all that it includes, in the order of inclusion.
    pub files: Vec<SourceText>,
}

/// A file of a config.
#[derive(Clone)]
pub struct SourceText {
    /// Its name in the folder of the config.
    pub name: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
}

impl ConfigSource {
    /// Returns the name of the main file.
    pub fn main(&self) -> &str {
        self.files.first().map_or("", |file| &file.name)
    }

    /// Returns the text of a file.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|file| &*file.name == name).map(|file| &*file.text)
    }
}

/// Formats the names of the files: their texts may hold secrets.
impl fmt::Debug for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files.iter().map(|file| &file.name)).finish()
    }
}
