//! The tree of an owner's folders.

use std::collections::HashMap;

/// The most levels of folders in folders.
pub const MAX_FOLDER_LEVELS: usize = 3;

/// The outcome of moving a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveFolderOutcome {
    /// It is where it was to be.
    Moved,
    /// One of the folders is unknown, or belongs to another user.
    Unknown,
    /// The folder would be in itself.
    IntoItself,
    /// There would be more than [`MAX_FOLDER_LEVELS`].
    TooDeep,
    /// The folder was to move into a new one, and its owner has [`crate::MAX_FOLDERS`].
    TooMany,
}

/// The folders of an owner, each with the folder that it is in.
pub(super) type Parents = HashMap<String, Option<String>>;

/// Returns whether a folder can be moved into another one, or out of any folder.
pub(super) fn check_move(parents: &Parents, id: &str, parent: Option<&str>) -> MoveFolderOutcome {
    let is_unknown = |id: &str| !parents.contains_key(id);
    if is_unknown(id) || parent.is_some_and(is_unknown) {
        return MoveFolderOutcome::Unknown;
    }
    let above: Vec<&str> = parent.map(|parent| path(parents, parent).collect()).unwrap_or_default();
    if above.contains(&id) {
        return MoveFolderOutcome::IntoItself;
    }
    let levels_below = parents.keys().filter_map(|inside| path(parents, inside).position(|folder| folder == id));
    let levels = above.len() + 1 + levels_below.max().unwrap_or_default();
    if levels > MAX_FOLDER_LEVELS { MoveFolderOutcome::TooDeep } else { MoveFolderOutcome::Moved }
}

/// Returns a folder and those around it, from the inside out. It ends, also if rows are damaged.
fn path<'p>(parents: &'p Parents, id: &'p str) -> impl Iterator<Item = &'p str> {
    let around = move |id: &&'p str| parents.get(*id)?.as_deref().filter(|parent| parents.contains_key(*parent));
    std::iter::successors(Some(id), around).take(parents.len())
}

#[cfg(test)]
mod tests;
