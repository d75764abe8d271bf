//! The tree.

use super::Span;
use serde_json::{Map, Number, Value};

/// A value with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Span,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Stands where something was wrong that has been reported already; whatever is expected here is satisfied.
    Broken,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Span,
    pub(crate) value: Node,
}

/// One step of a path into the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Node {
    /// The entry of a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The entries; none unless this is a mapping.
    pub(crate) fn entries(&self) -> &[Entry] {
        if let Kind::Map(entries) = &self.kind { entries } else { &[] }
    }

    /// The items; none unless this is a list.
    pub(crate) fn items(&self) -> &[Node] {
        if let Kind::List(items) = &self.kind { items } else { &[] }
    }

    /// The text, if this is text.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// Where a path leads; as far as it goes.
    pub(crate) fn at(&self, path: &[Step<'_>]) -> Span {
        let Some((first, rest)) = path.split_first() else { return self.at };
        let next = match *first {
            Step::Key(key) => self.get(key).map(|entry| &entry.value),
            Step::Index(index) => self.items().get(index),
        };
        next.map_or(self.at, |node| node.at(rest))
    }

    /// As JSON, with `null` for what is broken.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null | Kind::Broken => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::to_value).collect(),
            Kind::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// JSON as if it stood there.
    pub(crate) fn from_value(value: &Value, at: Span) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(*value),
            Value::Number(number) => Kind::Number(number.clone()),
            Value::String(text) => Kind::Text(text.clone()),
            Value::Array(items) => Kind::List(items.iter().map(|item| Self::from_value(item, at)).collect()),
            Value::Object(map) => {
                let entry = |(key, value): (&String, &Value)| Entry {
                    key: key.clone(),
                    key_at: at,
                    value: Self::from_value(value, at),
                };
                Kind::Map(map.iter().map(entry).collect())
            }
        };
        Self { at, kind }
    }

    /// Whether something in here has been reported already.
    pub(crate) fn is_broken(&self) -> bool {
        match &self.kind {
            Kind::Broken => true,
            Kind::List(items) => items.iter().any(Self::is_broken),
            Kind::Map(entries) => entries.iter().any(|entry| entry.value.is_broken()),
            _ => false,
        }
    }

    /// How many values it holds, itself included.
    pub(super) fn size(&self) -> usize {
        1 + match &self.kind {
            Kind::List(items) => items.iter().map(Self::size).sum(),
            Kind::Map(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
            _ => 0,
        }
    }

    /// How deep it nests: 1 for a scalar.
    pub(super) fn height(&self) -> usize {
        1 + match &self.kind {
            Kind::List(items) => items.iter().map(Self::height).max().unwrap_or(0),
            Kind::Map(entries) => entries.iter().map(|entry| entry.value.height()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// What it is, for a sentence: "text", "the number 3".
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Number(number) => format!("the number {number}"),
            Kind::Text(text) if text.chars().count() <= 40 && !text.contains('\n') => format!("the text `{text}`"),
            Kind::Text(_) => "text".to_owned(),
            Kind::List(items) if items.is_empty() => "an empty list".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(entries) if entries.is_empty() => "an empty mapping".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
            Kind::Broken => "something wrong".to_owned(),
        }
    }
}
