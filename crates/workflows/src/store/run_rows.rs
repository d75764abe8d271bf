//! The rows of runs.

use crate::plan::StepError;
use crate::store::{json, name, optional_json};
use ::store::StoreError;
use ::store::sql::Row;
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use web::html::dollars;
use workflow_definition::RunLimits;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RunState {
    /// Steps run, or are about to.
    Running,
    /// It waits: for a person, for a time, or for a child workflow.
    Waiting,
    /// It has an output.
    Done,
    /// It has failed.
    Failed,
    /// It was stopped.
    Stopped,
}

impl RunState {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// The usage of a run or a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Used {
    /// The requests to models.
    pub(crate) requests: u64,
    /// The tokens of all requests.
    pub(crate) total_tokens: u64,
    /// The tool calls of agents.
    pub(crate) tool_calls: u64,
    /// The cost in US dollars, of models whose price is known.
    pub(crate) cost_usd: f64,
    /// The requests to models whose price is not known.
    #[serde(default)]
    pub(crate) unpriced: u64,
}

impl Used {
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        let number = |column: &str| Ok::<_, StoreError>(row.try_get::<i64>(column)?.unsigned_abs());
        Ok(Self {
            requests: number("requests")?,
            total_tokens: number("total_tokens")?,
            tool_calls: number("tool_calls")?,
            cost_usd: row.try_get("cost_usd")?,
            unpriced: number("unpriced")?,
        })
    }
}

impl Used {
    /// Returns what was used since.
    #[must_use]
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(before.requests),
            total_tokens: self.total_tokens.saturating_sub(before.total_tokens),
            tool_calls: self.tool_calls.saturating_sub(before.tool_calls),
            cost_usd: (self.cost_usd - before.cost_usd).max(0.0),
            unpriced: self.unpriced.saturating_sub(before.unpriced),
        }
    }

    /// Returns the cost for people: `unknown`, or an amount and `unknown`, if the price of a model is not known.
    pub(crate) fn cost(&self) -> String {
        match (self.unpriced, self.cost_usd > 0.0) {
            (0, _) => dollars(self.cost_usd),
            (_, false) => "unknown".to_owned(),
            (_, true) => format!("{} + unknown", dollars(self.cost_usd)),
        }
    }

    /// Returns the cost in US dollars, if it is known.
    pub(crate) fn known_cost(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.cost_usd)
    }
}

/// The usage of a run at the time when it continued after its end. Its limits count from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsedBefore {
    pub(crate) used: Used,
    pub(crate) steps: u32,
}

impl UsedBefore {
    /// Reads the column `used_before`; nothing if the run has not ended before.
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(optional_json(row.try_get("used_before")?)?.unwrap_or_default())
    }
}

/// The identity with which the steps of a run act. Tokens of the user are not stored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunCaller {
    pub(crate) name: Option<String>,
    pub(crate) is_authenticated: bool,
    pub(crate) roles: Vec<String>,
}

impl RunCaller {
    /// Returns the caller of the steps.
    pub(crate) fn caller(&self, owner: &str) -> Caller {
        let Self { name, is_authenticated, roles } = self.clone();
        Caller::new(owner, is_authenticated).with_name(name).with_roles(roles)
    }
}

