//! The background work of the chat, as jobs of the queue.

use crate::events::LifecycleEvent;
use crate::files::uploads;
use crate::upkeep::purge;
use crate::upkeep::retention::Sweeper;
use jobs::{Backoff, Handler, JobContext, JobError, Jobs, Kind, NewJob, OnPending, Outcome, Workers};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use store::StoreError;

/// How often to look for what is due to be deleted.
const PURGE_INTERVAL: Duration = Duration::from_secs(30);

/// How often the journal is pruned, and how long after the end of a run its events are kept. A client
/// that reconnects later loads the message instead.
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);
const KEPT: Duration = Duration::from_secs(3600);

/// The minimum time for which a deleted message can be restored.
const RESTORABLE: Duration = Duration::from_secs(3600);

/// Deletes conversations whose deletion can no longer be undone.
const CONVERSATIONS: Kind<()> = upkeep("chat.delete_conversations");
/// Deletes what is older than its retention.
const RETENTION: Kind<()> = upkeep("chat.retention");
/// Deletes files that no message uses.
const FILES: Kind<()> = upkeep("chat.delete_files");
/// Finds users whose deletion has no job, because the server died in between.
const USERS: Kind<()> = upkeep("chat.find_deleted_users");
/// Deletes invitations that have expired.
const INVITATIONS: Kind<()> = upkeep("chat.delete_invitations");
/// Deletes the events of ended runs.
const JOURNAL: Kind<()> = upkeep("chat.prune_journal");
/// Deletes messages that were removed from their conversations.
const MESSAGES: Kind<()> = upkeep("chat.delete_messages");

/// Deletes a user and everything they own.
const USER: Kind<DeletedUser> = Kind::new("chat.delete_user")
    .attempts(100)
    .backoff(Backoff { base: Duration::from_secs(5), cap: Duration::from_secs(600) })
    .timeout(Duration::from_secs(3600));

/// Work that is found by a query over what is due: what fails is tried again in the next round.
const fn upkeep(name: &'static str) -> Kind<()> {
    Kind::new(name).attempts(1).timeout(Duration::from_secs(3600))
}

/// The payload of [`USER`]. The job has no owner, because it would be deleted with them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeletedUser {
    user_id: String,
}

/// Returns the job that deletes a user who is marked for deletion.
fn delete_user(user_id: &str) -> NewJob {
    USER.job(&DeletedUser { user_id: user_id.to_owned() }).key(user_id).on_pending(OnPending::Keep)
}

/// Enqueues the deletion of a user who is marked for it.
pub(crate) async fn enqueue_deletion(jobs: &Jobs, user_id: &str) -> Result<(), StoreError> {
    jobs.enqueue(delete_user(user_id)).await.map(drop)
}

/// Adds the handlers.
pub(crate) fn add_handlers(workers: &Workers, sweeper: &Sweeper) {
    let add = |kind: Kind<()>, every: Duration, work: fn(JobContext, Sweeper) -> Work| {
        let sweeper = sweeper.clone();
        workers.add(Handler::recurring(kind, every, move |job| {
            let work = work(job, sweeper.clone());
            async move { Ok(work.await?) }
        }));
    };
    add(CONVERSATIONS, PURGE_INTERVAL, |_, sweeper| {
        Box::pin(async move {
            let count = purge::purge(&sweeper.store, &sweeper.events, crate::now()).await?;
            sweeper.tell("deleted", count);
            Ok(())
        })
    });
    add(RETENTION, PURGE_INTERVAL, |_, sweeper| Box::pin(async move { sweeper.sweep().await.map(drop) }));
    add(FILES, PURGE_INTERVAL, |_, sweeper| {
        Box::pin(async move { uploads::purge(&sweeper.store, crate::now()).await })
    });
    add(USERS, PURGE_INTERVAL, |job, sweeper| {
        Box::pin(async move {
            for user_id in sweeper.store.users_to_delete().await? {
                enqueue_deletion(job.jobs(), &user_id).await?;
            }
            Ok(())
        })
    });
    add(INVITATIONS, PRUNE_INTERVAL, |_, sweeper| {
        Box::pin(async move { sweeper.store.delete_expired_invitations(crate::now()).await.map(drop) })
    });
    add(JOURNAL, PRUNE_INTERVAL, |_, sweeper| {
        Box::pin(async move { sweeper.store.prune_journal(before(KEPT)).await.map(drop) })
    });
    add(MESSAGES, PRUNE_INTERVAL, |_, sweeper| {
        Box::pin(async move { sweeper.store.purge_deleted(before(RESTORABLE)).await.map(drop) })
    });
    let sweeper = sweeper.clone();
    workers.add(Handler::new(USER, move |job: JobContext, DeletedUser { user_id }| {
        let sweeper = sweeper.clone();
        async move { delete(&job, &sweeper, user_id).await }
    }));
}

/// A round of recurring work.
type Work = futures::future::BoxFuture<'static, Result<(), StoreError>>;

/// Returns the time `ago` before now; Unix time in milliseconds.
fn before(ago: Duration) -> i64 {
    crate::now() - ago.as_millis() as i64
}

async fn delete(job: &JobContext, sweeper: &Sweeper, user_id: String) -> Result<Outcome, JobError> {
    job.jobs().cancel_owner(&user_id).await?;
    if purge::purge_user(&sweeper.store, &sweeper.events, &user_id).await? {
        sweeper.events.tell(&LifecycleEvent::UserDeleted { user_id });
    }
    Ok(Outcome::DONE)
}
