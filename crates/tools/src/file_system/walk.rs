//! Walks a folder within limits.

use super::base::BaseFolder;
use super::budget::{BudgetLimit, WalkBudget};
use super::path::BasePath;
use super::refusal::PathRefusal;
use cap_std::fs::{DirEntry, ReadDir};
use std::ops::ControlFlow;

/// The maximum depth of a walk.
const MAX_DEPTH: usize = 256;

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkEnd {
    /// Everything was visited.
    Complete,
    /// The visitor stopped the walk.
    Enough,
    /// The budget is used up.
    Spent(BudgetLimit),
}

/// A folder on the current path, with its entries that are still to be visited, in reverse order.
struct WalkLevel {
    folder: BasePath,
    names: Vec<WalkEntry>,
}

/// An entry of a folder.
struct WalkEntry {
    text: String,
    /// Whether the folder's entry has the type of a folder. A link is visited but not followed, so
    /// that a walk cannot go in circles.
    may_walk: bool,
}

/// Visits the entries of a folder and, down to `depth` levels, of its subfolders: folder by folder,
/// each sorted by name, a folder before its entries. The memory is bounded by the budget's entries.
///
/// # Errors
/// The first folder cannot be read. Other folders that cannot be read are omitted.
pub(super) fn walk(
    base: &BaseFolder,
    start: &BasePath,
    depth: usize,
    budget: &mut WalkBudget,
    mut visit: impl FnMut(&BasePath, &mut WalkBudget) -> ControlFlow<()>,
) -> Result<WalkEnd, PathRefusal> {
    let mut levels = vec![WalkLevel { folder: start.clone(), names: Vec::new() }];
    let mut spent = read(base.read_folder(start)?, &mut levels[0].names, budget).err();
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.names.pop() else {
            levels.pop();
            continue;
        };
        if let Err(spent) = budget.check_time() {
            return Ok(WalkEnd::Spent(spent));
        }
        let path = level.folder.child(&name.text);
        if visit(&path, budget).is_break() {
            return Ok(WalkEnd::Enough);
        }
        // Entries that were read before the budget was used up are still visited.
        if !name.may_walk || levels.len() >= depth.min(MAX_DEPTH) || spent.is_some() {
            continue;
        }
        if let Ok(entries) = base.read_folder(&path) {
            let mut names = Vec::new();
            spent = read(entries, &mut names, budget).err();
            levels.push(WalkLevel { folder: path, names });
        }
    }
    Ok(spent.map_or(WalkEnd::Complete, WalkEnd::Spent))
}

/// Reads a folder's entries in reverse order, as far as the budget allows.
fn read(entries: ReadDir, names: &mut Vec<WalkEntry>, budget: &mut WalkBudget) -> Result<(), BudgetLimit> {
    let mut paid = Ok(());
    for entry in entries {
        paid = budget.take_entry();
        if paid.is_err() {
            break;
        }
        names.extend(entry.ok().and_then(|entry| name(&entry)));
    }
    names.sort_unstable_by(|one, other| other.text.cmp(&one.text));
    paid
}

/// Returns `None` for a name that is not Unicode: no path of a model can lead there.
fn name(entry: &DirEntry) -> Option<WalkEntry> {
    let text = entry.file_name().into_string().ok()?;
    let kind = entry.file_type().ok()?;
    // Some file systems do not store the type with the name.
    let known = kind.is_dir() || kind.is_file() || kind.is_symlink();
    let may_walk = kind.is_dir() || (!known && entry.metadata().is_ok_and(|metadata| metadata.is_dir()));
    Some(WalkEntry { text, may_walk })
}
