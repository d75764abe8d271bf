//! Deletes conversations for good once their deletion can no longer be undone, and files that no
//! message uses. `retention` handles what expires by itself.

use crate::events::{Events, LifecycleEvent};
use crate::files::uploads;
use crate::record::audit::{self, RunContext};
use crate::upkeep::retention::Sweeper;
use std::time::Duration;
use store::{AuditEntry, ConversationToDelete, Store, StoreError};
use tokio_util::task::AbortOnDropHandle;

/// How long a deletion can be undone.
pub(crate) const UNDO: Duration = Duration::from_secs(5 * 60);
/// How often due data is deleted.
const EVERY: Duration = Duration::from_secs(30);
/// The number of conversations in a batch.
const BATCH: u32 = 100;
/// The reason why an open call has no result.
const DELETED: &str = "The user deleted the conversation.";

/// Deletes due data periodically until the handle is dropped.
pub(crate) fn start(store: Store, sweeper: Sweeper) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            // What fails is retried in the next round.
            match purge(&store, &sweeper.events, crate::now()).await {
                Ok(count) => sweeper.tell("deleted", count),
                Err(error) => tracing::error!(%error, "deleted conversations could not be purged"),
            }
            if let Err(error) = sweeper.sweep().await {
                tracing::error!(%error, "expired data could not be deleted");
            }
            if let Err(error) = purge_users(&store, &sweeper.events).await {
                tracing::error!(%error, "deleted users could not be purged");
            }
            if let Err(error) = uploads::purge(&store, crate::now()).await {
                tracing::error!(%error, "unused files could not be deleted");
            }
        }
    }))
}

/// Deletes conversations that were deleted longer than [`UNDO`] before `now` (Unix time,
/// milliseconds). Returns their number.
pub(crate) async fn purge(store: &Store, events: &Events, now: i64) -> Result<u64, StoreError> {
    let mut count = 0;
    loop {
        let due = store.conversations_deleted_before(now - UNDO.as_millis() as i64, BATCH).await?;
        for deleted in &due {
            count += u64::from(delete_conversation(store, events, deleted).await?);
        }
        if due.len() < BATCH as usize {
            return Ok(count);
        }
    }
}

/// Deletes a conversation for good. Returns false if it was gone already.
async fn delete_conversation(
    store: &Store,
    events: &Events,
    deleted: &ConversationToDelete,
) -> Result<bool, StoreError> {
    let open = open_calls(store, deleted, DELETED).await?;
    let is_deleted = store.delete_conversation(&deleted.owner, &deleted.id, open).await?;
    if is_deleted {
        events.tell(&conversation_deleted(deleted));
    }
    Ok(is_deleted)
}

/// Returns the event that tells of a deleted conversation.
pub(crate) fn conversation_deleted(deleted: &ConversationToDelete) -> LifecycleEvent {
    LifecycleEvent::ConversationDeleted { conversation_id: deleted.id.clone(), user_id: deleted.owner.clone() }
}

/// Deletes the users that are marked for deletion, with all their data.
pub(crate) async fn purge_users(store: &Store, events: &Events) -> Result<(), StoreError> {
    for user_id in store.users_to_delete().await? {
        loop {
            let conversations = store.conversations_to_delete(&user_id, BATCH).await?;
            for conversation in &conversations {
                delete_conversation(store, events, conversation).await?;
            }
            if conversations.is_empty() {
                break;
            }
        }
        if store.delete_user(&user_id).await? {
            events.tell(&LifecycleEvent::UserDeleted { user_id });
        }
    }
    Ok(())
}

/// Returns audit entries for the calls that still waited when the conversation was deleted.
pub(crate) async fn open_calls(
    store: &Store,
    deleted: &ConversationToDelete,
    reason: &str,
) -> Result<Vec<AuditEntry>, StoreError> {
    let mut entries = Vec::new();
    // All branches, since a call may wait on an inactive one.
    for stored in store.messages(&deleted.owner, &deleted.id).await? {
        if !stored.message.tools().any(audit::is_open) {
            continue;
        }
        let run_id = store.run_of_message(&deleted.owner, &deleted.id, &stored.id).await?;
        let subject = RunContext {
            user_id: deleted.owner.clone(),
            agent_id: deleted.agent_id.clone(),
            conversation_id: deleted.id.clone(),
            message_id: stored.id,
            run_id: run_id.unwrap_or_default(),
        };
        entries.extend(audit::passed_over(&subject, &stored.message, reason));
    }
    Ok(entries)
}