impl From<&Caller> for RunCaller {
    fn from(caller: &Caller) -> Self {
        let (name, roles) = (caller.name.clone(), caller.roles().to_vec());
        Self { name, is_authenticated: caller.is_authenticated, roles }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunRow {
    /// Its id.
    pub(crate) id: String,
    /// The user who started it.
    pub(crate) owner: String,
    /// The workflow.
    pub(crate) workflow_id: String,
    /// The version of the definition with which the run was started and to which it keeps.
    pub(crate) version: String,
    /// The run of which this one is a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_id: Option<String>,
    /// The run that was started again as this one, which may be deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rerun_of: Option<String>,
    #[serde(skip)]
    pub(crate) parent_path: Option<String>,
    #[serde(skip)]
    pub(crate) ancestors: Vec<String>,
    #[serde(skip)]
    pub(crate) caller: RunCaller,
    /// The input.
    pub(crate) input: Value,
    /// The limits.
    pub(crate) limits: RunLimits,
    /// The state.
    pub(crate) state: RunState,
    /// The output; `null` if there is none.
    pub(crate) output: Value,
    /// Why it has failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<StepError>,
    #[serde(skip)]
    pub(crate) stop_requested: bool,
    /// The usage of the run, with its children and all attempts.
    pub(crate) used: Used,
    /// The number of steps that were started.
    pub(crate) steps: u32,
    /// When it was created; Unix time, milliseconds.
    pub(crate) created_at: i64,
    /// When it went on after its end; Unix time, milliseconds. The limits count from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resumed_at: Option<i64>,
    /// The workflows whose events led to the run, from the first one, and those of the runs above.
    #[serde(skip)]
    pub(crate) causes: Vec<String>,
    #[serde(skip)]
    pub(crate) used_before: UsedBefore,
    #[serde(skip)]
    key_base: String,
    /// When it ended; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<i64>,
    /// When it continues by itself; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wakes_at: Option<i64>,
}

/// The columns that [`RunRow::read`] reads.
pub(super) const COLUMNS: &str = "id, owner, workflow_id, version, parent_id, parent_path, ancestors, caller, input,
    limits, state, output, error, stop_requested, requests, total_tokens, tool_calls, cost_usd, unpriced, steps, created_at,
    ended_at, wakes_at, resumed_at, used_before, key_base,
    rerun_of, causes";

impl RunRow {
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.try_get("id")?,
            owner: row.try_get("owner")?,
            workflow_id: row.try_get("workflow_id")?,
            version: row.try_get("version")?,
            parent_id: row.try_get("parent_id")?,
            parent_path: row.try_get("parent_path")?,
            ancestors: json(row.try_get("ancestors")?)?,
            caller: json(row.try_get("caller")?)?,
            input: json(row.try_get("input")?)?,
            limits: json(row.try_get("limits")?)?,
            state: name(row.try_get("state")?)?,
            output: optional_json(row.try_get("output")?)?.unwrap_or_default(),
            error: optional_json(row.try_get("error")?)?,
            stop_requested: row.try_get("stop_requested")?,
            used: Used::read(row)?,
            steps: u32::try_from(row.try_get::<i64>("steps")?).unwrap_or(u32::MAX),
            created_at: row.try_get("created_at")?,
            ended_at: row.try_get("ended_at")?,
            wakes_at: row.try_get("wakes_at")?,
            resumed_at: row.try_get("resumed_at")?,
            used_before: UsedBefore::read(row)?,
            key_base: row.try_get("key_base")?,
            rerun_of: row.try_get("rerun_of")?,
            causes: json(row.try_get("causes")?)?,
        })
    }

    /// Returns when the time of the run is over; Unix time in milliseconds.
    pub(crate) fn deadline(&self) -> i64 {
        self.resumed_at.unwrap_or(self.created_at).saturating_add(self.limits.timeout_ms())
    }

    /// Returns how many more steps the run may start.
    pub(crate) fn steps_left(&self) -> u32 {
        self.limits.max_steps().saturating_sub(self.steps.saturating_sub(self.used_before.steps))
    }

    /// Returns the workflows that led to what happens in the run, this one's last.
    pub(crate) fn chain(&self) -> Vec<String> {
        self.causes.iter().chain([&self.workflow_id]).cloned().collect()
    }

    /// Returns what the idempotency keys of its steps begin with.
    pub(crate) fn key_base(&self) -> &str {
        if self.key_base.is_empty() { &self.id } else { &self.key_base }
    }

    /// Returns [`RunRow::key_base`] of the run that is the step with this path. No id of a step contains `>`.
    pub(crate) fn key_base_below(&self, path: &str) -> String {
        format!("{}/{path}>", self.key_base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_without_a_price_is_not_known() {
        let check = |cost_usd: f64, unpriced: u64, shown: &str, known: Option<f64>| {
            let used = Used { cost_usd, unpriced, ..Used::default() };
            assert_eq!((used.cost().as_str(), used.known_cost()), (shown, known));
        };
        check(0.0, 0, "$0.00", Some(0.0));
        check(0.12, 0, "$0.12", Some(0.12));
        check(0.0, 2, "unknown", None);
        check(0.12, 1, "$0.12 + unknown", None);
    }
}
