//! Files of the site that are made here or copied.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where bindings write; the rest of the site is only what [`Files`] names.
const PACKAGE: &str = "pkg";

/// Files by their place in the site.
pub(super) struct Files(BTreeMap<PathBuf, Vec<u8>>);

impl Files {
    /// All files of a folder.
    pub(super) fn under(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for_each(folder, &mut |path| {
            files.insert(path.strip_prefix(folder)?.to_owned(), std::fs::read(path)?);
            Ok(())
        })?;
        Ok(Self(files))
    }

    /// Adds one.
    pub(super) fn insert(&mut self, name: &str, content: Vec<u8>) {
        self.0.insert(PathBuf::from(name), content);
    }

    /// Changes the texts of some.
    pub(super) fn change(
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

    /// Writes those that differ, and removes what is no longer part of the site.
    pub(super) fn write(&self, site: &Path) -> Result<()> {
        for (name, content) in &self.0 {
            let path = site.join(name);
            if std::fs::read(&path).is_ok_and(|known| known == *content) {
                continue;
            }
            std::fs::create_dir_all(path.parent().context("a file in a folder")?)?;
            std::fs::write(&path, content)?;
            forget_copies(&path)?;
        }
        for_each(site, &mut |path| {
            let name = path.strip_prefix(site)?;
            let original = if is_copy(path) { name.with_extension("") } else { name.to_owned() };
            if !name.starts_with(PACKAGE) && !self.0.contains_key(&original) {
                std::fs::remove_file(path)?;
            }
            Ok(())
        })
    }
}

/// Whether a file is the compressed copy of another.
pub(super) fn is_copy(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "br" || ending == "gz")
}

/// Removes the compressed copies of a file that was written anew.
pub(super) fn forget_copies(file: &Path) -> Result<()> {
    for ending in ["br", "gz"] {
        let copy = with_ending(file, ending);
        if copy.exists() {
            std::fs::remove_file(copy)?;
        }
    }
    Ok(())
}

/// `file.ending`
pub(super) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Every file in a folder and those within it, in the order of their names.
pub(super) fn for_each(folder: &Path, work: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        match entry.file_type()?.is_dir() {
            true => for_each(&entry.path(), work)?,
            false => work(&entry.path())?,
        }
    }
    Ok(())
}
