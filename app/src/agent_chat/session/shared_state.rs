//! What the agent sees of the page, read at the moment of sending.

use super::Session;
use leptos::prelude::*;
use serde_json::{Map, Value};

impl Session {
    /// The declared keys with their values; `written` are values that are about to be written.
    pub(super) fn shared_state(self, written: &[(String, Value)]) -> Map<String, Value> {
        let mut state = self.page_state.snapshot();
        state.extend(written.iter().cloned());
        self.place.with_value(|place| evaluate(&place.properties.shared_state, &state))
    }
}

fn evaluate(expressions: &Map<String, Value>, state: &Map<String, Value>) -> Map<String, Value> {
    let value = |expression: &Value| match expression.as_object().and_then(|operator| operator.get("_state")?.as_str())
    {
        Some(key) => state.get(key).cloned().unwrap_or_default(),
        None => expression.clone(),
    };
    expressions.iter().map(|(key, expression)| (key.clone(), value(expression))).collect()
}
