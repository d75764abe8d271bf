//! Deletes conversations for good once their deletion can no longer be undone, and files that no
//! message uses. `retention` handles what expires by itself.

use crate::events::{Events, LifecycleEvent};
use crate::record::audit::{self, RunContext};
use std::time::Duration;
use store::{AuditEntry, ConversationToDelete, Store, StoreError};

/// How long a deletion can be undone.
pub(crate) const UNDO: Duration = Duration::from_secs(5 * 60);
/// The number of conversations in a batch.
const BATCH: u32 = 100;
/// The reason why an open call has no result.
const DELETED: &str = "The user deleted the conversation.";

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

/// Deletes a user who is marked for deletion, with all their data. Returns false if they were gone
/// already, or are not to be deleted.
pub(crate) async fn purge_user(store: &Store, events: &Events, user_id: &str) -> Result<bool, StoreError> {
    loop {
        let conversations = store.conversations_to_delete(user_id, BATCH).await?;
        for conversation in &conversations {
            delete_conversation(store, events, conversation).await?;
        }
        if conversations.is_empty() {
            return store.delete_user(user_id).await;
        }
    }
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
