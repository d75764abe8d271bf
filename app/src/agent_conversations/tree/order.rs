//! The order and the counts of folders in folders.

use crate::texts::Text;
use std::cmp::Reverse;
use wire::organize::Folder;

/// The order of the folders that are in one, or in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// As the server lists them: in the user's order, and new ones first, by name.
    #[default]
    Own,
    Name,
    /// Those with the newest messages first.
    Use,
}

impl Order {
    /// All orders, as the user chooses one.
    pub(super) const ALL: [Self; 3] = [Self::Own, Self::Name, Self::Use];

    /// Returns the name with which the order is remembered.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Name => "name",
            Self::Use => "use",
        }
    }

    /// Returns the order with a name; the user's own for an unknown one.
    pub(super) fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|order| order.name() == name).unwrap_or_default()
    }

    /// Returns the text of the choice.
    pub(super) fn text(self) -> Text {
        match self {
            Self::Own => Text::OwnOrder,
            Self::Name => Text::ByName,
            Self::Use => Text::ByUse,
        }
    }
}

/// Returns the ids of the folders that are in one, or in none.
pub(super) fn sorted_ids(folders: &[Folder], around: Option<&str>, order: Order) -> Vec<String> {
    let mut found: Vec<&Folder> = children(folders, around).collect();
    match order {
        Order::Own => {}
        Order::Name => found.sort_by_key(|folder| folder.name.to_lowercase()),
        Order::Use => found.sort_by_key(|folder| Reverse(last_used(folders, folder))),
    }
    found.into_iter().map(|folder| folder.id.clone()).collect()
}

/// Returns when a conversation in a folder, or in the folders in it, was last used.
fn last_used(folders: &[Folder], folder: &Folder) -> Option<i64> {
    let inside = children(folders, Some(&folder.id)).map(|inner| last_used(folders, inner));
    inside.fold(folder.used_at, |newest, used_at| newest.max(used_at))
}

/// Returns the folders that are in one, or in none.
fn children<'f>(folders: &'f [Folder], around: Option<&'f str>) -> impl Iterator<Item = &'f Folder> {
    folders.iter().filter(move |folder| folder.parent_id.as_deref() == around)
}

/// Returns the position of a folder among those that are in the same one, from 0, and the ids of those.
pub(super) fn siblings<'f>(folders: &'f [Folder], id: &str) -> Option<(usize, Vec<&'f str>)> {
    let folder = folders.iter().find(|folder| folder.id == id)?;
    let all: Vec<&str> = children(folders, folder.parent_id.as_deref()).map(|folder| folder.id.as_str()).collect();
    let at = all.iter().position(|known| *known == id)?;
    Some((at, all))
}

/// Returns the ids of all folders after one of them was moved in front of another one, or behind it.
pub(super) fn placed(folders: &[Folder], id: &str, beside: &str, is_behind: bool) -> Vec<String> {
    let mut ids: Vec<String> = folders.iter().map(|folder| folder.id.clone()).filter(|known| known != id).collect();
    let at = ids.iter().position(|known| known == beside).map_or(ids.len(), |at| at + usize::from(is_behind));
    ids.insert(at, id.to_owned());
    ids
}

/// Returns the ids of all folders after one of them was moved by one position among those that are in the same one. None
/// if it is the first or the last of them.
pub(super) fn shifted(folders: &[Folder], id: &str, is_down: bool) -> Option<Vec<String>> {
    let (at, all) = siblings(folders, id)?;
    let beside = all.get(if is_down { at + 1 } else { at.checked_sub(1)? })?;
    Some(placed(folders, id, beside, is_down))
}

/// Returns the number of conversations in a folder and in the folders in it.
pub(super) fn total(folders: &[Folder], folder: &Folder) -> u32 {
    let inside = children(folders, Some(&folder.id)).map(|inner| total(folders, inner));
    inside.fold(folder.count, u32::saturating_add)
}

