//! Detects a model that repeats the same tool calls. It is warned first, and then stopped. The steps of
//! earlier turns of the conversation count, too: a model that has stopped because of a loop would
//! otherwise begin it anew with each message of the user.

use contract::{AssistantPart, Message, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The number of identical steps after which the model is warned.
const WARN_AT: usize = 3;
/// The number of identical steps after which the run ends.
const STOP_AT: usize = 5;
/// The number of identical steps that must be in the turn itself before a warning, so that a call that
/// the user asks for again is run.
const WARN_IN_TURN: usize = 2;
/// The same for the end of the run: the warning comes first.
const STOP_IN_TURN: usize = 3;
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
    /// Returns whether a step of the turn had these calls, in any order. Steps of earlier turns are needed only if one
    /// had them.
    pub(crate) fn has(&self, calls: &[ToolCall]) -> bool {
        step(calls.iter()).is_some_and(|step| self.0.contains(&step))
    }

    /// Records the calls of a step, in any order. `earlier` are the steps of the turns before.
    pub(crate) fn record(&mut self, calls: &[ToolCall], earlier: &EarlierSteps) -> LoopVerdict {
        let Some(step) = step(calls.iter()) else { return LoopVerdict::Fine };
        while self.0.len() >= WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(step);
        let same = |known: &&u64| **known == step;
        let in_turn = self.0.iter().filter(same).count();
        let before = earlier.0.iter().rev().take(WINDOW - self.0.len()).filter(same).count();
        match in_turn + before {
            STOP_AT.. if in_turn >= STOP_IN_TURN => LoopVerdict::Stop,
            WARN_AT if in_turn >= WARN_IN_TURN => LoopVerdict::Warn,
            // Earlier turns have taken the place of the warning.
            WARN_AT.. if in_turn == WARN_IN_TURN => LoopVerdict::Warn,
            _ => LoopVerdict::Fine,
        }
    }
}

/// The hashes of the tool calls of the last steps before a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierSteps(Vec<u64>);

impl EarlierSteps {
    /// Reads the steps from the messages before a turn, oldest first. Calls count whether they ran on the
    /// server or in the page, and whether they were approved or denied.
    pub(crate) fn from_history(messages: &[Arc<Message>]) -> Self {
        let calls = |message: &Arc<Message>| match &**message {
            Message::Assistant(parts) => step(parts.iter().filter_map(|part| match part {
                AssistantPart::ToolCall(call) => Some(call),
                _ => None,
            })),
            _ => None,
        };
        let mut newest: Vec<u64> = messages.iter().rev().filter_map(calls).take(WINDOW).collect();
        newest.reverse();
        Self(newest)
    }
}

/// Returns the hash of the calls of a step, in any order; `None` if it has none.
fn step<'c>(calls: impl Iterator<Item = &'c ToolCall>) -> Option<u64> {
    let mut each: Vec<u64> = calls.map(fingerprint).collect();
    each.sort_unstable();
    let mut hasher = DefaultHasher::new();
    each.hash(&mut hasher);
    (!each.is_empty()).then(|| hasher.finish())
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
            .map(|calls| loops.record(&calls.map(Clone::clone), &EarlierSteps::default()))
            .to_vec();
        assert_eq!(
            verdicts,
            [LoopVerdict::Fine, LoopVerdict::Fine, LoopVerdict::Warn, LoopVerdict::Fine, LoopVerdict::Stop]
        );
    }

    #[test]
    fn repeated_calls_outside_the_window_are_no_loop() {
        let (mut loops, none) = (LoopDetector::default(), EarlierSteps::default());
        for round in 0..3 {
            assert_ne!(loops.record(&[call("a", json!({}))], &none), LoopVerdict::Stop);
            for n in 0..9 {
                let other = call("a", json!({ "n": n + 100 * round }));
                assert_eq!(loops.record(&[other], &none), LoopVerdict::Fine);
            }
        }
        assert_eq!(loops.record(&[], &none), LoopVerdict::Fine);
    }

    #[test]
    fn steps_of_earlier_turns_count() {
        use LoopVerdict::{Fine, Stop, Warn};
        let check = |before: usize, expected: &[LoopVerdict]| {
            let says = |call: ToolCall| Arc::new(Message::Assistant(vec![AssistantPart::ToolCall(call)]));
            let asks = || Arc::new(Message::User(Vec::new()));
            let history: Vec<_> =
                (0..before).flat_map(|_| [asks(), says(call("a", json!({ "x": 1 })))]).chain([asks()]).collect();
            let (earlier, mut loops) = (EarlierSteps::from_history(&history), LoopDetector::default());
            let found: Vec<_> =
                expected.iter().map(|_| loops.record(&[call("a", json!({ "x": 1 }))], &earlier)).collect();
            assert_eq!(found, expected, "{before}");
            assert_eq!(loops.record(&[call("a", json!({ "x": 2 }))], &earlier), Fine);
        };
        check(0, &[Fine, Fine, Warn, Fine, Stop]);
        check(1, &[Fine, Warn, Fine, Stop]);
        // A call that the user asks for again is run, however often they ask.
        check(9, &[Fine, Warn, Stop]);
    }
}
