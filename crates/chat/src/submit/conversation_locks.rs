//! Locks per conversation, so that one submission at a time is accepted, across all servers.

use std::hash::{BuildHasher, RandomState};
use store::{Lock, Store, StoreError};
use tokio::sync::{Mutex, MutexGuard};

/// Conversations may share a lock, which only causes short waits; a lock for each would need
/// cleanup.
const LOCKS: usize = 64;

/// The locks of all conversations.
pub(crate) struct ConversationLocks {
    locks: [Mutex<()>; LOCKS],
    hasher: RandomState,
}

/// A conversation's lock; released when dropped.
pub(crate) struct ConversationLock<'a> {
    _here: MutexGuard<'a, ()>,
    /// The lock in the database, if several servers share it.
    _everywhere: Option<Lock>,
}

impl Default for ConversationLocks {
    fn default() -> Self {
        Self { locks: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }
}

impl ConversationLocks {
    /// Waits for the lock of a conversation.
    ///
    /// # Errors
    /// Another server held it for too long, or the database failed.
    pub(crate) async fn lock(&self, store: &Store, conversation_id: &str) -> Result<ConversationLock<'_>, StoreError> {
        let here = self.locks[self.hasher.hash_one(conversation_id) as usize % LOCKS].lock().await;
        Ok(ConversationLock { _here: here, _everywhere: store.lock(conversation_id).await? })
    }
}
