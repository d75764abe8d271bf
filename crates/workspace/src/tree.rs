//! The files of a workspace at a moment, without their contents.

use crate::path::{OUTPUTS, UPLOADS, WORKSPACE, WorkspacePath, folded};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The most lines of a listing.
const MAX_LINES: usize = 500;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    /// The row of `files` with the content.
    pub(crate) file_id: String,
    /// Its origin.
    pub(crate) origin: Origin,
    /// The size in bytes. That of the text of an attached document is not known before it is read.
    pub(crate) size: u64,
    /// The media type that was detected from its bytes and its name.
    pub(crate) media_type: String,
    /// When this version was written; Unix time, milliseconds.
    pub(crate) changed_at: i64,
}

/// The origin of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// It is stored in the workspace, with the number of this version.
    Stored(i64),
    /// The user attached it to a message.
    Attached,
    /// The text of a document that the user attached.
    TextOf,
}

impl FileEntry {
    /// Returns the number of the version; `None` for what is attached to a message.
    pub(crate) fn version(&self) -> Option<i64> {
        match self.origin {
            Origin::Stored(version) => Some(version),
            Origin::Attached | Origin::TextOf => None,
        }
    }
}

/// The files by their paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree(BTreeMap<WorkspacePath, FileEntry>);

impl Tree {
    pub(crate) fn insert(&mut self, path: WorkspacePath, entry: FileEntry) {
        self.0.insert(path, entry);
    }

    pub(crate) fn get(&self, path: &WorkspacePath) -> Option<&FileEntry> {
        self.0.get(path)
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&WorkspacePath, &FileEntry)> {
        self.0.iter()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(WorkspacePath::as_str)
    }

    /// Returns whether there is a folder: one of the trees, or one with a file in it.
    pub(crate) fn is_folder(&self, path: &WorkspacePath) -> bool {
        path.is_tree() || self.0.keys().any(|file| file.is_below(path.as_str()))
    }

    /// Returns the listing of a folder, down to `depth` levels: folders with the number of their files, and
    /// files with their sizes.
    pub(crate) fn listing(&self, folder: &WorkspacePath, depth: usize) -> String {
        let top = folder.as_str().trim_end_matches('/');
        let mut lines: BTreeMap<String, (usize, Option<&FileEntry>)> = BTreeMap::new();
        if folder.as_str() == "/" {
            lines.extend([OUTPUTS, UPLOADS, WORKSPACE].map(|tree| (tree[1..].to_owned(), (0, None))));
        }
        for (path, entry) in self.0.iter().filter(|(path, _)| path.is_below(top)) {
            let below = &path.as_str()[top.len() + 1..];
            let ends: Vec<_> = below.match_indices('/').map(|(at, _)| at).collect();
            for end in ends.iter().take(depth) {
                lines.entry(below[..*end].to_owned()).or_default().0 += 1;
            }
            if ends.len() < depth {
                lines.insert(below.to_owned(), (0, Some(entry)));
            }
        }
        let mut text = format!("{}\n", folder.as_str());
        for (path, (count, entry)) in lines.iter().take(MAX_LINES) {
            let (indent, name) = ("  ".repeat(path.matches('/').count() + 1), path.rsplit('/').next().unwrap_or(path));
            // Writing to a string cannot fail.
            let _ = match entry {
                Some(FileEntry { origin: Origin::TextOf, .. }) => {
                    writeln!(text, "{indent}{name} (the text of the document)")
                }
                Some(entry) => writeln!(text, "{indent}{name} ({} bytes)", entry.size),
                None => writeln!(text, "{indent}{name}/ ({count} files)"),
            };
        }
        if lines.is_empty() {
            text.push_str("  (empty)\n");
        }
        if lines.len() > MAX_LINES {
            let _ = writeln!(text, "[{} more lines are left out: list a folder of it.]", lines.len() - MAX_LINES);
        }
        text
    }
}

/// Checks whether a file may be created at a path, beside files at these.
///
/// # Errors
/// It is where a folder is, below a file, or its name is too like another one.
pub(crate) fn check_new<'p>(path: &WorkspacePath, others: impl Iterator<Item = &'p str>) -> Result<(), String> {
    let (text, wanted) = (path.as_str(), folded(path.as_str()));
    let steps: Vec<(&str, String)> = path.folders().map(|folder| (folder, folded(folder))).collect();
    for other in others.filter(|other| *other != text) {
        let known = folded(other);
        if known == wanted {
            return Err(format!(
                "`{other}` exists, and the names differ only in upper and lower case or in like characters"
            ));
        }
        if known.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('/')) {
            return Err("there is a folder with this name".to_owned());
        }
        for (folder, folded_folder) in &steps {
            if known == *folded_folder {
                return Err(format!("`{other}` is a file, not a folder"));
            }
            let is_alike = known.strip_prefix(folded_folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
            let is_same = other.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            if is_alike && !is_same {
                return Err(format!(
                    "the folder of `{other}` exists, and the names differ only in upper and lower case or in like characters"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for path in paths {
            let entry = FileEntry {
                file_id: String::new(),
                origin: Origin::Stored(1),
                size: path.len() as u64,
                media_type: String::new(),
                changed_at: 0,
            };
            tree.insert(WorkspacePath::parse_file(path).unwrap(), entry);
        }
        tree
    }

    #[test]
    fn folders_are_listed() {
        let tree = tree(&["a.md", "data/b.csv", "data/deep/c.csv", "/outputs/report.md"]);
        let list = |folder: &str, depth| tree.listing(&WorkspacePath::parse(folder).unwrap(), depth);
        insta::assert_snapshot!(list("/", 2), @"
        /
          outputs/ (1 files)
            report.md (18 bytes)
          uploads/ (0 files)
          workspace/ (3 files)
            a.md (4 bytes)
            data/ (2 files)
        ");
        insta::assert_snapshot!(list("/workspace/data", 1), @"
        /workspace/data
          b.csv (10 bytes)
          deep/ (1 files)
        ");
        insta::assert_snapshot!(list("/uploads", 2), @"
        /uploads
          (empty)
        ");
    }

    #[test]
    fn names_do_not_collide() {
        let tree = tree(&["data/b.csv", "/outputs/Report.md"]);
        let check = |path: &str, expected: &str| {
            let checked = check_new(&WorkspacePath::parse_file(path).unwrap(), tree.paths());
            assert_eq!(checked.err().unwrap_or_default(), expected, "{path}");
        };
        check("data/b.csv", "");
        check("data/c.csv", "");
        check(
            "/outputs/report.md",
            "`/outputs/Report.md` exists, and the names differ only in upper and lower case or in like characters",
        );
        check("data", "there is a folder with this name");
        check("DATA", "there is a folder with this name");
        check("data/b.csv/c", "`/workspace/data/b.csv` is a file, not a folder");
        check(
            "Data/c.csv",
            "the folder of `/workspace/data/b.csv` exists, and the names differ only in upper and lower case or in like characters",
        );
    }
}
