//! A copy of the sources for builds with a patch.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with a copy of the repository's files.
pub(super) struct SourceCopy {
    folder: PathBuf,
}

impl SourceCopy {
    /// Names the folder; it is created by [`SourceCopy::update`].
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the copy equal to the files of the repository, except for the patched ones. Changes
    /// that are not committed are included.
    ///
    /// A file with the right content is not written: cargo compiles again what has a new time.
    pub(super) fn update(&self, root: &Path, patched: &BTreeMap<PathBuf, String>) -> Result<()> {
        let files = repository_files(root)?;
        for file in &files {
            let content = match patched.get(file) {
                Some(content) => content.clone().into_bytes(),
                None => fs::read(root.join(file)).with_context(|| format!("{} cannot be read", file.display()))?,
            };
            let path = self.folder.join(file);
            if fs::read(&path).is_ok_and(|old| old == content) {
                continue;
            }
            fs::create_dir_all(path.parent().context("a file without a folder")?)?;
            fs::write(&path, content)?;
        }
        self.remove_others(&self.folder, &files)
    }

    /// Removes files that the repository no longer has. A migration, for example, would be compiled
    /// in.
    fn remove_others(&self, folder: &Path, files: &BTreeSet<PathBuf>) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.remove_others(&path, files)?;
            } else if !files.contains(path.strip_prefix(&self.folder)?) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// Returns the paths of all files that git does not ignore.
fn repository_files(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let listed = git.output().context("git cannot be run")?;
    ensure!(listed.status.success(), "git ls-files failed: {}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout)?;
    // A file that was deleted without `git rm` is still listed.
    Ok(names.split_terminator('\0').map(PathBuf::from).filter(|file| root.join(file).is_file()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_follows_the_sources_and_the_patch() {
        let (root, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = root.path();
        let git = Command::new("git").args(["init", "--quiet"]).current_dir(root).status();
        assert!(git.unwrap().success());
        for (name, text) in [(".gitignore", "ignored\n"), ("a/one.rs", "1"), ("two.rs", "2"), ("ignored", "3")] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        }
        let copy = SourceCopy::new(copy.path().join("source"));
        let read = |name: &str| fs::read_to_string(copy.folder().join(name)).ok();
        let patched = BTreeMap::from([(PathBuf::from("a/one.rs"), "patched".to_owned())]);
        copy.update(root, &patched).unwrap();
        assert_eq!(["a/one.rs", "two.rs", "ignored"].map(read), [Some("patched".into()), Some("2".into()), None]);

        let written = fs::metadata(copy.folder().join(".gitignore")).unwrap().modified().unwrap();
        fs::remove_file(root.join("two.rs")).unwrap();
        copy.update(root, &BTreeMap::new()).unwrap();
        assert_eq!(["a/one.rs", "two.rs"].map(read), [Some("1".into()), None]);
        assert_eq!(fs::metadata(copy.folder().join(".gitignore")).unwrap().modified().unwrap(), written);
    }
}
