//! The properties of a block as they are now: operators evaluated, and evaluated again when what they read has changed.

use crate::prelude::*;
use crate::scope::Scope;
use serde::Serialize;
use serde_json::{Map, Value};
use wire::page::properties::as_text;
use wire::page::{
    AgentConversationsProperties, AlertProperties, ButtonProperties, Choice, ColumnsProperties, Input, TableProperties,
    TabsProperties,
};

/// A block's properties; a cheap handle. A page in Rust makes them of the types in [`wire::page::properties`], or, where they
/// change, with [`Properties::derive`].
#[derive(Clone, Copy)]
pub struct Properties(Signal<Value>);

impl Properties {
    /// Out of the config. What is no operator is not looked at again.
    pub(crate) fn of_config(properties: Map<String, Value>) -> Self {
        if !properties.values().any(operators::is_dynamic) {
            return Self::fixed(properties);
        }
        let scope = Scope::of_page();
        let evaluated = Memo::new(move |_| {
            // Each by itself, so that a mistake in one leaves the others.
            let now = properties.iter().map(|(key, value)| (key.clone(), scope.evaluate(value).unwrap_or_default()));
            Value::Object(now.collect())
        });
        Self(Signal::derive(move || evaluated.get()))
    }

    /// Properties that follow what the closure reads.
    pub fn derive<T: Serialize>(properties: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(Signal::derive(move || object(&properties())))
    }

    fn fixed(properties: Map<String, Value>) -> Self {
        Self(Signal::stored(Value::Object(properties)))
    }

    /// A property. Tracked.
    pub fn value(&self, key: &str) -> Value {
        self.0.with(|own| own.get(key).cloned()).unwrap_or_default()
    }

    /// A property as text. Tracked.
    pub fn text(&self, key: &str) -> Option<String> {
        self.0.with(|own| own.get(key).and_then(as_text))
    }

    /// Whether a property counts as yes. Tracked.
    pub fn flag(&self, key: &str) -> bool {
        self.0.with(|own| own.get(key).is_some_and(operators::is_truthy))
    }

    /// What can be chosen. Tracked.
    pub fn options(&self) -> Vec<Choice> {
        self.0.with(|own| {
            let options = own.get("options").and_then(Value::as_array).into_iter().flatten();
            options.filter_map(Choice::read).collect()
        })
    }
}

fn object<T: Serialize>(properties: &T) -> Value {
    serde_json::to_value(properties).unwrap_or_default()
}

/// Each of the types, by what serde makes of it.
macro_rules! from_types {
    ($($type:ty),*) => {
        $(impl From<$type> for Properties {
            fn from(properties: $type) -> Self {
                Self(Signal::stored(object(&properties)))
            }
        })*
    };
}

from_types!(
    AgentConversationsProperties,
    AlertProperties,
    ButtonProperties,
    ColumnsProperties,
    Input,
    TableProperties,
    TabsProperties
);
