//! Whether something that has happened starts a run, and with which input.

use operators::{Ambient, Operators, Scope, evaluate, evaluate_source, is_truthy};
use serde_json::{Map, Value, json};
use workflow_definition::Trigger;

/// The decision of a trigger about an event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// The condition is not true.
    Filtered,
    /// A value could not be evaluated.
    Failed(String),
    /// A run with this input.
    Start(Value),
}

/// The clock and the random numbers of an evaluation.
#[derive(Debug)]
struct Moment {
    now: i64,
}

impl Ambient for Moment {
    fn unix_ms(&self) -> i64 {
        self.now
    }

    fn random(&self) -> u64 {
        // Both halves of a UUID have fixed bits, at different positions.
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        high ^ low.rotate_left(32)
    }
}

/// Evaluates the condition and the input of a trigger. `event` is what `_event` reads, `now` the Unix
/// time in milliseconds. The work is bounded, as that of a page that the server renders.
pub(crate) fn decide(trigger: &Trigger, event: &Value, operators: &Operators, now: i64) -> Decision {
    let ambient = Moment { now };
    let scope = Scope {
        event: Some(event),
        expressions: Some(evaluate_source),
        operators: Some(operators),
        ambient: Some(&ambient),
        ..Scope::default()
    };
    if let Some(condition) = &trigger.condition {
        match evaluate(condition, &scope) {
            Ok(value) if is_truthy(&value) => {}
            Ok(_) => return Decision::Filtered,
            Err(error) => return Decision::Failed(format!("`if`: {error}")),
        }
    }
    match &trigger.input {
        None => Decision::Start(default_input(event)),
        Some(input) => match evaluate(input, &scope) {
            Ok(input) => Decision::Start(input),
            Err(error) => Decision::Failed(format!("`input`: {error}")),
        },
    }
}

/// Returns the body of a request if it is an object, and otherwise all of the event.
fn default_input(event: &Value) -> Value {
    match event.get("body") {
        Some(body @ Value::Object(_)) => body.clone(),
        Some(body) => json!({ "body": body }),
        None if event.is_object() => event.clone(),
        None => Value::Object(Map::new()),
    }
}
