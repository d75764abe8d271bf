//! Types of blocks that a program adds, as `config` sees them. Their views are in `app`.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::fmt;

/// A type of block that a program adds: its properties and events in a config.
#[derive(Clone, Copy)]
pub struct AddedBlock {
    /// The name of the type, as in `type: Gauge`.
    pub name: &'static str,
    /// The events that it emits.
    pub events: &'static [&'static str],
    /// Whether it can hold other blocks.
    pub holds_blocks: bool,
    /// Returns the schema of its properties. Each property may be an operator as well; the schema
    /// does not say that.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Returns the problems of properties that the schema accepts.
    pub check: fn(&Map<String, Value>) -> Vec<PropertyProblem>,
}

/// A key and the problem of its value, for the author of a config.
pub type PropertyProblem = (&'static str, String);

/// Formats the name.
impl fmt::Debug for AddedBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AddedBlock").field(&self.name).finish()
    }
}
