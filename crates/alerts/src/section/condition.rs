//! The values that alerts are about, with their limits.

use config::{Config, PathStep, SectionProblems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Id, QuotaPeriod};
use web::html::{dollars, number};

/// A value and its limit. The alert fires when the value is above the limit, not at it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "type")]
#[schemars(extend("x-names" = "type of condition"))]
pub(crate) enum Condition {
    /// The cost of models, as far as prices are known.
    Cost {
        /// The calendar day or month, in UTC.
        per: QuotaPeriod,
        /// The limit in US dollars.
        #[schemars(range(min = 0))]
        above_usd: f64,
        /// Only of this agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<Id>,
    },
    /// The share of answers that have failed or were interrupted.
    Failures {
        /// The limit in percent.
        #[schemars(range(min = 0, max = 99))]
        above_percent: f64,
        /// The answers that ended in the last minutes. Default: 15.
        #[serde(default = "default_minutes")]
        #[schemars(range(min = 1, max = 1440))]
        within_minutes: u32,
        /// With fewer answers the share counts as 0. Default: 10.
        #[serde(default = "default_answers")]
        #[schemars(range(min = 1, max = 100_000))]
        at_least: u32,
        /// Only of this agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<Id>,
    },
    /// The number of jobs that are due and wait.
    WaitingJobs {
        /// The limit.
        #[schemars(range(min = 0))]
        above: u32,
    },
    /// The waiting time of the oldest job that is due.
    JobDelay {
        /// The limit in minutes.
        #[schemars(range(min = 1, max = 10_080))]
        above_minutes: u32,
    },
    /// The number of runs of workflows that have failed. Runs of child workflows count with those
    /// above.
    FailedWorkflowRuns {
        /// The limit. Default: 0.
        #[serde(default)]
        above: u32,
        /// The runs that ended in the last minutes. Default: 15.
        #[serde(default = "default_minutes")]
        #[schemars(range(min = 1, max = 1440))]
        within_minutes: u32,
        /// Only of this workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow_id: Option<Id>,
    },
    /// The number of runs of workflows that wait for a decision, because a server was killed while
    /// a step ran.
    UndecidedWorkflowRuns {
        /// The limit. Default: 0.
        #[serde(default)]
        above: u32,
    },
    /// The number of triggers that were paused because their runs have failed.
    PausedTriggers {
        /// The limit. Default: 0.
        #[serde(default)]
        above: u32,
    },
    /// The used share of a quota (`limits.quotas`), for each of the 50 users with the highest cost
    /// this month.
    Quota {
        /// The limit in percent. Default: 80.
        #[serde(default = "default_percent")]
        #[schemars(range(min = 0, max = 99))]
        above_percent: f64,
    },
}

fn default_minutes() -> u32 {
    15
}

fn default_answers() -> u32 {
    10
}

fn default_percent() -> f64 {
    80.0
}

impl Condition {
    /// Returns the agent whose values count; `None` for all.
    pub(crate) fn agent_id(&self) -> Option<&str> {
        match self {
            Self::Cost { agent_id, .. } | Self::Failures { agent_id, .. } => agent_id.as_ref().map(|id| id.0.as_str()),
            Self::WaitingJobs { .. }
            | Self::JobDelay { .. }
            | Self::FailedWorkflowRuns { .. }
            | Self::UndecidedWorkflowRuns { .. }
            | Self::PausedTriggers { .. }
            | Self::Quota { .. } => None,
        }
    }

    /// Returns the limit.
    pub(crate) fn limit(&self) -> f64 {
        match self {
            Self::Cost { above_usd, .. } => *above_usd,
            Self::Failures { above_percent, .. } | Self::Quota { above_percent } => *above_percent,
            Self::WaitingJobs { above }
            | Self::FailedWorkflowRuns { above, .. }
            | Self::UndecidedWorkflowRuns { above }
            | Self::PausedTriggers { above } => f64::from(*above),
            Self::JobDelay { above_minutes } => f64::from(*above_minutes),
        }
    }

    /// Warns of a workflow that the config does not have: it may be mistyped, or is stored in the
    /// database only.
    pub(super) fn check_workflow(
        &self,
        config: &Config,
        path: &[PathStep<'_>],
        problems: &mut SectionProblems<'_, '_, '_>,
    ) {
        let Self::FailedWorkflowRuns { workflow_id: Some(Id(id)), .. } = self else { return };
        let known = workflows::workflow_ids(config);
        if known.contains(&id.as_str()) {
            return;
        }
        let help = SectionProblems::nearest_name(id, known).map_or_else(
            || "it counts the runs of a workflow of this id that was stored over the API, if there is one".to_owned(),
            |nearest| format!("did you mean `{nearest}`?"),
        );
        let path = [path, &[PathStep::Key("workflowId")]].concat();
        problems.warning(&path, format!("the config has no workflow `{id}`"), Some(help));
    }

    /// Returns the name of the value.
    pub(crate) fn name(&self) -> String {
        let what = match self {
            Self::Cost { per: QuotaPeriod::Day, .. } => "Cost of the day",
            Self::Cost { per: QuotaPeriod::Month, .. } => "Cost of the month",
            Self::Failures { .. } => "Failed answers",
            Self::WaitingJobs { .. } => "Waiting jobs",
            Self::JobDelay { .. } => "Delay of jobs",
            Self::FailedWorkflowRuns { .. } => "Failed workflow runs",
            Self::UndecidedWorkflowRuns { .. } => "Undecided workflow runs",
            Self::PausedTriggers { .. } => "Paused triggers",
            Self::Quota { .. } => "Used quota",
        };
        if let Self::FailedWorkflowRuns { workflow_id: Some(workflow), .. } = self {
            return format!("{what} ({})", workflow.0);
        }
        match self.agent_id() {
            Some(agent) => format!("{what} ({agent})"),
            None => what.to_owned(),
        }
    }

    /// Formats a value with its unit.
    pub(crate) fn format(&self, value: f64) -> String {
        match self {
            Self::Cost { .. } => dollars(value),
            Self::Failures { .. } | Self::Quota { .. } => format!("{}\u{a0}%", value.round()),
            Self::WaitingJobs { .. }
            | Self::FailedWorkflowRuns { .. }
            | Self::UndecidedWorkflowRuns { .. }
            | Self::PausedTriggers { .. } => number(value),
            Self::JobDelay { .. } => format!("{}\u{a0}min", value.round()),
        }
    }

    /// Returns a text that changes with the condition.
    pub(crate) fn fingerprint(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
