//! A statement under construction.

use serde_json::{Map, Value};

/// The text of a statement, with its values.
#[derive(Debug, Default)]
pub(super) struct Statement {
    pub(super) text: String,
    pub(super) values: Map<String, Value>,
}

impl Statement {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), values: Map::new() }
    }

    /// Appends constants and names of the config.
    pub(super) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends a parameter.
    pub(super) fn bind(&mut self, value: impl Into<Value>) -> &mut Self {
        let name = format!("v{}", self.values.len());
        self.text.push(':');
        self.text.push_str(&name);
        self.values.insert(name, value.into());
        self
    }
}
