//! The order and the counts of folders in folders.

use wire::organize::Folder;

/// Returns the folders that are in one, or in none.
pub(super) fn children<'f>(folders: &'f [Folder], around: Option<&'f str>) -> impl Iterator<Item = &'f Folder> {
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
