//! Merges a reloaded first page with the entries that were loaded before.

use super::list::ConversationEntry;
use wire::api::{ConversationList, ConversationSummary};

/// The sort key of the list, in descending order: pinned, time of the last change, id.
type SortKey = (bool, i64, String);

/// Returns the sort key of a conversation.
pub(super) fn sort_key(item: &ConversationSummary) -> SortKey {
    (item.pinned, item.updated_at, item.id.clone())
}

/// Returns the indices of the known entries that are below a reloaded first page, in order. An
/// entry that should be on the page and is not was deleted. Linear in the number of known entries
/// times the length of the page.
pub(super) fn entries_below(known: &[SortKey], fresh: &ConversationList) -> Vec<usize> {
    let (Some(last), Some(_)) = (fresh.items.last().map(sort_key), &fresh.next) else {
        return Vec::new();
    };
    let is_below = |place: &SortKey| *place < last && fresh.items.iter().all(|other| other.id != place.2);
    let mut rest: Vec<usize> = Vec::new();
    for number in (0..known.len()).filter(|number| is_below(&known[*number])) {
        // The known entries are almost sorted: nearly every one is appended.
        let at = rest.partition_point(|before| known[*before] >= known[number]);
        rest.insert(at, number);
    }
    rest
}

/// Returns the cursor of the merged list: that of the first page if nothing is below it, else the
/// previous one, which is further down.
pub(super) fn merged_cursor(below: &[usize], fresh: &ConversationList, before: Option<String>) -> Option<String> {
    if below.is_empty() { fresh.next.clone() } else { before }
}

/// Appends a page, without the conversations that are in the list already because they moved up.
pub(super) fn append_page(items: &mut Vec<ConversationEntry>, page: Vec<ConversationSummary>) {
    for summary in page {
        if items.iter().all(|item| item.id != summary.id) {
            items.push(ConversationEntry::new(summary));
        }
    }
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
                waiting: false,
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
        let fresh =
            ConversationList { items: items(fresh), next: next.map(str::to_owned), tasks: None, listed_at: None };
        let known = items(known);
        let below = entries_below(&known.iter().map(sort_key).collect::<Vec<_>>(), &fresh);
        assert_eq!(merged_cursor(&below, &fresh, None).as_deref(), expected_next);
        let merged = fresh.items.into_iter().chain(below.into_iter().map(|number| known[number].clone()));
        assert_eq!(merged.collect::<Vec<_>>(), items(expected));
    }

    #[test]
    fn complete_list_replaces_all_entries() {
        check("a@3 b@2 c@1", "b@4 a@3", None, "b@4 a@3", None);
        check("a@3", "", None, "", None);
    }

    #[test]
    fn entries_below_the_first_page_are_kept() {
        check("a@9 b@8 c@7 d@6", "n@10 a@9", Some("n1"), "n@10 a@9 b@8 c@7 d@6", None);
        check("a@9 b@8 c@7", "c@10 a@9", Some("n1"), "c@10 a@9 b@8", None);
        check("a@9 d@6 b@8 c@7", "n@10 a@9", Some("n1"), "n@10 a@9 b@8 c@7 d@6", None);
    }

    #[test]
    fn deleted_entries_are_removed() {
        check("a@9 b@8 c@7", "a@9 c@7", Some("n1"), "a@9 c@7", Some("n1"));
    }

    #[test]
    fn entries_with_equal_times_are_ordered_by_id() {
        check("b@5 a@5", "c@5 b@5", Some("n1"), "c@5 b@5 a@5", None);
    }

    #[test]
    fn pinned_entries_stay_on_top() {
        check("*a@1 c@9 b@8", "*a@1 *d@0", Some("n1"), "*a@1 *d@0 c@9 b@8", None);
        check("*a@1 c@9 b@8", "c@9 a@2", Some("n1"), "c@9 a@2", Some("n1"));
    }
}
