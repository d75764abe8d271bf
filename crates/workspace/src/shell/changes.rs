//! Finds what a script has changed.

use crate::path::WorkspacePath;
use crate::tree::Tree;
use crate::workspace::{Change, Workspace, WorkspaceError, is_writable};
use bytes::Bytes;
use std::collections::{BTreeMap, HashSet};

/// The files after a script, by their paths.
#[derive(Debug, Default)]
pub(super) struct After {
    /// Those that were not written.
    pub(super) kept: HashSet<String>,
    /// Those that were written, with their contents.
    pub(super) written: BTreeMap<String, Bytes>,
}

/// Returns the changes from the files before a script to those after it: first what was deleted, so that
/// others may take the names.
pub(super) async fn changes(
    before: &Tree,
    after: &After,
    workspace: &Workspace,
) -> Result<Vec<Change>, WorkspaceError> {
    let is_there = |path: &str| after.kept.contains(path) || after.written.contains_key(path);
    let deleted = before.files().filter(|(path, _)| is_writable(path) && !is_there(path.as_str()));
    let mut changes: Vec<_> =
        deleted.map(|(path, entry)| Change { path: path.clone(), base: entry.version(), content: None }).collect();
    for (path, content) in &after.written {
        let path = written_path(path).map_err(WorkspaceError::Refused)?;
        if !is_same(before, &path, content, workspace).await? {
            let base = before.get(&path).and_then(|entry| entry.version());
            changes.push(Change { path, base, content: Some(content.clone()) });
        }
    }
    Ok(changes)
}

/// Returns a path that a script may write. The process of the script has checked it, too, but is not trusted.
fn written_path(written: &str) -> Result<WorkspacePath, String> {
    let path = WorkspacePath::parse_file(written)?;
    if path.as_str() == written && is_writable(&path) {
        Ok(path)
    } else {
        Err(format!("{written:?} cannot be written"))
    }
}

/// Returns whether a file was written with the content that it had.
async fn is_same(
    before: &Tree,
    path: &WorkspacePath,
    content: &Bytes,
    workspace: &Workspace,
) -> Result<bool, WorkspaceError> {
    match before.get(path) {
        Some(entry) if entry.size == content.len() as u64 => Ok(workspace.read(path, entry).await? == *content),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_scripts_may_write_is_accepted() {
        let accepted = |path: &str| written_path(path).is_ok();
        assert!(accepted("/workspace/a") && accepted("/outputs/b/c.txt"));
        for path in
            ["/uploads/a", "/workspace//a", "/workspace/../uploads/a", "/etc/a", "a", "/workspace", "/workspace/a/", ""]
        {
            assert!(!accepted(path), "{path}");
        }
    }
}
