//! The end of deleted conversations: out of sight at once, gone for good when the time for an undo is over. And of files that no
//! message uses. What goes without anybody's doing is `retention`'s.

use crate::audit::{self, Subject};
use crate::files;
use crate::retention::Sweeper;
use std::time::Duration;
use store::{AuditEntry, Deleted, Store, StoreError};
use tokio_util::task::AbortOnDropHandle;

/// How long a deletion can be undone.
pub(crate) const UNDO: Duration = Duration::from_secs(5 * 60);
/// How often is looked for what is due.
const EVERY: Duration = Duration::from_secs(30);
/// Conversations taken away before is looked again.
const BATCH: u32 = 100;
/// Why a question has no answer.
const DELETED: &str = "The user deleted the conversation.";

/// Takes away what is due, now and then, until the handle is dropped.
pub(crate) fn start(store: Store, sweeper: Sweeper) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            // What fails is still due the next time.
            match purge(&store, crate::now()).await {
                Ok(count) => sweeper.tell("deleted", count),
                Err(error) => tracing::error!(%error, "deleted conversations could not be taken away"),
            }
            if let Err(error) = sweeper.sweep().await {
                tracing::error!(%error, "what is kept long enough could not be taken away");
            }
            if let Err(error) = purge_users(&store).await {
                tracing::error!(%error, "deleted users could not be taken away");
            }
            if let Err(error) = files::purge(&store, crate::now()).await {
                tracing::error!(%error, "files that no message uses could not be taken away");
            }
        }
    }))
}

/// Takes away what was deleted longer ago than [`UNDO`], as of `now` (Unix time, milliseconds); answers how many conversations.
pub(crate) async fn purge(store: &Store, now: i64) -> Result<u64, StoreError> {
    let mut count = 0;
    loop {
        let due = store.deleted_before(now - UNDO.as_millis() as i64, BATCH).await?;
        for deleted in &due {
            count += u64::from(take_away(store, deleted, DELETED).await?);
        }
        if due.len() < BATCH as usize {
            return Ok(count);
        }
    }
}

/// Takes a conversation away for good; `reason` is why its open questions have no answer. False when it was gone already.
pub(crate) async fn take_away(store: &Store, deleted: &Deleted, reason: &str) -> Result<bool, StoreError> {
    let open = open_calls(store, deleted, reason).await?;
    store.delete(&deleted.owner, &deleted.id, open).await
}

/// Takes away users who are being deleted, with all that is theirs.
pub(crate) async fn purge_users(store: &Store) -> Result<(), StoreError> {
    for user_id in store.users_to_delete().await? {
        loop {
            let conversations = store.conversations_to_delete(&user_id, BATCH).await?;
            for conversation in &conversations {
                take_away(store, conversation, DELETED).await?;
            }
            if conversations.is_empty() {
                break;
            }
        }
        store.delete_user(&user_id).await?;
    }
    Ok(())
}

/// The rows of calls that waited for the user when the conversation went.
pub(crate) async fn open_calls(store: &Store, deleted: &Deleted, reason: &str) -> Result<Vec<AuditEntry>, StoreError> {
    let mut entries = Vec::new();
    // In any branch: the one that waits may have been left for another.
    for stored in store.messages(&deleted.owner, &deleted.id).await? {
        if !stored.message.tools().any(audit::is_open) {
            continue;
        }
        let run_id = store.run_of(&deleted.owner, &deleted.id, &stored.id).await?;
        let subject = Subject {
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
