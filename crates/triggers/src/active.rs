//! The triggers of the config in use.

use config::Config;
use parking_lot::RwLock;
use schedules::{MissedTicks, Schedule};
use std::sync::Arc;
use webhooks::Verifier;
use workflow_definition::{Trigger, TriggerKind, WebhookSender};
use workflows::{TriggeredWorkflow, trigger_user_id, triggered_workflows};

/// The names that identify a trigger.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TriggerKey {
    pub(crate) workflow_id: String,
    pub(crate) trigger_id: String,
}

impl TriggerKey {
    /// Returns the id of the user to whom its runs belong.
    pub(crate) fn user_id(&self) -> String {
        trigger_user_id(&self.workflow_id, &self.trigger_id)
    }
}

/// A trigger of the config in use.
#[derive(Debug)]
pub(crate) struct ActiveTrigger {
    pub(crate) key: TriggerKey,
    /// The title of the workflow.
    pub(crate) title: String,
    pub(crate) trigger: Trigger,
    pub(crate) source: Source,
}

/// The source of the events of a trigger.
#[derive(Debug)]
pub(crate) enum Source {
    Cron {
        schedule: Box<Schedule>,
        missed: MissedTicks,
    },
    Webhook(Verifier),
    /// An event of the product.
    Stored(store::EventKind),
    /// An event that programs report, with the roles of those that may.
    Reported(Vec<String>),
}

impl ActiveTrigger {
    /// Returns a text that changes when the config changes the condition of the trigger.
    pub(crate) fn subject(&self) -> String {
        match &self.trigger.kind {
            TriggerKind::Cron(cron) => format!("cron {} {}", cron.cron.0, cron.time_zone()),
            TriggerKind::Webhook(_) => "webhook".to_owned(),
            TriggerKind::Event(event) => format!("event {}", event.event.0),
        }
    }
}

/// The triggers of the config in use; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveTriggers(Arc<RwLock<Arc<[Arc<ActiveTrigger>]>>>);

impl ActiveTriggers {
    /// Replaces the triggers by those of a new config.
    pub(crate) fn replace(&self, config: &Config) {
        self.replace_by(config, triggered_workflows(config));
    }

    /// Replaces the triggers by those of workflows.
    pub(crate) fn replace_by(&self, config: &Config, workflows: Vec<TriggeredWorkflow>) {
        let all = workflows.into_iter().flat_map(|workflow| of_workflow(config, workflow));
        *self.0.write() = all.map(Arc::new).collect();
    }

    /// Returns all triggers.
    pub(crate) fn all(&self) -> Arc<[Arc<ActiveTrigger>]> {
        self.0.read().clone()
    }

    /// Returns a trigger.
    pub(crate) fn get(&self, workflow_id: &str, trigger_id: &str) -> Option<Arc<ActiveTrigger>> {
        let is_it = |trigger: &&Arc<ActiveTrigger>| {
            trigger.key.workflow_id == workflow_id && trigger.key.trigger_id == trigger_id
        };
        self.all().iter().find(is_it).cloned()
    }
}

fn of_workflow(config: &Config, workflow: TriggeredWorkflow) -> Vec<ActiveTrigger> {
    let TriggeredWorkflow { id, title, triggers } = workflow;
    let active = triggers.into_iter().filter_map(|trigger| {
        let key = TriggerKey { workflow_id: id.clone(), trigger_id: trigger.id.0.clone() };
        let Some(source) = source(config, &trigger.kind) else {
            // The check of the config has refused it, so this is a config that was not checked.
            tracing::error!(workflow = key.workflow_id, trigger = key.trigger_id, "a trigger cannot be used");
            return None;
        };
        Some(ActiveTrigger { key, title: title.clone(), trigger, source })
    });
    active.collect()
}

fn source(config: &Config, kind: &TriggerKind) -> Option<Source> {
    match kind {
        TriggerKind::Cron(cron) => {
            let schedule = Schedule::parse(&cron.cron.0, cron.time_zone()).ok()?;
            Some(Source::Cron { schedule: Box::new(schedule), missed: cron.missed })
        }
        TriggerKind::Webhook(webhook) => {
            let connection = config.connections.get(&webhook.connection_id.0)?;
            Some(Source::Webhook(connection.properties::<WebhookSender>()?.verifier().ok()?))
        }
        TriggerKind::Event(event) => Some(match store::EventKind::from_name(&event.event.0) {
            Some(kind) => Source::Stored(kind),
            None => {
                let roles = event.senders.as_ref().map(|roles| roles.iter().map(|role| role.0.clone()).collect());
                Source::Reported(roles.unwrap_or_else(|| vec![store::ADMIN.to_owned()]))
            }
        }),
    }
}
