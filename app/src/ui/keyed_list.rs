//! Leptos' [`For`](leptos::prelude::For) under its own name, compiled once for all lists.
//!
//! Leptos compiles what compares the keys of two versions of a list and moves its rows once for each
//! type of item, key and view. Here these types are erased before. Measured on the release build:
//! 2 KB of the demo page's download, and 9 KB of a conversation's.
//!
//! [`crate::prelude`] exports this in place of Leptos' component.

use crate::ui::any_view::{AnyView, IntoAny};
use leptos::prelude::*;

/// The key of a row.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
}

impl From<String> for Key {
    fn from(key: String) -> Self {
        Self::Text(key)
    }
}

impl From<u64> for Key {
    fn from(key: u64) -> Self {
        Self::Number(key)
    }
}

impl From<usize> for Key {
    fn from(key: usize) -> Self {
        Self::Number(key as u64)
    }
}

impl From<u32> for Key {
    fn from(key: u32) -> Self {
        Self::Number(key.into())
    }
}

/// A row that has no view yet.
struct Row {
    key: Key,
    render: Box<dyn FnOnce() -> AnyView + Send>,
}

/// A list whose rows keep their elements when their order changes.
#[component]
pub fn For<Each, Items, Item, KeyOf, RowKey, Children, Child>(
    /// The items.
    each: Each,
    /// The key of an item: a text or a number.
    key: KeyOf,
    /// The view of an item.
    children: Children,
) -> impl IntoView
where
    Each: Fn() -> Items + Send + 'static,
    Items: IntoIterator<Item = Item>,
    Item: Send + 'static,
    KeyOf: Fn(&Item) -> RowKey + Send + 'static,
    RowKey: Into<Key>,
    Children: Fn(Item) -> Child + Send + Clone + 'static,
    Child: IntoView + 'static,
    View<Child>: IntoAny,
{
    let rows = move || {
        let row = |item| {
            let (key, children) = (key(&item).into(), children.clone());
            Row { key, render: Box::new(move || children(item).into_view().into_any()) }
        };
        each().into_iter().map(row).collect()
    };
    all_rows(Box::new(rows))
}

/// The part of [`For`] without type parameters.
fn all_rows(rows: Box<dyn Fn() -> Vec<Row> + Send>) -> AnyView {
    view! { <leptos::prelude::For each=rows key=|row: &Row| row.key.clone() children=|row: Row| (row.render)() /> }
        .into_any()
}
