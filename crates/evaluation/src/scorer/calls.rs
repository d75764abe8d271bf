//! The scorer of tool calls.

use super::verdict::{Checked, Scored, Verdict};
use crate::case_value::{CaseValue, Texts};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use wire::{ToolPart, ToolState};

/// Which tools the agent has called in all its answers, with which arguments.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Tools {
    called: Option<CaseValue<Calls>>,
    not_called: Option<CaseValue<Texts>>,
    /// Whether there are no other calls than those in `called`.
    #[serde(default)]
    only: bool,
}

/// The expected calls. One counts as a list of one, as texts elsewhere: a cell of a CSV file is a text.
#[derive(Clone, Debug, Serialize)]
struct Calls(Vec<Call>);

impl<'de> Deserialize<'de> for Calls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let list = if value.is_array() { value } else { Value::Array(vec![value]) };
        Vec::deserialize(list).map(Self).map_err(serde::de::Error::custom)
    }
}

/// A call that is expected: the name of a tool, or more.
#[derive(Clone, Debug, Serialize)]
struct Call {
    name: String,
    /// Arguments that the call has, beside others.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
    /// The state of the call, such as `approval-requested`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<ToolState>,
    /// How often; at least once if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<usize>,
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        struct Entry {
            name: String,
            arguments: Option<Value>,
            state: Option<ToolState>,
            times: Option<usize>,
        }
        let value = Value::deserialize(deserializer)?;
        if let Value::String(name) = value {
            return Ok(Self { name, arguments: None, state: None, times: None });
        }
        let entry = Entry::deserialize(value).map_err(serde::de::Error::custom)?;
        let Entry { name, arguments, state, times } = entry;
        Ok(Self { name, arguments, state, times })
    }
}

impl Call {
    fn fits(&self, call: &ToolPart) -> bool {
        call.tool_name == self.name
            && self.state.is_none_or(|state| call.state == state)
            && self
                .arguments
                .as_ref()
                .is_none_or(|wanted| call.input.as_ref().is_some_and(|input| contains(input, wanted)))
    }

    fn described(&self) -> String {
        let mut text = format!("`{}`", self.name);
        if let Some(arguments) = &self.arguments {
            text.push_str(&format!(" with {arguments}"));
        }
        if let Some(state) = self.state {
            let state = serde_json::to_value(state).ok();
            text.push_str(&format!(" in the state {}", state.as_ref().and_then(Value::as_str).unwrap_or_default()));
        }
        text
    }
}

/// Returns whether a value has everything of another one: of objects the same or more keys, of other
/// values the same.
fn contains(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| contains(value, wanted)))
        }
        _ => value == wanted,
    }
}

impl Tools {
    /// The score is the part of the expected calls that were made; 0 if another condition fails.
    pub(super) fn check(&self, scored: Scored<'_>) -> Checked {
        let called = match &self.called {
            Some(called) => called.resolve(scored.case)?.map(|Calls(calls)| calls),
            None => None,
        };
        let not_called = match &self.not_called {
            Some(not_called) => not_called.resolve(scored.case)?.map(|Texts(names)| names),
            None => None,
        };
        if called.is_none() && not_called.is_none() {
            return Ok(None);
        }
        let (called, not_called) = (called.unwrap_or_default(), not_called.unwrap_or_default());
        let made: Vec<_> = scored.transcript.calls().collect();
        let mut problems = Vec::new();
        for call in &called {
            let count = made.iter().filter(|made| call.fits(made)).count();
            match call.times {
                Some(times) if times != count => {
                    problems.push(format!("{} was called {count} times instead of {times}", call.described()));
                }
                None if count == 0 => problems.push(format!("{} was not called", call.described())),
                _ => {}
            }
        }
        let missing = problems.len();
        for name in &not_called {
            if made.iter().any(|made| made.tool_name == *name) {
                problems.push(format!("`{name}` was called"));
            }
        }
        if self.only {
            let others = made.iter().filter(|made| !called.iter().any(|call| call.fits(made)));
            problems.extend(others.map(|made| format!("`{}` was called, too", made.tool_name)));
        }
        if !problems.is_empty() && missing > 0 && made.is_empty() {
            problems.push("no tool was called".to_owned());
        }
        let mut verdict = Verdict::without(&problems);
        if missing > 0 && problems.len() == missing {
            verdict.score = (called.len() - missing) as f64 / called.len() as f64;
        }
        Ok(Some(verdict))
    }

    pub(super) fn problem(&self) -> Option<String> {
        let is_empty = self.called.is_none() && self.not_called.is_none();
        is_empty.then(|| "`tools` needs `called` or `notCalled`".to_owned())
    }

    pub(super) fn has_values(&self, case: &Value) -> bool {
        let has_called = self.called.as_ref().is_some_and(|called| called.has_value(case));
        has_called || self.not_called.as_ref().is_some_and(|not_called| not_called.has_value(case))
    }

    pub(super) fn case_paths(&self) -> Vec<(&'static str, &str)> {
        let called = self.called.as_ref().and_then(CaseValue::path).map(|path| ("/tools/called", path));
        let not_called = self.not_called.as_ref().and_then(CaseValue::path).map(|path| ("/tools/notCalled", path));
        called.into_iter().chain(not_called).collect()
    }
}
