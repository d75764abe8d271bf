//! The shared state that the agent sees of the page, evaluated when a message is sent.

use super::Session;
use crate::prelude::*;
use serde_json::{Map, Value};
use wire::page::{SharedField, object_fields, shared_object};

impl Session {
    /// The declared keys with their values; `written` are values that are about to be written to
    /// the page.
    pub(super) fn shared_state(self, written: &[(String, Value)]) -> Map<String, Value> {
        let shared = self.block.with_value(|place| place.properties.shared_state.clone());
        // The value of an expression that cannot be evaluated is null.
        let value =
            |expression: &Value| untrack(|| self.scope.evaluate_with_writes(expression, written)).unwrap_or_default();
        if shared_object(&shared).is_some() {
            return match value(&Value::Object(shared)) {
                Value::Object(values) => values,
                _ => Map::new(),
            };
        }
        shared.iter().map(|(key, expression)| (key.clone(), value(expression))).collect()
    }

    /// The fields of the shared state, with what the agent may write. Those of a shared object
    /// depend on its current keys.
    pub(super) fn shared_fields(self) -> Vec<SharedField> {
        let (properties, fields) = self.block.with_value(|place| (place.properties.clone(), place.fields.clone()));
        match shared_object(&properties.shared_state) {
            Some(_) => object_fields(&properties, &self.shared_state(&[])),
            None => fields,
        }
    }
}
