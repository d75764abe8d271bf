//! The tree that is converted.

use config::{Node, NodeKind, Span};
use serde_json::Number;
use std::rc::Rc;

/// A value with its origin.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Where it is written in the app.
    pub(crate) at: Span,
    /// The file that `_ref` included here as it is.
    pub(crate) file: Option<Rc<str>>,
    /// Lines that are written above it as comments, if it is an item of a list.
    pub(crate) comment: Vec<String>,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<Entry>),
    /// Is left out, with its key if it has one.
    Removed,
}

/// A key of a mapping with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Span,
    pub(crate) value: Tree,
}

impl Tree {
    pub(crate) fn new(at: Span, value: Value) -> Self {
        Self { at, file: None, comment: Vec::new(), value }
    }

    pub(crate) fn text_at(at: Span, text: impl Into<String>) -> Self {
        Self::new(at, Value::Text(text.into()))
    }

    /// A mapping of generated keys, at the position of what it is generated from.
    pub(crate) fn map_at(at: Span, entries: Vec<(&str, Self)>) -> Self {
        let entry = |(key, value): (&str, Self)| Entry { key: key.to_owned(), key_at: at, value };
        Self::new(at, Value::Map(entries.into_iter().map(entry).collect()))
    }

    pub(crate) fn list_at(at: Span, items: Vec<Self>) -> Self {
        Self::new(at, Value::List(items))
    }

    /// Takes the value out and leaves nothing.
    pub(crate) fn take(&mut self) -> Self {
        let at = self.at;
        std::mem::replace(self, Self::new(at, Value::Null))
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    pub(crate) fn items_mut(&mut self) -> &mut [Self] {
        if let Value::List(items) = &mut self.value { items } else { &mut [] }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    pub(crate) fn entry_mut(&mut self, key: &str) -> Option<&mut Entry> {
        match &mut self.value {
            Value::Map(entries) => entries.iter_mut().find(|entry| entry.key == key),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        self.entry_mut(key).map(|entry| &mut entry.value)
    }

    /// Returns a text below a key.
    pub(crate) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Removes a key of a mapping.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Entry> {
        match &mut self.value {
            Value::Map(entries) => {
                let index = entries.iter().position(|entry| entry.key == key)?;
                Some(entries.remove(index))
            }
            _ => None,
        }
    }

    /// Renames a key, unless the mapping has the other one already.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        if self.entry(to).is_none()
            && let Some(entry) = self.entry_mut(from)
        {
            to.clone_into(&mut entry.key);
        }
    }

    /// Sets a key of a mapping. A new one is added at the end.
    pub(crate) fn set(&mut self, key: &str, value: Self) {
        let at = value.at;
        match self.entry_mut(key) {
            Some(entry) => entry.value = value,
            None => {
                if let Value::Map(entries) = &mut self.value {
                    entries.push(Entry { key: key.to_owned(), key_at: at, value });
                }
            }
        }
    }

    /// Adds a key after the id of an entry.
    pub(crate) fn insert_after_id(&mut self, key: &str, value: Self) {
        let at = value.at;
        if let Value::Map(entries) = &mut self.value {
            let index = entries.iter().position(|entry| entry.key == "id").map_or(0, |index| index + 1);
            entries.insert(index, Entry { key: key.to_owned(), key_at: at, value });
        }
    }

    /// Returns the mapping below a key of a mapping, which is added if it is not there.
    pub(crate) fn map_of(&mut self, key: &str) -> Option<&mut Self> {
        let at = self.at;
        if self.get(key).is_none_or(|value| !value.is_map()) {
            self.set(key, Self::map_at(at, Vec::new()));
        }
        self.get_mut(key)
    }

    /// Returns the name and the argument, if the value is an operator.
    pub(crate) fn operator(&self) -> Option<(&str, &Self)> {
        match self.entries() {
            [entry] if entry.key.starts_with('_') => Some((&entry.key, &entry.value)),
            _ => None,
        }
    }

    /// Visits the value and all values in it, outer ones first.
    pub(crate) fn for_each_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        visit(self);
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.for_each_mut(visit)),
            Value::Map(entries) => entries.iter_mut().for_each(|entry| entry.value.for_each_mut(visit)),
            _ => {}
        }
    }

    /// Visits the value and all values in it, outer ones first.
    pub(crate) fn for_each<'t>(&'t self, visit: &mut dyn FnMut(&'t Self)) {
        visit(self);
        self.items().iter().for_each(|item| item.for_each(visit));
        self.entries().iter().for_each(|entry| entry.value.for_each(visit));
    }

    /// The number of values in it, itself included.
    pub(crate) fn size(&self) -> usize {
        let mut size = 0;
        self.for_each(&mut |_| size += 1);
        size
    }

    /// The depth of nesting, which is 1 for a scalar.
    pub(crate) fn height(&self) -> usize {
        let items = self.items().iter().map(Self::height);
        let entries = self.entries().iter().map(|entry| entry.value.height());
        1 + items.chain(entries).max().unwrap_or(0)
    }

    /// Drops all that is marked as removed.
    pub(crate) fn prune(&mut self) {
        match &mut self.value {
            Value::List(items) => {
                items.retain(|item| !matches!(item.value, Value::Removed));
                items.iter_mut().for_each(Self::prune);
            }
            Value::Map(entries) => {
                entries.retain(|entry| !matches!(entry.value.value, Value::Removed));
                entries.iter_mut().for_each(|entry| entry.value.prune());
            }
            _ => {}
        }
    }

    /// Converts to JSON.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null | Value::Removed => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect())
            }
        }
    }
}

impl From<Node> for Tree {
    fn from(node: Node) -> Self {
        let value = match node.kind {
            NodeKind::Null | NodeKind::Broken => Value::Null,
            NodeKind::Bool(value) => Value::Bool(value),
            NodeKind::Number(number) => Value::Number(number),
            NodeKind::Text(text) => Value::Text(text),
            NodeKind::List(items) => Value::List(items.into_iter().map(Self::from).collect()),
            NodeKind::Map(entries) => Value::Map(
                entries
                    .into_iter()
                    .map(|entry| Entry { key: entry.key, key_at: entry.key_at, value: entry.value.into() })
                    .collect(),
            ),
        };
        Self::new(node.at, value)
    }
}
