//! How a freshly loaded beginning of the list joins what was loaded before.

use wire::api::{ConversationList, ConversationSummary};

/// The list after its first page was loaded again: the fresh page, then what was known below it. A known conversation that should
/// be on the fresh page and is not, was deleted. Linear in the known items times the page's length.
pub(crate) fn merge(known: Vec<ConversationSummary>, fresh: ConversationList) -> ConversationList {
    let (Some(last), Some(next)) = (fresh.items.last(), &fresh.next) else {
        return fresh;
    };
    let end = place(last);
    let below = |item: &ConversationSummary| place(item) < end && fresh.items.iter().all(|other| other.id != item.id);
    let mut rest: Vec<ConversationSummary> = Vec::new();
    for item in known.iter().filter(|item| below(item)) {
        // They are in order but for what has changed since: nearly each belongs to the end.
        let at = rest.partition_point(|before| place(before) >= place(item));
        rest.insert(at, item.clone());
    }
    // With nothing below, the fresh page's own cursor goes on; else the caller's, which is further down.
    let next = rest.is_empty().then(|| next.clone());
    ConversationList { items: fresh.items.into_iter().chain(rest).collect(), next }
}

/// What the list is ordered by, the greatest first.
fn place(item: &ConversationSummary) -> (bool, i64, String) {
    (item.pinned, item.updated_at, item.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<ConversationSummary> {
        let item = |word: &str| {
            let (id, updated_at) = word.split_once('@').unwrap();
            ConversationSummary {
                id: id.to_owned(),
                title: String::new(),
                page_id: String::new(),
                agent_id: String::new(),
                created_at: 0,
                updated_at: updated_at.parse().unwrap(),
                running: false,
                pinned: id.starts_with('*'),
                archived: false,
                unread: false,
                temporary: false,
                folder_id: None,
            }
        };
        text.split_whitespace().map(item).collect()
    }

    fn check(known: &str, fresh: &str, next: Option<&str>, expected: &str, expected_next: Option<&str>) {
        let fresh = ConversationList { items: items(fresh), next: next.map(str::to_owned) };
        let merged = merge(items(known), fresh);
        assert_eq!(merged.items, items(expected));
        assert_eq!(merged.next.as_deref(), expected_next);
    }

    #[test]
    fn a_complete_list_replaces_all() {
        check("a@3 b@2 c@1", "b@4 a@3", None, "b@4 a@3", None);
        check("a@3", "", None, "", None);
    }

    #[test]
    fn what_is_below_the_first_page_stays() {
        check("a@9 b@8 c@7 d@6", "n@10 a@9", Some("n1"), "n@10 a@9 b@8 c@7 d@6", None);
        check("a@9 b@8 c@7", "c@10 a@9", Some("n1"), "c@10 a@9 b@8", None);
    }

    #[test]
    fn a_deleted_one_goes() {
        check("a@9 b@8 c@7", "a@9 c@7", Some("n1"), "a@9 c@7", Some("n1"));
    }

    #[test]
    fn the_same_moment_is_ordered_by_id() {
        check("b@5 a@5", "c@5 b@5", Some("n1"), "c@5 b@5 a@5", None);
    }

    #[test]
    fn pinned_ones_stay_above() {
        check("*a@1 c@9 b@8", "*a@1 *d@0", Some("n1"), "*a@1 *d@0 c@9 b@8", None);
        check("*a@1 c@9 b@8", "c@9 a@2", Some("n1"), "c@9 a@2", Some("n1"));
    }
}
