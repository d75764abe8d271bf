//! The shared state that the agent sees of the page, evaluated when a message is sent.

use super::Session;
use crate::prelude::*;
use serde_json::{Map, Value};

impl Session {
    /// The declared keys with their values; `written` are values that are about to be written to
    /// the page.
    pub(super) fn shared_state(self, written: &[(String, Value)]) -> Map<String, Value> {
        let expressions = self.block.with_value(|place| place.properties.shared_state.clone());
        // The value of an expression that cannot be evaluated is null.
        let value =
            |expression: &Value| untrack(|| self.scope.evaluate_with_writes(expression, written)).unwrap_or_default();
        expressions.iter().map(|(key, expression)| (key.clone(), value(expression))).collect()
    }
}
