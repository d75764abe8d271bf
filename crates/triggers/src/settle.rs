//! The ends of the runs that triggers have started.

use crate::engine::{Triggers, count_failure, shortened};
use crate::store::{self, Delivery, DeliveryOutcome};
use ::store::StoreError;
use workflows::RunEnd;

/// Stores how runs have ended, and counts failures.
///
/// # Errors
/// The database failed. The ends are found again.
pub(crate) async fn settle(triggers: &Triggers) -> Result<(), StoreError> {
    let mut after = String::new();
    loop {
        let running = store::running(&triggers.store, &after).await?;
        let Some(last) = running.last() else { return Ok(()) };
        after = last.id.clone();
        let run_ids = running.iter().filter_map(|delivery| delivery.run_id.clone()).collect();
        let mut outcomes = triggers.host.ends(run_ids).await?;
        for delivery in running {
            let outcome = delivery.run_id.as_ref().and_then(|run_id| outcomes.remove(run_id));
            if let Some(outcome) = outcome {
                end(triggers, delivery, outcome).await?;
            }
        }
    }
}

async fn end(triggers: &Triggers, delivery: Delivery, outcome: RunEnd) -> Result<(), StoreError> {
    let (outcome, detail) = match outcome {
        RunEnd::Done => (DeliveryOutcome::Done, None),
        RunEnd::Failed(cause) => (DeliveryOutcome::Failed, Some(shortened(&cause))),
        RunEnd::Stopped => (DeliveryOutcome::Stopped, None),
        RunEnd::Gone => (DeliveryOutcome::Stopped, Some("The run was deleted.".to_owned())),
    };
    let Delivery { id, trigger: key, is_test, .. } = delivery;
    let (active, now) = (triggers.active.get(&key.workflow_id, &key.trigger_id), triggers.now());
    let waiting = triggers.waiting.clone();
    let write = triggers.store.write(move |db| {
        Box::pin(async move {
            let is_first = store::end_delivery(db, &id, outcome, detail.clone()).await?;
            match (outcome, active) {
                _ if !is_first || is_test => Ok(()),
                (DeliveryOutcome::Done, _) => store::clear_failures(db, &key).await,
                (DeliveryOutcome::Failed, Some(active)) => {
                    count_failure(db, &waiting, &active, detail.as_deref().unwrap_or_default(), now).await
                }
                _ => Ok(()),
            }
        })
    });
    write.await
}
