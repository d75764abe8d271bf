//! What the agent sees of the page, read at the moment of sending.

use super::Session;
use crate::prelude::*;
use serde_json::{Map, Value};

impl Session {
    /// The declared keys with their values; `written` are values that are about to be written.
    pub(super) fn shared_state(self, written: &[(String, Value)]) -> Map<String, Value> {
        let expressions = self.place.with_value(|place| place.properties.shared_state.clone());
        // What cannot be evaluated is not known to the agent either.
        let value = |expression: &Value| untrack(|| self.scope.evaluate_over(expression, written)).unwrap_or_default();
        expressions.iter().map(|(key, expression)| (key.clone(), value(expression))).collect()
    }
}
