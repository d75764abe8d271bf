//! How a freshly loaded beginning of the list joins what was loaded before.

use wire::api::{ConversationList, ConversationSummary};

/// Whether it is pinned, when it was changed, and its id: what the list is ordered by, the greatest first.
type Place = (bool, i64, String);

/// Of a conversation.
pub(super) fn place(item: &ConversationSummary) -> Place {
    (item.pinned, item.updated_at, item.id.clone())
}

/// After the first page was loaded again: which of the known ones stand below it, by their numbers, in order. One that should be on the
/// page and is not, was deleted. Linear in the known ones times the page's length.
pub(super) fn below(known: &[Place], fresh: &ConversationList) -> Vec<usize> {
    let (Some(last), Some(_)) = (fresh.items.last().map(place), &fresh.next) else {
        return Vec::new();
    };
    let is_below = |place: &Place| *place < last && fresh.items.iter().all(|other| other.id != place.2);
    let mut rest: Vec<usize> = Vec::new();
    for number in (0..known.len()).filter(|number| is_below(&known[*number])) {
        // They are in order but for what has changed since: nearly each belongs to the end.
        let at = rest.partition_point(|before| known[*before] >= known[number]);
        rest.insert(at, number);
    }
    rest
}

/// Where the list goes on: with nothing below, by the fresh page's own cursor; else by the one from before, which is further down.
pub(super) fn cursor(below: &[usize], fresh: &ConversationList, before: Option<String>) -> Option<String> {
    if below.is_empty() { fresh.next.clone() } else { before }
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
        let fresh = ConversationList { items: items(fresh), next: next.map(str::to_owned) };
        let known = items(known);
        let below = below(&known.iter().map(place).collect::<Vec<_>>(), &fresh);
        assert_eq!(cursor(&below, &fresh, None).as_deref(), expected_next);
        let merged = fresh.items.into_iter().chain(below.into_iter().map(|number| known[number].clone()));
        assert_eq!(merged.collect::<Vec<_>>(), items(expected));
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
        check("a@9 d@6 b@8 c@7", "n@10 a@9", Some("n1"), "n@10 a@9 b@8 c@7 d@6", None);
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
