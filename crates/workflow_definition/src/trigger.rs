//! A trigger as it is written.

use schedules::MissedTicks;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use settings::{Id, Quota, QuotaPeriod, Text};

/// A trigger, which starts runs of a workflow.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    /// The id, unique in the workflow.
    pub id: Id,
    /// The type of the trigger, with its keys.
    #[serde(flatten)]
    pub kind: TriggerKind,
    /// The condition under which it starts a run. Operators are allowed; `_event` reads what has
    /// happened. `null`, `false`, `0` and an empty text count as false. Default: always.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Value>,
    /// The input of the run. Operators are allowed; `_event` reads what has happened. Default: what has
    /// happened; for a webhook, the body of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// With which rights the steps run, if the workflow does not say it for all its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as: Option<TriggerRights>,
}

impl Trigger {
    /// Returns the roles of the runs; none if the workflow says them.
    pub fn roles(&self) -> Vec<String> {
        let roles = self.run_as.iter().filter_map(|rights| rights.roles.as_ref());
        roles.flatten().map(|role| role.0.clone()).collect()
    }

    /// Returns the quota of the runs of the trigger together.
    pub fn quota(&self) -> Option<Quota> {
        let TriggerQuota { period, messages, tokens, cost_usd } = self.run_as.as_ref()?.quota?;
        Some(Quota { messages, tokens, cost_usd, ..Quota::per(period) })
    }
}

/// The rights of the runs that a trigger starts. They belong to a user of the trigger's own, so quotas
/// of these roles count for each trigger by itself.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TriggerRights {
    /// The roles. With an empty list, the steps may do what every signed-in user may do. Needed unless the
    /// workflow says it for all its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<Text>>,
    /// The quota of all runs of this trigger together in a period, beside the quotas of the roles. When it is used up,
    /// the steps that ask agents wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<TriggerQuota>,
}

/// The quota of the runs of a trigger together. At least one bound is set.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TriggerQuota {
    /// The period, which starts at midnight UTC of each day, or of the first day of each month.
    #[serde(rename = "per")]
    pub period: QuotaPeriod,
    /// The most requests to agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// The most tokens, input and output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The highest cost in US dollars. The price of every model that the workflow may use must be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// The type of a trigger, with its keys.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
#[schemars(extend("x-names" = "type of trigger"))]
pub enum TriggerKind {
    /// Times that a cron expression repeats.
    Cron(CronTrigger),
    /// Requests of another service to `POST /api/hooks/{workflow}/{trigger}`.
    Webhook(WebhookTrigger),
    /// Something that happens in the product, or that a program reports.
    Event(EventTrigger),
}

/// Times that a cron expression repeats.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CronTrigger {
    /// The times, in five fields: minute, hour, day of the month, month, day of the week.
    pub cron: Text,
    /// The time zone, as a name of the IANA database. Default: `UTC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<Text>,
    /// The handling of times at which no server was running. Default: `once`.
    #[serde(default)]
    pub missed: MissedTicks,
}

impl CronTrigger {
    /// Returns the name of the time zone.
    pub fn time_zone(&self) -> &str {
        self.time_zone.as_ref().map_or("UTC", |zone| &zone.0)
    }
}

/// Requests of another service.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct WebhookTrigger {
    /// The connection of the type `Webhook` that says how the service signs.
    pub connection_id: Id,
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct EventTrigger {
    /// The name: `run.ended`, `approval.waiting`, `feedback.given`, `user.created`, `document.ready`, `task.waiting`,
    /// `task.reminded`, `workflow.ended`, or that of an event
    /// that programs report with `POST /api/events/{name}`.
    pub event: Text,
    /// The roles of users and API keys that may report the event. Default: `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub senders: Option<Vec<Text>>,
}

/// The longest name of an event.
pub const MAX_EVENT_NAME: usize = 100;

/// Returns whether a text can be the name of an event.
pub fn is_event_name(name: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=MAX_EVENT_NAME).contains(&name.len()) && name.bytes().all(is_sign)
}
