//! Ticks of cron triggers.

use crate::active::{ActiveTrigger, Source, TriggerKey};
use crate::engine::{Delivered, Incoming, Triggers};
use crate::store::{self, DeliveryOutcome};
use ::store::StoreError;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use schedules::{GRACE, MissedTicks, Schedule};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// If ticks were considered up to a time that is further in the future than this, the clock was set
/// back. A little is the difference between the clocks of two servers.
const SET_BACK: SignedDuration = SignedDuration::from_hours(1);

/// Looks for ticks. All servers do; a tick's key lets one of them start the run.
#[derive(Debug)]
pub(crate) struct Ticker {
    triggers: Triggers,
    /// The times of the next checks, so that nothing is read in between.
    plans: Mutex<HashMap<TriggerKey, Plan>>,
}

/// The time of the next check of a trigger.
#[derive(Clone, Debug)]
struct Plan {
    subject: String,
    made_at: Timestamp,
    next: Timestamp,
}

impl Ticker {
    pub(crate) fn new(triggers: Triggers) -> Self {
        Self { triggers, plans: Mutex::default() }
    }

    /// Starts the runs of all ticks that are due.
    ///
    /// # Errors
    /// The database failed. Due triggers stay due.
    pub(crate) async fn look(&self) -> Result<(), StoreError> {
        let active = self.triggers.active.all();
        self.plans.lock().retain(|key, _| active.iter().any(|trigger| trigger.key == *key));
        for trigger in active.iter() {
            let Source::Cron { schedule, missed } = &trigger.source else { continue };
            let now = (self.triggers.clock)();
            if self.is_due(trigger, now) {
                self.start_due(trigger, schedule, *missed, now).await?;
                let next = schedule.next_after(now).unwrap_or(Timestamp::MAX);
                let plan = Plan { subject: trigger.subject(), made_at: now, next };
                self.plans.lock().insert(trigger.key.clone(), plan);
            }
        }
        Ok(())
    }

    fn is_due(&self, trigger: &ActiveTrigger, now: Timestamp) -> bool {
        let plans = self.plans.lock();
        let plan = plans.get(&trigger.key).filter(|plan| plan.subject == trigger.subject());
        // A plan of the future was made before the clock was set back.
        plan.is_none_or(|plan| now >= plan.next || now < plan.made_at)
    }

    async fn start_due(
        &self,
        trigger: &Arc<ActiveTrigger>,
        schedule: &Schedule,
        missed: MissedTicks,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let state = self.triggers.state(trigger).await?;
        if state.paused_at.is_some() {
            return Ok(());
        }
        let since = Timestamp::from_millisecond(state.checked_at).unwrap_or(now);
        if since > now && since.duration_since(now) <= SET_BACK {
            return Ok(());
        }
        let due = schedule.due(since, now, missed);
        for tick in &due.ticks {
            let is_late = now.duration_since(*tick) > GRACE;
            let event = json!({ "scheduledAt": tick.to_string(), "late": is_late });
            let incoming = Incoming { key: tick.to_string(), event, by: None, request: None, causes: Vec::new() };
            match self.triggers.deliver(trigger, incoming).await? {
                Delivered::Full => {
                    let (workflow, name) = (&trigger.key.workflow_id, &trigger.key.trigger_id);
                    tracing::warn!(workflow, trigger = name, %tick, "a tick is left out: too many runs have not ended");
                    let cause = "The tick is left out: too many runs of the trigger have not ended.";
                    self.triggers.leave_out(trigger, tick.to_string(), DeliveryOutcome::Failed, cause).await?;
                }
                Delivered::Stored { .. } | Delivered::Repeated | Delivered::Paused => {}
            }
        }
        let key = trigger.key.clone();
        let advance = self.triggers.store.write(move |db| {
            Box::pin(async move { store::advance(db, &key, state.checked_at, now.as_millisecond()).await })
        });
        advance.await
    }
}
