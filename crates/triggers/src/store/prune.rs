//! Deletes deliveries that are not needed any more.

use super::MAX_SHOWN;
use ::store::sql;
use ::store::{Store, StoreError};
use std::time::Duration;

/// The time for which the keys of deliveries are remembered.
const KNOWN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The time for which the keys of deliveries that started nothing are remembered. Events are searched again
/// within a minute.
const KNOWN_FILTERED: Duration = Duration::from_secs(60 * 60);
/// The time for which the newest deliveries of each trigger are shown.
const SHOWN: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// The most deliveries of a trigger.
const MAX_DELIVERIES: u32 = 100_000;
/// The most deliveries that are deleted in one transaction.
const MAX_DELETED: u32 = 1_000;

/// Deletes deliveries that are old and not among the newest ones of their trigger.
const DELETE_OLD: &str = "
    DELETE FROM trigger_deliveries WHERE id IN (
        SELECT d.id FROM trigger_deliveries d
        WHERE d.outcome <> 'running' AND (d.received_at < $1 OR (d.received_at < $2 AND d.outcome = 'filtered'))
        AND (d.received_at < $3 OR d.id <= (
            SELECT o.id FROM trigger_deliveries o WHERE o.workflow_id = d.workflow_id AND o.trigger_id = d.trigger_id
            ORDER BY o.id DESC LIMIT 1 OFFSET $4))
        ORDER BY d.received_at LIMIT $5)";

const DELETE_MANY: &str = "
    DELETE FROM trigger_deliveries WHERE id IN (
        SELECT d.id FROM trigger_deliveries d
        WHERE d.workflow_id = $1 AND d.trigger_id = $2 AND d.outcome <> 'running' AND d.id <= (
            SELECT o.id FROM trigger_deliveries o WHERE o.workflow_id = $1 AND o.trigger_id = $2
            ORDER BY o.id DESC LIMIT 1 OFFSET $3)
        ORDER BY d.id LIMIT $4)";

/// Deletes old deliveries, and those beyond the limit. Returns whether there may be more.
pub(crate) async fn prune(
    store: &Store,
    triggers: Vec<crate::active::TriggerKey>,
    now: i64,
) -> Result<bool, StoreError> {
    let before = |age: Duration| now - i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let old = sql::query(DELETE_OLD).bind(before(KNOWN)).bind(before(KNOWN_FILTERED)).bind(before(SHOWN));
    let old = old.bind(MAX_SHOWN).bind(MAX_DELETED);
    let write = store.write(move |db| {
        Box::pin(async move {
            let mut most = old.execute(&mut *db).await?.rows_affected();
            for key in &triggers {
                let many = super::of_trigger(DELETE_MANY, key).bind(MAX_DELIVERIES).bind(MAX_DELETED);
                most = most.max(many.execute(&mut *db).await?.rows_affected());
            }
            Ok(most >= u64::from(MAX_DELETED))
        })
    });
    write.await
}
