//! Where files come from: a folder on disk, or the texts inside the binary.

use super::MAX_FILE_BYTES;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The folder of a config. Nothing outside it is ever read.
pub(crate) enum Files<'a> {
    /// A folder on disk, as the user named it.
    Folder(PathBuf),
    /// Names and texts.
    Embedded(&'a [(&'a str, &'a str)]),
}

impl Files<'_> {
    /// The folder, if it is on disk.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            // The name of a file alone is one in the current folder.
            Self::Folder(folder) if folder.as_os_str().is_empty() => Some(Path::new(".")),
            Self::Folder(folder) => Some(folder),
            Self::Embedded(_) => None,
        }
    }

    /// How diagnostics name a file.
    pub(super) fn shown(&self, name: &str) -> String {
        match self {
            Self::Folder(folder) => folder.join(name).display().to_string(),
            Self::Embedded(_) => name.to_owned(),
        }
    }

    /// Where a file stands on disk.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        match self {
            Self::Folder(folder) => Some(folder.join(name)),
            Self::Embedded(_) => None,
        }
    }

    /// The text of a file, by its name below the folder.
    ///
    /// # Errors
    /// A sentence about what is wrong, to follow "cannot read `name`: ".
    pub(super) fn read(&self, name: &str) -> Result<String, String> {
        match self {
            Self::Folder(folder) => read_below(folder, name),
            Self::Embedded(files) => files
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, text)| (*text).to_owned())
                .ok_or_else(|| "there is no such file".to_owned()),
        }
    }

    /// The names of the files beside `name`, to suggest one of them. At most some hundreds.
    pub(super) fn beside(&self, name: &str) -> Vec<String> {
        let parent = Path::new(name).parent().unwrap_or(Path::new(""));
        match self {
            Self::Folder(folder) => std::fs::read_dir(folder.join(parent))
                .into_iter()
                .flatten()
                .take(500)
                .filter_map(|file| Some(parent.join(file.ok()?.file_name()).to_str()?.to_owned()))
                .collect(),
            Self::Embedded(files) => files.iter().map(|(name, _)| (*name).to_owned()).collect(),
        }
    }
}

/// The name with `.` parts removed, if it stays below the folder by its wording alone.
pub(super) fn normalize(name: &str) -> Option<String> {
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
    // A symbolic link must not lead out either.
    if !real.starts_with(&real_root) {
        return Err("it is outside the config's folder".to_owned());
    }
    // A pipe or a device could block for ever.
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
