//! One submission at a time in each conversation.

use std::hash::{BuildHasher, RandomState};
use tokio::sync::{Mutex, MutexGuard};

/// Conversations that share a lock only ever wait a little longer; a lock each would have to be collected.
const LOCKS: usize = 64;

/// The locks.
pub(crate) struct Turns {
    locks: [Mutex<()>; LOCKS],
    hasher: RandomState,
}

impl Default for Turns {
    fn default() -> Self {
        Self { locks: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }
}

impl Turns {
    /// Waits until no other submission to this conversation is being accepted.
    pub(crate) async fn take(&self, conversation_id: &str) -> MutexGuard<'_, ()> {
        self.locks[self.hasher.hash_one(conversation_id) as usize % LOCKS].lock().await
    }
}
