//! The planner: computes the next actions of a run. It is a pure function of the definition, the input, the
//! stored records and the time. It has no clock of its own, does no I/O, and is bounded, so a run can be
//! continued by any server at any time.

mod frame;
mod planner;
#[cfg(test)]
mod tests;

pub(crate) use frame::{Frame, RunFacts};
pub(crate) use planner::{plan, unhandled_failures};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The kind of the error of a question that nobody has answered in time.
pub(crate) const LAPSED: &str = "lapsed";
/// The kind of the error of a step that the server has refused before anything was done.
pub(crate) const BUSY: &str = "busy";
/// The kind of the error of a step that ended with its run.
const STOPPED: &str = "stopped";

/// The state of a step that has a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StepState {
    /// It has started. If the server that started it is gone, it is `unknown` instead.
    Running,
    /// The server was killed while the step ran, so that it is not known whether it had its effect.
    /// A person decides.
    Unknown,
    /// It has failed and is tried again later.
    Retrying,
    /// It waits: for a person, for a time, or for a child workflow.
    Waiting,
    /// It has an output.
    Done,
    /// It has failed.
    Failed,
}

/// The error of a step.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct StepError {
    /// The kind: `timeout`, `unavailable`, `invalid`, `failed`, `value` (a value of the definition
    /// could not be evaluated), `lapsed` (nobody answered in time), `limit`, `stopped` or `busy` (the server had no
    /// place for the step, which is tried again).
    pub(crate) kind: String,
    /// The message.
    pub(crate) message: String,
    /// The path of the step.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) step: String,
}

impl StepError {
    /// Creates an error.
    pub(crate) fn new(kind: &str, message: impl Into<String>, step: &str) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), step: step.to_owned() }
    }

    /// The error of a step that had not ended when its run did.
    pub(crate) fn cut_off() -> Self {
        Self::new(STOPPED, "The run ended before this step did.", "")
    }

    /// The error of a step that had not ended when the time of a step around it was over. `container` is the path of that
    /// one.
    pub(crate) fn out_of_time(container: &str) -> Self {
        Self::new(STOPPED, "The time of the step around it was over before this step ended.", container)
    }

    /// Returns the path of the step around it whose end has cut it off.
    pub(crate) fn container(&self) -> Option<&str> {
        (self.kind == STOPPED && !self.step.is_empty()).then_some(&*self.step)
    }

    /// Returns whether the step had not ended when its run did.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.kind == STOPPED && self.step.is_empty()
    }
}

/// The stored record of a step that has started.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// Its state.
    pub(crate) state: StepState,
    /// Its output; `null` if there is none yet.
    pub(crate) output: Value,
    /// Why it has failed.
    pub(crate) error: Option<StepError>,
    /// The number of attempts so far.
    pub(crate) attempt: u32,
    /// When it continues: the next attempt, the end of the wait, or when the question lapses.
    pub(crate) next_at: Option<i64>,
    /// When it ended; 0 before.
    pub(crate) ended_at: i64,
}

impl Record {
    /// Returns whether the server has refused the step before anything was done, and it is tried again.
    pub(crate) fn is_refused(&self) -> bool {
        self.state == StepState::Retrying && self.error.as_ref().is_some_and(|error| error.kind == BUSY)
    }
}

/// The records of a run by path.
pub(crate) type Records = BTreeMap<String, Record>;

/// The next actions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    /// The steps to start.
    pub(crate) start: Vec<Start>,
    /// The waiting steps whose time has come: their paths and ids.
    pub(crate) due: Vec<(String, String)>,
    /// The steps of steps whose time is over, those around others last: their paths and ids.
    pub(crate) expired: Vec<(String, String)>,
    /// When to look again, if nothing else happens before.
    pub(crate) wakes_at: Option<i64>,
    /// How the run ends. Nothing is started or waited for then.
    pub(crate) end: Option<End>,
}

/// A step to start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Start {
    /// Its path.
    pub(crate) path: String,
    /// Its id.
    pub(crate) step_id: String,
    /// Its evaluated input.
    pub(crate) input: Value,
    /// The number of this attempt, from 1.
    pub(crate) attempt: u32,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// With an output.
    Done(Value),
    /// With an error.
    Failed(StepError),
}
