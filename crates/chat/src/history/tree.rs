//! The message tree of a conversation without contents: siblings and branch ends.

use std::collections::{HashMap, HashSet};
use store::MessageNode;

/// The tree, without deleted messages.
pub(crate) struct MessageTree {
    /// Parents before their children, oldest first.
    nodes: Vec<MessageNode>,
    places: HashMap<String, usize>,
}

impl MessageTree {
    /// Builds the tree from the rows of [`store::Store::outline`].
    pub(crate) fn new(rows: Vec<MessageNode>) -> Self {
        let mut tree = Self { nodes: Vec::new(), places: HashMap::new() };
        for row in rows {
            let is_reached = row.parent_id.as_deref().is_none_or(|parent| tree.has(parent));
            if is_reached && !row.deleted {
                tree.places.insert(row.id.clone(), tree.nodes.len());
                tree.nodes.push(row);
            }
        }
        tree
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Returns the siblings of a message including itself, oldest first.
    pub(crate) fn siblings(&self, id: &str) -> Vec<&str> {
        let Some(of) = self.node(id) else { return Vec::new() };
        let same = self.nodes.iter().filter(|node| node.parent_id == of.parent_id);
        same.map(|node| node.id.as_str()).collect()
    }

    /// Returns the messages of the branch that have siblings, each with all of its siblings.
    pub(crate) fn forks<'t>(&'t self, branch: impl Iterator<Item = &'t str>) -> Vec<(&'t str, Vec<&'t str>)> {
        let mut children: HashMap<Option<&str>, Vec<&str>> = HashMap::new();
        for node in &self.nodes {
            children.entry(node.parent_id.as_deref()).or_default().push(&node.id);
        }
        let of = |id: &'t str| Some((id, children.get(&self.node(id)?.parent_id.as_deref())?.clone()));
        branch.filter_map(of).filter(|(_, siblings)| siblings.len() > 1).collect()
    }

    /// Returns the end of the most recent branch that contains the message.
    pub(crate) fn newest_leaf(&self, id: &str) -> Option<&str> {
        let below = self.below(id)?;
        below.iter().rposition(|is_below| *is_below).map(|at| self.nodes[at].id.as_str())
    }

    /// Returns the end of the active branch after deleting this message and its descendants: that
    /// of a sibling, or else the parent. Empty if nothing is left; `None` if the branch that ends
    /// at `head` is not affected.
    pub(crate) fn head_without(&self, id: &str, head: &str) -> Option<&str> {
        let below = self.below(id)?;
        if !self.places.get(head).is_some_and(|at| below[*at]) {
            return None;
        }
        let siblings = self.siblings(id);
        let at = siblings.iter().position(|sibling| *sibling == id)?;
        let beside = at.checked_sub(1).or(Some(at + 1)).and_then(|at| siblings.get(at));
        match beside {
            Some(beside) => self.newest_leaf(beside),
            None => Some(self.node(id)?.parent_id.as_deref().unwrap_or_default()),
        }
    }

    /// Returns the message and all its descendants.
    pub(crate) fn subtree(&self, id: &str) -> HashSet<&str> {
        let below = self.below(id).unwrap_or_default();
        let nodes = self.nodes.iter().zip(below).filter(|(_, is_below)| *is_below);
        nodes.map(|(node, _)| node.id.as_str()).collect()
    }

    /// Returns the path to the message, oldest first.
    pub(crate) fn path(&self, id: &str) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = self.places.get(id);
        // A parent precedes its child, so the loop terminates.
        while let Some(place) = at {
            let node = &self.nodes[*place];
            path.push(node.id.as_str());
            at = node.parent_id.as_ref().and_then(|parent| self.places.get(parent)).filter(|parent| *parent < place);
        }
        path.reverse();
        path
    }

    fn node(&self, id: &str) -> Option<&MessageNode> {
        self.places.get(id).map(|at| &self.nodes[*at])
    }

    /// Returns for each message whether it is this one or a descendant of it.
    fn below(&self, id: &str) -> Option<Vec<bool>> {
        let top = *self.places.get(id)?;
        let mut below = vec![false; self.nodes.len()];
        below[top] = true;
        for at in top + 1..self.nodes.len() {
            let parent = self.nodes[at].parent_id.as_ref().and_then(|parent| self.places.get(parent));
            below[at] = parent.is_some_and(|parent| below[*parent]);
        }
        Some(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `q < -`; `a1` and `a2` answer it; `q2` with `b1` and `b2` continues `a2`; `r` is another
    /// root.
    fn tree(deleted: &str) -> MessageTree {
        let rows = [
            ("q", None),
            ("a1", Some("q")),
            ("a2", Some("q")),
            ("q2", Some("a2")),
            ("b1", Some("q2")),
            ("r", None),
            ("b2", Some("q2")),
            ("q3", Some("b1")),
        ];
        let node = |(id, parent): (&str, Option<&str>)| MessageNode {
            id: id.to_owned(),
            parent_id: parent.map(str::to_owned),
            deleted: id == deleted,
        };
        MessageTree::new(rows.into_iter().map(node).collect())
    }

    #[test]
    fn siblings_and_forks_are_found() {
        let tree = tree("");
        let check = |id: &str, expected: &[&str]| assert_eq!(tree.siblings(id), expected, "{id}");
        check("q", &["q", "r"]);
        check("a2", &["a1", "a2"]);
        check("q2", &["q2"]);
        check("x", &[]);
        let forks = tree.forks(["q", "a2", "q2", "b2", "x"].into_iter());
        assert_eq!(forks, [("q", vec!["q", "r"]), ("a2", vec!["a1", "a2"]), ("b2", vec!["b1", "b2"])]);
    }

    #[test]
    fn newest_leaf_of_a_branch_is_found() {
        let tree = tree("");
        let check = |id: &str, expected: Option<&str>| assert_eq!(tree.newest_leaf(id), expected, "{id}");
        check("q", Some("q3"));
        check("a1", Some("a1"));
        check("b2", Some("b2"));
        check("r", Some("r"));
        check("x", None);
        assert_eq!(tree.path("b2"), ["q", "a2", "q2", "b2"]);
        assert!(tree.path("x").is_empty());
    }

    #[test]
    fn head_moves_when_its_branch_is_deleted() {
        let tree = tree("");
        let check = |id: &str, head: &str, expected: Option<&str>| {
            assert_eq!(tree.head_without(id, head), expected, "{id}, {head}");
        };
        check("b2", "b2", Some("q3"));
        check("b1", "q3", Some("b2"));
        check("q3", "q3", Some("b1"));
        check("q2", "q3", Some("a2"));
        check("q", "q3", Some("r"));
        check("a1", "q3", None);
        check("x", "q3", None);
    }

    #[test]
    fn deleted_messages_are_not_in_the_tree() {
        let tree = tree("q2");
        assert!(!tree.has("q2") && !tree.has("q3"));
        assert_eq!(tree.newest_leaf("q"), Some("a2"));
        let alone = MessageTree::new(vec![MessageNode { id: "q".to_owned(), parent_id: None, deleted: false }]);
        assert_eq!(alone.head_without("q", "q"), Some(""));
    }
}
