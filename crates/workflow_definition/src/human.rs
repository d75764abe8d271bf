//! Steps that a person does.

use crate::Step;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use settings::Text;

/// Asks a person. The run waits, without a task or memory, until somebody answers. The output has
/// the answer: `decision` or `choice` or `values`, `comment`, `by` and `at`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct HumanStep {
    /// The kind of decision. Default: `approve`.
    #[serde(default)]
    pub ask: Ask,
    /// The question. Operators and `$.` paths are allowed.
    pub title: Value,
    /// The facts for the decision. Operators and `$.` paths are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// The roles whose users may answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<Text>,
    /// The ids of users who may answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<Text>,
    /// For `ask: choose`: the choices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Text>,
    /// For `ask: form`: the JSON Schema of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Map<String, Value>>,
    /// The time for an answer in seconds. Default: until the run's time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub due_seconds: Option<u32>,
    /// After how many seconds without an answer there is a reminder: the event `task.reminded`, and a
    /// mark at the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 31_536_000))]
    pub remind_seconds: Option<u32>,
    /// The most reminders, each `remindSeconds` after the one before. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub reminders: Option<u32>,
    /// The action when the question has expired without an answer. Default: the step fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_lapse: Option<OnLapse>,
}

/// The kind of decision that a person makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Ask {
    /// Approves or rejects; the output's `decision` is `approved` or `rejected`.
    #[default]
    Approve,
    /// Chooses one of `choices`, which is the output's `choice`.
    Choose,
    /// Fills in `form`; the output's `values` are what was filled in.
    Form,
}

impl Ask {
    /// Returns the name in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Choose => "choose",
            Self::Form => "form",
        }
    }
}

/// The action when a question has expired without an answer: one of the keys is set.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnLapse {
    /// The output of the step, with which the run goes on.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub output: Option<Value>,
    /// The message with which the step fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail: Option<Text>,
    /// The steps that run instead. The output of the last one is the output of this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// Reads a value that is there, also `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
