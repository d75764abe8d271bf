//! The entries of a config by name, so that two configs can be compared without disclosing their
//! contents.

use config_source::{Node, NodeKind};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The entries of a config (`agents/helper`) and its other sections (`limits`), each with a hash of
/// its value. The values of environment variables are not part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline(BTreeMap<String, u64>);

/// How an entry has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The entry is new.
    Added,
    /// The entry has another value.
    Changed,
    /// The entry no longer exists.
    Removed,
}

/// A difference between two configs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigChange {
    /// The section, with an id if the section is a list of entries: `agents/helper`, `limits`.
    pub path: String,
    /// How it has changed.
    pub kind: ChangeKind,
}

impl Outline {
    pub(crate) fn from_tree(root: &Node) -> Self {
        let mut things = BTreeMap::new();
        for section in root.entries() {
            let items = section.value.items();
            let ids: Option<Vec<_>> = items.iter().map(|item| item.get("id")?.value.text()).collect();
            match (&section.value.kind, ids) {
                (NodeKind::List(_), Some(ids)) => {
                    let named = ids.into_iter().zip(items);
                    things.extend(named.map(|(id, item)| (format!("{}/{id}", section.key), hash(item))));
                }
                _ => drop(things.insert(section.key.clone(), hash(&section.value))),
            }
        }
        Self(things)
    }

    /// Returns the differences from the config `before`, sorted by name.
    pub fn changes(&self, before: &Self) -> Vec<ConfigChange> {
        let now = self.0.iter().filter_map(|(what, hash)| match before.0.get(what) {
            None => Some((what, ChangeKind::Added)),
            Some(known) if known != hash => Some((what, ChangeKind::Changed)),
            Some(_) => None,
        });
        let gone = before.0.keys().filter(|what| !self.0.contains_key(*what));
        let mut changes: Vec<_> = now.chain(gone.map(|what| (what, ChangeKind::Removed))).collect();
        changes.sort_unstable_by_key(|(what, _)| *what);
        changes.into_iter().map(|(what, how)| ConfigChange { path: what.clone(), kind: how }).collect()
    }
}

fn hash(node: &Node) -> u64 {
    let mut hasher = DefaultHasher::new();
    hash_into(node, &mut hasher);
    hasher.finish()
}

/// Hashes a value without its positions. The kind and the length come first, so that different values differ in what
/// is hashed.
fn hash_into(node: &Node, hasher: &mut DefaultHasher) {
    std::mem::discriminant(&node.kind).hash(hasher);
    match &node.kind {
        NodeKind::Null | NodeKind::Broken => {}
        NodeKind::Bool(value) => value.hash(hasher),
        NodeKind::Number(number) => number.hash(hasher),
        NodeKind::Text(text) => text.hash(hasher),
        NodeKind::List(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_into(item, hasher);
            }
        }
        NodeKind::Map(entries) => {
            entries.len().hash(hasher);
            for entry in entries {
                entry.key.hash(hasher);
                hash_into(&entry.value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Language;
    use std::collections::HashMap;

    #[test]
    fn changes_are_listed_by_name() {
        let outline = |text: &str| {
            Language::default().read_embedded(&[("chatwright.yaml", text)], &HashMap::<String, String>::new()).outline
        };
        let before = outline(
            "connections: [{ id: a, type: Demo }]\nagents:\n  - { id: x, type: Agent }\n  - { id: y, type: Agent }\nlimits: { toolMs: 1 }\n",
        );
        let check = |text: &str, expected: &[&str]| {
            let changes = outline(text).changes(&before);
            let seen: Vec<_> = changes.iter().map(|change| format!("{} {:?}", change.path, change.kind)).collect();
            assert_eq!(seen, expected, "{text}");
        };
        // Neither another order nor a comment is a change.
        check(
            "# Hello\nlimits: { toolMs: 1 }\nagents:\n  - { id: y, type: Agent }\n  - { id: x, type: Agent }\nconnections: [{ id: a, type: Demo }]\n",
            &[],
        );
        check(
            "connections: [{ id: a, type: Demo }]\nagents:\n  - { id: x, type: ClaudeAgent }\n  - { id: z, type: Agent }\nlimits: { toolMs: 2 }\n",
            &["agents/x Changed", "agents/y Removed", "agents/z Added", "limits Changed"],
        );
        check("", &["agents/x Removed", "agents/y Removed", "connections/a Removed", "limits Removed"]);
    }
}
