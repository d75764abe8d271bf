//! From a folder downwards, within bounds.

use super::base::Base;
use super::budget::{Budget, Spent};
use super::path::BasePath;
use super::refusal::Refusal;
use cap_std::fs::{DirEntry, ReadDir};
use std::ops::ControlFlow;

/// How deep a walk goes.
const MAX_DEPTH: usize = 256;

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Everything was seen.
    Complete,
    /// The visitor has enough.
    Enough,
    /// The budget is spent.
    Spent(Spent),
}

/// A folder on the way: what of it is still to be seen, in reverse order.
struct Level {
    folder: BasePath,
    names: Vec<Name>,
}

/// A name in a folder.
struct Name {
    text: String,
    /// What the folder says it is; a link is looked at, but never walked into, so that no walk goes in circles.
    may_walk: bool,
}

/// Shows the visitor what is in a folder and, down to `depth` levels, below it: folder by folder, each sorted by name and before
/// what is in it. The memory it takes is bounded by the entries that the budget pays for.
///
/// # Errors
/// When the first folder cannot be read; others that cannot be read are left out.
pub(super) fn walk(
    base: &Base,
    start: &BasePath,
    depth: usize,
    budget: &mut Budget,
    mut visit: impl FnMut(&BasePath, &mut Budget) -> ControlFlow<()>,
) -> Result<End, Refusal> {
    let mut levels = vec![Level { folder: start.clone(), names: Vec::new() }];
    let mut spent = read(base.read_folder(start)?, &mut levels[0].names, budget).err();
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.names.pop() else {
            levels.pop();
            continue;
        };
        if let Err(spent) = budget.check_time() {
            return Ok(End::Spent(spent));
        }
        let path = level.folder.child(&name.text);
        if visit(&path, budget).is_break() {
            return Ok(End::Enough);
        }
        // With a spent budget, what was read already is still shown.
        if !name.may_walk || levels.len() >= depth.min(MAX_DEPTH) || spent.is_some() {
            continue;
        }
        if let Ok(entries) = base.read_folder(&path) {
            let mut names = Vec::new();
            spent = read(entries, &mut names, budget).err();
            levels.push(Level { folder: path, names });
        }
    }
    Ok(spent.map_or(End::Complete, End::Spent))
}

/// Reads a folder's names in reverse order, as far as the budget goes.
fn read(entries: ReadDir, names: &mut Vec<Name>, budget: &mut Budget) -> Result<(), Spent> {
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

/// None for a name that is not Unicode: no path that a model writes leads there.
fn name(entry: &DirEntry) -> Option<Name> {
    let text = entry.file_name().into_string().ok()?;
    let kind = entry.file_type().ok()?;
    // Some file systems do not keep the type beside the name.
    let known = kind.is_dir() || kind.is_file() || kind.is_symlink();
    let may_walk = kind.is_dir() || (!known && entry.metadata().is_ok_and(|metadata| metadata.is_dir()));
    Some(Name { text, may_walk })
}
