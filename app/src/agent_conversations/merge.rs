//! How a freshly loaded beginning of the list joins what was loaded before.

use wire::api::{ConversationList, ConversationSummary};

/// The list after its first page was loaded again: the fresh page, then what was known below it. A known conversation that should
/// be on the fresh page and is not, was deleted. Linear in the known items times the page's length.
pub(crate) fn merge(known: Vec<ConversationSummary>, fresh: ConversationList) -> ConversationList {
    let (Some(last), Some(next)) = (fresh.items.last(), &fresh.next) else {
        return fresh;
    };
    let end = (last.updated_at, last.id.clone());
    let below = |item: &ConversationSummary| {
        (item.updated_at, &item.id) < (end.0, &end.1) && fresh.items.iter().all(|other| other.id != item.id)
    };
    let rest = known.into_iter().filter(below).collect::<Vec<_>>();
    // With nothing below, the fresh page's own cursor goes on; else the caller's, which is further down.
    let next = rest.is_empty().then(|| next.clone());
    ConversationList { items: fresh.items.into_iter().chain(rest).collect(), next }
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
}
