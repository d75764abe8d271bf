//! Checks the alerts, and stores the messages to send.

use crate::measure::{Measurement, measure};
use crate::message::{self, MessageText};
use crate::notify::{NOTIFY, Notification};
use crate::section::{Alert, alerts};
use crate::state::{Rules, State};
use crate::store::{self, Event, StateRow};
use ::store::sql::Db;
use ::store::{AuditEntry, StoreError, append_audit};
use anyhow::anyhow;
use capability::Context;
use jobs::Jobs;
use uuid::Uuid;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// The alerts of a running server.
#[derive(Clone)]
pub(crate) struct AlertService {
    pub(crate) context: Context,
    pub(crate) jobs: Jobs,
}

impl AlertService {
    /// Checks all alerts, and enqueues the messages. An alert that cannot be checked does not stop
    /// the checks of the others.
    pub(crate) async fn check(&self, now: i64) -> anyhow::Result<()> {
        let config = self.context.current.config();
        let all = alerts(&config);
        if all.is_empty() {
            return Ok(());
        }
        let states = store::states(&self.context.store).await?;
        let mut failed = Vec::new();
        for alert in all {
            if let Err(error) = self.check_one(alert, &states, now).await {
                tracing::error!(alert = alert.id.0, %error, "an alert could not be checked");
                failed.push(alert.id.0.as_str());
            }
        }
        store::prune(&self.context.store, now).await?;
        if failed.is_empty() {
            Ok(())
        } else {
            Err(anyhow!("these alerts could not be checked: {}", failed.join(", ")))
        }
    }

    async fn check_one(&self, alert: &Alert, states: &[StateRow], now: i64) -> anyhow::Result<()> {
        let own = states.iter().filter(|row| row.alert_id == alert.id.0 && row.state.is_firing);
        let firing = own.map(|row| row.owner.clone()).filter(|owner| !owner.is_empty()).collect();
        let measured = measure(&self.context, &self.jobs, &alert.when, firing, now).await?;
        let owners = measured.iter().map(|measured| measured.owner.clone()).filter(|owner| !owner.is_empty());
        let names = self.context.store.user_names(owners.collect()).await?;
        for measured in measured {
            let name = names.get(&measured.owner).unwrap_or(&measured.owner).clone();
            self.apply(alert, measured, name, now).await?;
        }
        Ok(())
    }

    /// Stores a value, and the message that follows from it, in one transaction.
    async fn apply(&self, alert: &Alert, measured: Measurement, name: String, now: i64) -> Result<(), StoreError> {
        let (alert, jobs) = (alert.clone(), self.jobs.clone());
        let rules = Rules {
            limit: alert.when.limit(),
            hold: i64::from(alert.hold_minutes) * MINUTE_MS,
            repeat: (alert.repeat_hours > 0).then(|| i64::from(alert.repeat_hours) * HOUR_MS),
        };
        let write = self.context.store.write(move |db| {
            Box::pin(async move {
                let (id, owner, condition) = (alert.id.0.clone(), measured.owner, alert.when.fingerprint());
                let stored = store::find(&mut *db, &id, &owner).await?.filter(|row| row.condition == condition);
                let before = stored.map_or_else(|| State::new(now), |row| row.state);
                let (state, message) = before.after(measured.value, now, rules);
                store::save(&mut *db, &StateRow { alert_id: id, owner: owner.clone(), condition, state }).await?;
                let Some(message) = message else { return Ok(()) };
                let user = (!owner.is_empty()).then_some(name.as_str());
                let text = message::write(&alert, message, user, &before, &state);
                enqueue_message(db, &jobs, &alert, (message.name(), owner, text), now).await
            })
        });
        write.await
    }

    /// Sends a test to the receivers of an alert.
    pub(crate) async fn test(&self, alert: &Alert, audit: AuditEntry, now: i64) -> Result<(), StoreError> {
        let (alert, jobs) = (alert.clone(), self.jobs.clone());
        let write = self.context.store.write(move |db| {
            Box::pin(async move {
                append_audit(&mut *db, vec![audit]).await?;
                let text = message::write_test(&alert);
                enqueue_message(db, &jobs, &alert, ("test", String::new(), text), now).await
            })
        });
        write.await
    }
}

/// Stores a message, and enqueues a job for each receiver.
async fn enqueue_message(
    db: &mut Db,
    jobs: &Jobs,
    alert: &Alert,
    (kind, owner, MessageText { title, text }): (&str, String, MessageText),
    now: i64,
) -> Result<(), StoreError> {
    let id = Uuid::now_v7().to_string();
    let event =
        Event { id: id.clone(), alert_id: alert.id.0.clone(), owner, kind: kind.to_owned(), at: now, title, text };
    let receivers: Vec<_> = alert.notify.iter().map(crate::section::Receiver::label).collect();
    store::insert_event(&mut *db, &event, &receivers).await?;
    for (number, _) in (0_i64..).zip(&receivers) {
        let job = NOTIFY.job(&Notification { event_id: id.clone(), number });
        let job = if event.owner.is_empty() { job } else { job.owner(event.owner.clone()) };
        jobs.enqueue_in(&mut *db, job).await?;
    }
    Ok(())
}
