//! A workflow as it is written.

use crate::{Step, Trigger};
use config::Location;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use settings::{Id, Text};
use sha2::{Digest, Sha256};
use wire::invoke::AgentTier;

/// Processes of several steps that outlive a request: each step's result is stored before the next
/// one starts, so a run survives restarts and may wait for days.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Workflows(pub Vec<Workflow>);

impl Workflows {
    /// Returns the workflow with this id.
    pub fn get(&self, id: &str) -> Option<&Workflow> {
        self.0.iter().find(|workflow| workflow.id.0 == id)
    }
}

/// A workflow.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// Where it stands in the config; absent for one that is stored.
    #[serde(skip)]
    pub at: Option<Location>,
    /// The id, which the API uses.
    pub id: Id,
    /// The title that people see. Default: the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// The description for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of the input. Without it, every JSON object is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Map<String, Value>>,
    /// The roles of the users who may start it. Default: all signed-in users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<Text>,
    /// With which rights the steps run. Default: with those that the user has when the run starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as: Option<RunAs>,
    /// The triggers, which start runs. A run can also be started by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// The tier of the agent steps that name none. Default: the bytes of `batch`, and the time of
    /// `timeoutSeconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-names" = "tier"))]
    pub tier: Option<AgentTier>,
    /// The limits of a run. Child workflows and further attempts count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: RunLimits,
    /// The steps.
    #[schemars(length(min = 1))]
    pub steps: Vec<Step>,
    /// The output of the run. Operators and `$.` paths are allowed. Default: the output of the last
    /// step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

impl Workflow {
    /// Returns the title.
    pub fn title(&self) -> &str {
        self.title.as_ref().map_or(&self.id.0, |title| &title.0)
    }

    /// Returns whether users with these roles may start it.
    pub fn is_for(&self, roles: &[String]) -> bool {
        self.roles.is_empty() || self.roles.iter().any(|role| roles.contains(&role.0))
    }

    /// Returns the roles that its steps have, whoever starts it.
    pub fn own_roles(&self) -> Option<Vec<String>> {
        self.run_as.as_ref().map(|run_as| run_as.roles.iter().map(|role| role.0.clone()).collect())
    }

    /// Returns the version: a hash of the definition without its triggers, which change nothing in a run.
    pub fn version(&self) -> String {
        let text = serde_json::to_vec(&Self { triggers: Vec::new(), ..self.clone() }).unwrap_or_default();
        hex::encode(&Sha256::digest(&text)[..8])
    }

    /// Calls a function with all steps.
    pub fn for_each_step(&self, visit: &mut dyn FnMut(&Step)) {
        fn visit_list(steps: &[Step], visit: &mut dyn FnMut(&Step)) {
            for step in steps {
                visit(step);
                step.lists().for_each(|list| visit_list(list.steps, visit));
            }
        }
        visit_list(&self.steps, visit);
    }

    /// Returns the step with this id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        find(&self.steps, id)
    }
}

fn find<'s>(steps: &'s [Step], id: &str) -> Option<&'s Step> {
    steps
        .iter()
        .find_map(|step| if step.id.0 == id { Some(step) } else { step.lists().find_map(|list| find(list.steps, id)) })
}

/// The rights of a run's steps.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunAs {
    /// The roles that the steps have instead of the user's.
    #[schemars(length(min = 1))]
    pub roles: Vec<Text>,
}

/// The limits of a run. The run ends at the first one that it reaches, and the reason is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RunLimits {
    /// The most requests to models.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub requests: Option<u32>,
    /// The most tokens of all requests, input and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub total_tokens: Option<u64>,
    /// The most tool calls of agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u32>,
    /// The highest cost in US dollars. The price of every model that the run may use must be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
    /// The longest duration in seconds, including the time in which the run waits. Default: 30 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u32>,
    /// The most steps that a run executes; those of each iteration count. Default: 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub steps: Option<u32>,
}

impl RunLimits {
    /// The longest duration of a run by default, in seconds.
    const TIMEOUT: u32 = 30 * 24 * 60 * 60;
    /// The most steps that a run can have.
    const MAX_STEPS: u32 = 10_000;
    /// The most steps of a run by default.
    const STEPS: u32 = 1_000;

    /// Returns whether what the steps use is limited.
    pub fn limits_use(&self) -> bool {
        let Self { requests, total_tokens, tool_calls, cost_usd, .. } = self;
        requests.is_some() || total_tokens.is_some() || tool_calls.is_some() || cost_usd.is_some()
    }

    /// Returns the stricter of both for each limit.
    #[must_use]
    pub fn stricter(&self, other: &Self) -> Self {
        Self {
            requests: lower(self.requests, other.requests),
            total_tokens: lower(self.total_tokens, other.total_tokens),
            tool_calls: lower(self.tool_calls, other.tool_calls),
            cost_usd: lower(self.cost_usd, other.cost_usd),
            timeout_seconds: lower(self.timeout_seconds, other.timeout_seconds),
            steps: lower(self.steps, other.steps),
        }
    }

    /// Returns these limits, and those of `other` where there are none.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            requests: self.requests.or(other.requests),
            total_tokens: self.total_tokens.or(other.total_tokens),
            tool_calls: self.tool_calls.or(other.tool_calls),
            cost_usd: self.cost_usd.or(other.cost_usd),
            timeout_seconds: self.timeout_seconds.or(other.timeout_seconds),
            steps: self.steps.map(|steps| steps.min(Self::MAX_STEPS)).or(other.steps),
        }
    }

    /// Returns the longest duration in milliseconds.
    pub fn timeout_ms(&self) -> i64 {
        i64::from(self.timeout_seconds.unwrap_or(Self::TIMEOUT)) * 1_000
    }

    /// Returns the most steps.
    pub fn max_steps(&self) -> u32 {
        self.steps.unwrap_or(Self::STEPS)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn lower<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other < one { other } else { one }),
        (one, other) => one.or(other),
    }
}
