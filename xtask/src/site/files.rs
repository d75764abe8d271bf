//! The files of the site that are copied or generated.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of the bindings. Outside of it, files that are not in [`SiteFiles`] are removed.
const BINDINGS_FOLDER: &str = "pkg";

/// Contents of files, by path in the site.
pub(super) struct SiteFiles(BTreeMap<PathBuf, Vec<u8>>);

impl SiteFiles {
    /// Reads all files below a folder.
    pub(super) fn read_folder(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for_each(folder, &mut |path| {
            files.insert(path.strip_prefix(folder)?.to_owned(), std::fs::read(path)?);
            Ok(())
        })?;
        Ok(Self(files))
    }

    /// Adds a file.
    pub(super) fn insert(&mut self, name: &str, content: Vec<u8>) {
        self.0.insert(PathBuf::from(name), content);
    }

    /// Transforms the text files that `is_meant` selects.
    pub(super) fn transform(
        &mut self,
        is_meant: impl Fn(&Path) -> bool,
        change: impl Fn(&str) -> Result<String>,
    ) -> Result<()> {
        for (path, content) in self.0.iter_mut().filter(|(path, _)| is_meant(path)) {
            *content =
                change(std::str::from_utf8(content)?).with_context(|| format!("{}", path.display()))?.into_bytes();
        }
        Ok(())
    }

    /// Writes the files that changed, and removes files that are no longer part of the site.
    pub(super) fn write(&self, site: &Path) -> Result<()> {
        for (name, content) in &self.0 {
            let path = site.join(name);
            if std::fs::read(&path).is_ok_and(|known| known == *content) {
                continue;
            }
            std::fs::create_dir_all(path.parent().context("the file has no parent folder")?)?;
            std::fs::write(&path, content)?;
            remove_compressed_copies(&path)?;
        }
        for_each(site, &mut |path| {
            let name = path.strip_prefix(site)?;
            let original = if is_compressed_copy(path) { name.with_extension("") } else { name.to_owned() };
            if !name.starts_with(BINDINGS_FOLDER) && !self.0.contains_key(&original) {
                std::fs::remove_file(path)?;
            }
            Ok(())
        })
    }
}

/// Returns whether a file is a compressed copy.
pub(super) fn is_compressed_copy(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "br" || ending == "gz")
}

/// Removes the compressed copies of a file that was rewritten.
pub(super) fn remove_compressed_copies(file: &Path) -> Result<()> {
    for ending in ["br", "gz"] {
        let copy = with_ending(file, ending);
        if copy.exists() {
            std::fs::remove_file(copy)?;
        }
    }
    Ok(())
}

/// Returns the path with an ending appended: `file.ending`.
pub(super) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Calls `work` for each file below a folder, sorted by name.
pub(super) fn for_each(folder: &Path, work: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_type()?.is_dir() { for_each(&entry.path(), work)? } else { work(&entry.path())? }
    }
    Ok(())
}
