//! Experiments: what is run, how far it is, and what was decided.

use super::UNREADABLE;
use ::store::StoreError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ExperimentState")]
pub(crate) enum State {
    /// It waits for a server.
    Waiting,
    /// Cases are evaluated.
    Running,
    /// All cases have a result.
    Done,
    /// It was stopped, or reached the bound of its cost.
    Stopped,
    /// It cannot be run.
    Failed,
}

impl State {
    /// Returns the name, as in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }

    /// Returns whether nothing more happens on its own.
    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Stopped | Self::Failed)
    }

    /// Reads a name of the table.
    pub(super) fn parse(name: &str) -> Result<Self, StoreError> {
        let all = [Self::Waiting, Self::Running, Self::Done, Self::Stopped, Self::Failed];
        all.into_iter().find(|state| state.name() == name).ok_or(UNREADABLE)
    }
}

/// The agents and the bounds of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExperimentSettings")]
pub(crate) struct Settings {
    /// The agents, one or two. The second is compared with the first.
    pub(crate) agents: Vec<String>,
    /// Only the cases of this part of the dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) split: Option<String>,
    /// How often each case is evaluated.
    pub(crate) repeat: u32,
    /// The highest cost in US dollars; absent if nothing bounds it but the number of cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_cost_usd: Option<f64>,
    /// The scorers of the dataset at the start, as YAML.
    pub(crate) scorers: String,
    /// The roles of the administrator who started it, as whom the agents are asked.
    #[schemars(skip)]
    pub(crate) roles: Vec<String>,
}

/// How an experiment ends.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub(crate) state: State,
    /// Why it is not complete.
    pub(crate) cause: Option<String>,
    /// The measures, if it is complete.
    pub(crate) summary: Vec<ConfigSummary>,
}

impl Ending {
    /// An experiment that is not complete.
    pub(crate) fn incomplete(state: State, cause: impl Into<String>) -> Self {
        Self { state, cause: Some(cause.into()), summary: Vec::new() }
    }
}

/// The measures of a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExperimentSummary")]
pub(crate) struct ConfigSummary {
    /// The name of the config.
    pub(crate) config: String,
    /// `passed`, then the scorers.
    pub(crate) measures: Vec<MeasureSummary>,
    /// The cost of the answers in US dollars, as far as prices are known.
    pub(crate) cost_usd: f64,
    /// The mean time of an answer in seconds.
    pub(crate) mean_seconds: f64,
}

/// The mean of a measure with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExperimentMeasure")]
pub(crate) struct MeasureSummary {
    /// `passed`, or a scorer.
    pub(crate) name: String,
    /// The number of cases.
    pub(crate) count: usize,
    /// The mean, from 0 to 1.
    pub(crate) mean: f64,
    /// The lower end of the interval.
    pub(crate) low: f64,
    /// The upper end of the interval.
    pub(crate) high: f64,
}

/// The decision about an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExperimentDecision")]
pub(crate) struct Decision {
    /// Whether what was tried is adopted.
    pub(crate) is_adopted: bool,
    /// Why.
    pub(crate) note: String,
    /// The administrator (id).
    pub(crate) decided_by: String,
    /// Unix time, milliseconds.
    pub(crate) decided_at: i64,
}

/// An experiment.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Experiment {
    /// The id; begins with the time.
    pub(crate) id: String,
    /// The name.
    pub(crate) name: String,
    /// The dataset; absent for results that were uploaded without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dataset_id: Option<String>,
    /// The version of the dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dataset_version: Option<i64>,
    /// The agents and the bounds. Empty for uploaded results.
    pub(crate) settings: Settings,
    /// The names of what is compared.
    pub(crate) configs: Vec<String>,
    /// The hash of the config with which it ran.
    pub(crate) fingerprint: String,
    /// How far it is.
    pub(crate) state: State,
    /// The job that runs it.
    #[serde(skip)]
    pub(crate) job_id: Option<String>,
    /// The number of results when it is complete.
    pub(crate) total: i64,
    /// The number of results so far.
    pub(crate) done: i64,
    /// The estimated cost of all cases in US dollars, once the first case is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate_usd: Option<f64>,
    /// The cost so far in US dollars, as far as prices are known.
    pub(crate) spent_usd: f64,
    /// The measures of each config, once it is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) summary: Vec<ConfigSummary>,
    /// Why it was not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<String>,
    /// The administrator who started or uploaded it (id).
    pub(crate) created_by: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
    /// Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<i64>,
    /// The decision of an administrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decision>,
}
