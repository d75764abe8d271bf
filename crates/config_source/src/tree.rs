//! The parsed tree.

use crate::Span;
use serde_json::{Map, Number, Value};

/// A value with its position.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where the value is written.
    pub at: Span,
    /// The value.
    pub kind: NodeKind,
}

/// A value.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// No value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the text. Its keys are unique.
    Map(Vec<MapEntry>),
    /// Replaces a value with an error that has been reported already. It satisfies every
    /// expectation.
    Broken,
}

/// A key of a mapping with its value.
#[derive(Clone, Debug)]
pub struct MapEntry {
    /// The key.
    pub key: String,
    /// Where the key is written.
    pub key_at: Span,
    /// The value.
    pub value: Node,
}

/// A step of a path into the tree.
#[derive(Clone, Copy, Debug)]
pub enum PathStep<'a> {
    /// A key of a mapping.
    Key(&'a str),
    /// An item of a list; counts from 0.
    Index(usize),
}

impl Node {
    /// Returns an entry of a mapping.
    pub fn get(&self, key: &str) -> Option<&MapEntry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the entries of a mapping; none for another value.
    pub fn entries(&self) -> &[MapEntry] {
        if let NodeKind::Map(entries) = &self.kind { entries } else { &[] }
    }

    /// Returns the items of a list; none for another value.
    pub fn items(&self) -> &[Node] {
        if let NodeKind::List(items) = &self.kind { items } else { &[] }
    }

    /// Returns the text, if the value is text.
    pub fn text(&self) -> Option<&str> {
        if let NodeKind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// Returns the value at a path.
    pub fn node_at(&self, path: &[PathStep<'_>]) -> Option<&Self> {
        path.iter().try_fold(self, |node, step| match *step {
            PathStep::Key(key) => node.get(key).map(|entry| &entry.value),
            PathStep::Index(index) => node.items().get(index),
        })
    }

    /// Returns the position of the value at a path, or of its nearest existing parent.
    pub fn span_at(&self, path: &[PathStep<'_>]) -> Span {
        let Some((first, rest)) = path.split_first() else { return self.at };
        let next = match *first {
            PathStep::Key(key) => self.get(key).map(|entry| &entry.value),
            PathStep::Index(index) => self.items().get(index),
        };
        next.map_or(self.at, |node| node.span_at(rest))
    }

    /// Converts to JSON, with `null` for broken values.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Null | NodeKind::Broken => Value::Null,
            NodeKind::Bool(value) => Value::Bool(*value),
            NodeKind::Number(number) => Value::Number(number.clone()),
            NodeKind::Text(text) => Value::String(text.clone()),
            NodeKind::List(items) => items.iter().map(Self::to_value).collect(),
            NodeKind::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// Converts from JSON, with the same position everywhere.
    pub fn from_value(value: &Value, at: Span) -> Self {
        let kind = match value {
            Value::Null => NodeKind::Null,
            Value::Bool(value) => NodeKind::Bool(*value),
            Value::Number(number) => NodeKind::Number(number.clone()),
            Value::String(text) => NodeKind::Text(text.clone()),
            Value::Array(items) => NodeKind::List(items.iter().map(|item| Self::from_value(item, at)).collect()),
            Value::Object(map) => {
                let entry = |(key, value): (&String, &Value)| MapEntry {
                    key: key.clone(),
                    key_at: at,
                    value: Self::from_value(value, at),
                };
                NodeKind::Map(map.iter().map(entry).collect())
            }
        };
        Self { at, kind }
    }

    /// Whether the value contains an error that has been reported already.
    pub fn is_broken(&self) -> bool {
        match &self.kind {
            NodeKind::Broken => true,
            NodeKind::List(items) => items.iter().any(Self::is_broken),
            NodeKind::Map(entries) => entries.iter().any(|entry| entry.value.is_broken()),
            _ => false,
        }
    }

    /// Returns the number of values in it, itself included.
    pub(crate) fn size(&self) -> usize {
        1 + match &self.kind {
            NodeKind::List(items) => items.iter().map(Self::size).sum(),
            NodeKind::Map(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
            _ => 0,
        }
    }

    /// Returns the depth of nesting, which is 1 for a scalar.
    pub(crate) fn height(&self) -> usize {
        1 + match &self.kind {
            NodeKind::List(items) => items.iter().map(Self::height).max().unwrap_or(0),
            NodeKind::Map(entries) => entries.iter().map(|entry| entry.value.height()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Describes the value for a message: "text", "the number 3".
    pub fn describe(&self) -> String {
        match &self.kind {
            NodeKind::Null => "nothing".to_owned(),
            NodeKind::Bool(value) => format!("`{value}`"),
            NodeKind::Number(number) => format!("the number {number}"),
            NodeKind::Text(text) if text.chars().count() <= 40 && !text.contains('\n') => format!("the text `{text}`"),
            NodeKind::Text(_) => "text".to_owned(),
            NodeKind::List(items) if items.is_empty() => "an empty list".to_owned(),
            NodeKind::List(_) => "a list".to_owned(),
            NodeKind::Map(entries) if entries.is_empty() => "an empty mapping".to_owned(),
            NodeKind::Map(_) => "a mapping".to_owned(),
            NodeKind::Broken => "something wrong".to_owned(),
        }
    }
}
