//! Detects a model that repeats the same tool calls. It is warned first, and then stopped.

use contract::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The number of identical steps after which the model is warned.
const WARN_AT: usize = 3;
/// The number of identical steps after which the run ends.
const STOP_AT: usize = 5;
/// The number of recent steps that are compared.
const WINDOW: usize = 20;

/// The warning that the model reads.
pub(crate) const WARNING: &str = "You have made exactly the same calls several times, and they will not bring anything new. Do something \
     else, or answer with what you have.";
/// The result of the calls that are no longer run.
pub(crate) const STOPPED: &str = "Not run: the same calls were made too often.";

/// The hashes of the tool calls of the recent steps, one per step. The hash has a fixed key, so it
/// may be stored. If another version of the standard library hashes differently, a loop is detected
/// a few steps later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoopDetector(VecDeque<u64>);

/// How to react to the tool calls of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopVerdict {
    Fine,
    Warn,
    Stop,
}

impl LoopDetector {
    /// Records the calls of a step, in any order.
    pub(crate) fn record(&mut self, calls: &[ToolCall]) -> LoopVerdict {
        if calls.is_empty() {
            return LoopVerdict::Fine;
        }
        let mut each: Vec<u64> = calls.iter().map(fingerprint).collect();
        each.sort_unstable();
        let mut hasher = DefaultHasher::new();
        each.hash(&mut hasher);
        let step = hasher.finish();
        while self.0.len() >= WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(step);
        match self.0.iter().filter(|known| **known == step).count() {
            STOP_AT.. => LoopVerdict::Stop,
            WARN_AT => LoopVerdict::Warn,
            _ => LoopVerdict::Fine,
        }
    }
}

fn fingerprint(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.name.hash(&mut hasher);
    digest(&call.input, &mut hasher);
    hasher.finish()
}

/// Hashes a value regardless of the order of the keys in its objects.
fn digest(value: &Value, hasher: &mut impl Hasher) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            fields.len().hash(hasher);
            for (key, value) in fields {
                key.hash(hasher);
                digest(value, hasher);
            }
        }
        Value::Array(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| digest(item, hasher));
        }
        plain => plain.to_string().hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(name: &str, input: Value) -> ToolCall {
        ToolCall { id: "c".to_owned(), name: name.to_owned(), input, provider_executed: false, metadata: None }
    }

    #[test]
    fn repeated_calls_are_a_loop() {
        let mut loops = LoopDetector::default();
        let (a, b) = (call("a", json!({ "x": 1, "y": [2] })), call("b", json!({})));
        let turned = call("a", json!({ "y": [2], "x": 1 }));
        let verdicts: Vec<_> = [[&a, &b], [&b, &turned], [&turned, &b], [&a, &b], [&b, &a]]
            .map(|calls| loops.record(&calls.map(Clone::clone)))
            .to_vec();
        assert_eq!(
            verdicts,
            [LoopVerdict::Fine, LoopVerdict::Fine, LoopVerdict::Warn, LoopVerdict::Fine, LoopVerdict::Stop]
        );
    }

    #[test]
    fn repeated_calls_outside_the_window_are_no_loop() {
        let mut loops = LoopDetector::default();
        for round in 0..3 {
            assert_ne!(loops.record(&[call("a", json!({}))]), LoopVerdict::Stop);
            for n in 0..9 {
                assert_eq!(loops.record(&[call("a", json!({ "n": n + 100 * round }))]), LoopVerdict::Fine);
            }
        }
        assert_eq!(loops.record(&[]), LoopVerdict::Fine);
    }
}
