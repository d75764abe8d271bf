//! Makes sure that accepted messages are handled: a job that has failed, or that ran on a server whose config lacked
//! the channel, is enqueued again.

use crate::section::find;
use crate::store::{self, OpenQueue};
use crate::turn::TurnQueue;
use ::jobs::{Jobs, OnPending};
use ::store::StoreError;
use capability::Context;
use web::times::now_millis;

/// The number of jobs that one transaction enqueues.
const BATCH: usize = 100;
/// The time after which an update without an outcome is ended, in milliseconds: an hour.
const GRACE_MS: i64 = 60 * 60 * 1_000;

/// Enqueues a job for each queue with messages that are not handled, and ends messages that were tried for a day.
pub(crate) async fn sweep(context: &Context, jobs: &Jobs) -> Result<(), StoreError> {
    let (store, now) = (&context.store, now_millis());
    for (channel, update) in store::give_up(store, now - store::TRIED_MS - GRACE_MS, now).await? {
        tracing::warn!(channel, update, "a message was given up");
    }
    let config = context.current.config();
    let mut queues = store::open_queues(store).await?;
    queues.retain(|open| find(&config, &open.channel_id).is_some());
    for batch in queues.chunks(BATCH) {
        let (batch, jobs) = (batch.to_vec(), jobs.clone());
        let enqueue = store.write(move |db| {
            Box::pin(async move {
                for OpenQueue { channel_id, queue, owner } in batch {
                    let job = TurnQueue { channel_id, queue }.job(&owner).on_pending(OnPending::Keep);
                    jobs.enqueue_in(db, job).await?;
                }
                Ok(())
            })
        });
        enqueue.await?;
    }
    Ok(())
}
