//! The files of a config: in a folder on disk, or embedded in the binary.

use crate::{ConfigSource, MAX_FILE_BYTES};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The files of a config. Nothing outside its folder is ever read.
pub enum ConfigFiles<'a> {
    /// A folder on disk, as the user named it.
    Folder(PathBuf),
    /// Pairs of a file name and a text.
    Embedded(&'a [(&'a str, &'a str)]),
    /// The files of a config that was read before.
    Captured(&'a ConfigSource),
}

impl ConfigFiles<'_> {
    /// Returns the folder, if the files are on disk.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            // A file name without a folder is in the current folder.
            Self::Folder(folder) if folder.as_os_str().is_empty() => Some(Path::new(".")),
            Self::Folder(folder) => Some(folder),
            Self::Embedded(_) => None,
            // The folder was named when the files were read.
            Self::Captured(source) => source.folder.as_deref(),
        }
    }

    /// Returns the name of a file for diagnostics.
    pub(crate) fn display_name(&self, name: &str) -> String {
        match self {
            Self::Folder(folder) => folder.join(name).display().to_string(),
            Self::Embedded(_) | Self::Captured(_) => name.to_owned(),
        }
    }

    /// Returns the path of a file, if the files are on disk.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        match self {
            Self::Folder(folder) => Some(folder.join(name)),
            Self::Embedded(_) | Self::Captured(_) => None,
        }
    }

    /// Reads a file by its name relative to the folder.
    ///
    /// # Errors
    /// The reason, for the end of the message "cannot read `name`: ".
    pub(crate) fn read(&self, name: &str) -> Result<String, String> {
        match self {
            Self::Folder(folder) => read_below(folder, name),
            Self::Embedded(files) => files
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, text)| (*text).to_owned())
                .ok_or_else(|| "there is no such file".to_owned()),
            Self::Captured(source) => {
                source.text(name).map(str::to_owned).ok_or_else(|| "the config does not include it".to_owned())
            }
        }
    }

    /// Lists the files in the folder of `name`, at most some hundreds, for a suggestion.
    pub(crate) fn beside(&self, name: &str) -> Vec<String> {
        let parent = Path::new(name).parent().unwrap_or(Path::new(""));
        match self {
            Self::Folder(folder) => std::fs::read_dir(folder.join(parent))
                .into_iter()
                .flatten()
                .take(500)
                .filter_map(|file| Some(parent.join(file.ok()?.file_name()).to_str()?.to_owned()))
                .collect(),
            Self::Embedded(files) => files.iter().map(|(name, _)| (*name).to_owned()).collect(),
            Self::Captured(source) => source.files.iter().map(|file| file.name.to_string()).collect(),
        }
    }
}

/// Resolves `.` and `..` in a name. `None` if the name leads out of the folder.
pub(crate) fn normalize(name: &str) -> Option<String> {
    let mut parts = Vec::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn read_below(root: &Path, name: &str) -> Result<String, String> {
    let missing = |_| "there is no such file".to_owned();
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let real_root = root.canonicalize().map_err(missing)?;
    let real = root.join(name).canonicalize().map_err(missing)?;
    // A symbolic link must not lead out of the folder.
    if !real.starts_with(&real_root) {
        return Err("it is outside the config's folder".to_owned());
    }
    // Reading a pipe or a device could block for ever.
    if !real.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(&real)
        .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| error.kind().to_string())?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8")
    })
}
