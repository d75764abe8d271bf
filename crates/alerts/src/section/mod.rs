//! The section `alerts` of the config.

mod condition;
mod receiver;

pub(crate) use condition::Condition;
pub(crate) use receiver::{OutgoingWebhook, Receiver, Target};

use config::{Config, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Id;
use std::collections::HashSet;

/// Sends messages to operators by e-mail, by webhook or in a chat of a messenger when a value exceeds its limit, and when it is
/// back. The values are checked every minute.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Alerts(#[schemars(length(max = 50))] pub(crate) Vec<Alert>);

/// A value with a limit, and the receivers of messages about it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Alert {
    /// The id.
    pub(crate) id: Id,
    /// The name of the alert in messages. Default: the name of the value.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    pub(crate) title: Option<String>,
    /// The value and its limit.
    pub(crate) when: Condition,
    /// The minutes for which the value must be above the limit until a message is sent, and at or
    /// below it until the alert counts as resolved.
    #[serde(default)]
    #[schemars(range(max = 1440))]
    pub(crate) hold_minutes: u32,
    /// The hours after which a message is sent again while the value is still above the limit; 0:
    /// never.
    #[serde(default = "default_repeat")]
    #[schemars(range(max = 720))]
    pub(crate) repeat_hours: u32,
    /// The receivers of the messages.
    #[schemars(length(min = 1, max = 8))]
    pub(crate) notify: Vec<Receiver>,
}

fn default_repeat() -> u32 {
    24
}

impl Alert {
    /// Returns the name of the alert.
    pub(crate) fn title(&self) -> String {
        self.title.clone().unwrap_or_else(|| self.when.name())
    }
}

impl Section for Alerts {
    const KEY: &'static str = "alerts";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut ids = HashSet::new();
        for (index, alert) in self.0.iter().enumerate() {
            if !ids.insert(&alert.id.0) {
                let message = format!("there are two alerts with the id `{}`", alert.id.0);
                problems.error(&[PathStep::Index(index), PathStep::Key("id")], message, None);
            }
            if let Some(agent) = alert.when.agent_id() {
                problems.check_agent(&[PathStep::Index(index), PathStep::Key("when"), PathStep::Key("agentId")], agent);
            }
            for (number, receiver) in alert.notify.iter().enumerate() {
                receiver.check(&[PathStep::Index(index), PathStep::Key("notify"), PathStep::Index(number)], problems);
            }
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, alert) in self.0.iter().enumerate() {
            if matches!(alert.when, Condition::Quota { .. }) && config.quotas.is_empty() {
                let help = "add `quotas` to `limits`".to_owned();
                problems.error(&[PathStep::Index(index), PathStep::Key("when")], "there are no quotas", Some(help));
            }
            alert.when.check_workflow(config, &[PathStep::Index(index), PathStep::Key("when")], problems);
            for (number, receiver) in alert.notify.iter().enumerate() {
                let path = [PathStep::Index(index), PathStep::Key("notify"), PathStep::Index(number)];
                receiver.check_with_config(config, &path, problems);
            }
        }
    }
}

/// Returns the alerts of a config.
pub(crate) fn alerts(config: &Config) -> &[Alert] {
    config.section::<Alerts>().map_or(&[], |alerts| &alerts.0)
}