/// Returns the folders from above as a tree shows them, each with the number of those around it. One of them is left out,
/// with what is in it.
pub(in crate::agent_conversations) fn in_tree_order(folders: &[Folder], without: Option<&str>) -> Vec<(usize, Folder)> {
    let mut found = Vec::new();
    add(folders, None, without, 0, &mut found);
    found
}

fn add(
    folders: &[Folder],
    around: Option<&str>,
    without: Option<&str>,
    level: usize,
    found: &mut Vec<(usize, Folder)>,
) {
    for folder in children(folders, around).filter(|folder| without != Some(folder.id.as_str())) {
        found.push((level, folder.clone()));
        add(folders, Some(&folder.id), without, level + 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(id: &str, parent: Option<&str>, count: u32) -> Folder {
        Folder { parent_id: parent.map(str::to_owned), count, ..Folder::new(id, id) }
    }

    #[test]
    fn folders_are_sorted_in_each_folder() {
        let used = |folder: Folder, used_at: i64| Folder { used_at: Some(used_at), ..folder };
        let folders = [
            folder("zoo", None, 0),
            used(folder("cats", None, 1), 20),
            folder("Apes", None, 0),
            used(folder("old", Some("zoo"), 1), 10),
            used(folder("new", Some("zoo"), 1), 30),
        ];
        let check = |around: Option<&str>, order: Order, expected: &str| {
            assert_eq!(sorted_ids(&folders, around, order).join(" "), expected, "{order:?}");
            assert_eq!(Order::from_name(order.name()), order);
        };
        check(None, Order::Own, "zoo cats Apes");
        check(None, Order::Name, "Apes cats zoo");
        check(None, Order::Use, "zoo cats Apes");
        check(Some("zoo"), Order::Own, "old new");
        check(Some("zoo"), Order::Use, "new old");
        check(Some("cats"), Order::Use, "");
    }

    #[test]
    fn folders_follow_the_one_that_they_are_in() {
        let folders = [
            folder("apes", Some("zoo"), 1),
            folder("cats", None, 2),
            folder("lions", Some("cats"), 4),
            folder("zoo", None, 8),
            folder("chimps", Some("apes"), 16),
        ];
        let check = |without: Option<&str>, expected: &str| {
            let row = |(level, folder): (usize, Folder)| format!("{level}{}", folder.id);
            let rows: Vec<_> = in_tree_order(&folders, without).into_iter().map(row).collect();
            assert_eq!(rows.join(" "), expected);
        };
        check(None, "0cats 1lions 0zoo 1apes 2chimps");
        check(Some("apes"), "0cats 1lions 0zoo");
        check(Some("zoo"), "0cats 1lions");
        assert_eq!(folders.each_ref().map(|folder| total(&folders, folder)), [17, 6, 4, 25, 16]);
    }

    #[test]
    fn folders_are_moved_among_those_in_the_same_one() {
        let folders = [
            folder("apes", None, 0),
            folder("chimps", Some("apes"), 0),
            folder("cats", None, 0),
            folder("gorillas", Some("apes"), 0),
            folder("zoo", None, 0),
        ];
        let check = |id: &str, is_down: bool, expected: Option<&str>| {
            let order = shifted(&folders, id, is_down).map(|ids| ids.join(" "));
            assert_eq!(order.as_deref(), expected, "{id} {is_down}");
        };
        check("apes", false, None);
        check("apes", true, Some("chimps cats apes gorillas zoo"));
        check("zoo", false, Some("apes chimps zoo cats gorillas"));
        check("zoo", true, None);
        check("chimps", true, Some("apes cats gorillas chimps zoo"));
        check("gorillas", true, None);
        check("unknown", true, None);
        assert_eq!(placed(&folders, "zoo", "apes", false).join(" "), "zoo apes chimps cats gorillas");
        assert_eq!(siblings(&folders, "gorillas"), Some((1, vec!["chimps", "gorillas"])));
    }
}
