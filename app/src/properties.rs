//! The current properties of a block. Operators in them are evaluated, again whenever something
//! that they read changes.

use crate::prelude::*;
use crate::scope::OperatorScope;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wire::page::{
    AlertProperties, ButtonProperties, CardProperties, CheckboxProperties, DatePickerProperties, ItemListProperties,
    Keys, MultiSelectProperties, NumberInputProperties, Property, SelectOption, SelectProperties, SwitchProperties,
    TableProperties, TextInputProperties, TitleProperties, as_text,
};

/// The properties of a block; a cheap handle. A page written in Rust creates them from the type of the
/// block's properties in [`wire::page`], or with [`Properties::derive`] if they change.
#[derive(Clone, Copy)]
pub struct Properties(Signal<Value>);

impl Properties {
    /// Creates the properties from the config. If none contains an operator, they are constant.
    pub(crate) fn from_config(properties: Map<String, Value>) -> Self {
        if !properties.values().any(operators::is_dynamic) {
            return Self::fixed(properties);
        }
        let scope = OperatorScope::for_page();
        let evaluated = Memo::new(move |_| {
            // Each property by itself, so that an error in one does not affect the others.
            let now = properties.iter().map(|(key, value)| (key.clone(), scope.evaluate(value).unwrap_or_default()));
            Value::Object(now.collect())
        });
        Self(Signal::derive(move || evaluated.get()))
    }

    /// Creates properties that follow the signals that the closure reads.
    pub fn derive<T: Serialize>(properties: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(Signal::derive(move || to_object(&properties())))
    }

    fn fixed(properties: Map<String, Value>) -> Self {
        Self(Signal::stored(Value::Object(properties)))
    }

    /// Returns all properties as their type, each with its default if it is absent or has a wrong
    /// type. Tracked.
    pub fn get<T: Keys>(&self) -> T {
        let mut read = None;
        self.with_all(&mut |own| read = Some(T::read_keys(own)));
        read.unwrap_or_default()
    }

    /// Returns all properties as a type of another crate. A property that cannot be read counts as
    /// absent. Tracked.
    pub(crate) fn deserialize<T: DeserializeOwned + Default>(&self) -> T {
        let mut read = None;
        self.with_all(&mut |own| read = T::deserialize(own).or_else(|_| T::deserialize(&readable::<T>(own))).ok());
        read.unwrap_or_default()
    }

    /// Not generic, so that the code that reads the signal is in the download once.
    fn with_all(&self, read: &mut dyn FnMut(&Map<String, Value>)) {
        self.0.with(|own| {
            if let Value::Object(own) = own {
                read(own);
            }
        });
    }

    /// Returns a property. Tracked. Inputs read their properties one by one, because the code is the
    /// same for all types of inputs.
    pub fn value(&self, key: &str) -> Value {
        self.0.with(|own| own.get(key).cloned()).unwrap_or_default()
    }

    /// Returns a property as text. Tracked.
    pub fn text(&self, key: &str) -> Option<String> {
        self.0.with(|own| own.get(key).and_then(as_text))
    }

    /// Returns whether a property is truthy. Tracked.
    pub fn flag(&self, key: &str) -> bool {
        self.0.with(|own| own.get(key).is_some_and(operators::is_truthy))
    }

    /// Returns the options of a choice. Tracked.
    pub fn options(&self) -> Vec<SelectOption> {
        self.0.with(|own| own.get("options").and_then(Vec::from_value)).unwrap_or_default()
    }
}

/// Returns the properties that can be read beside those before them.
fn readable<T: DeserializeOwned>(own: &Map<String, Value>) -> Map<String, Value> {
    let mut readable = Map::new();
    for (key, value) in own {
        readable.insert(key.clone(), value.clone());
        if T::deserialize(&readable).is_err() {
            readable.remove(key);
        }
    }
    readable
}

fn to_object<T: Serialize>(properties: &T) -> Value {
    serde_json::to_value(properties).unwrap_or_default()
}

/// Implements `From` for property types by serializing them.
macro_rules! from_types {
    ($($type:ty),*) => {
        $(impl From<$type> for Properties {
            fn from(properties: $type) -> Self {
                Self(Signal::stored(to_object(&properties)))
            }
        })*
    };
}

from_types!(
    AlertProperties,
    ButtonProperties,
    CardProperties,
    CheckboxProperties,
    DatePickerProperties,
    ItemListProperties,
    MultiSelectProperties,
    NumberInputProperties,
    SelectProperties,
    SwitchProperties,
    TableProperties,
    TextInputProperties,
    TitleProperties
);
