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
}
