//! One submission at a time in each conversation, over all servers.

use std::hash::{BuildHasher, RandomState};
use store::{Lock, Store, StoreError};
use tokio::sync::{Mutex, MutexGuard};

/// Conversations that share a lock only ever wait a little longer; a lock each would have to be collected.
const LOCKS: usize = 64;

/// The locks.
pub(crate) struct Turns {
    locks: [Mutex<()>; LOCKS],
    hasher: RandomState,
}

/// Held until it is dropped.
pub(crate) struct Turn<'a> {
    _here: MutexGuard<'a, ()>,
    /// Where there may be other servers.
    _everywhere: Option<Lock>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { locks: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }
}

impl Turns {
    /// Waits until no other submission to this conversation is being accepted.
    ///
    /// # Errors
    /// Another server kept it for too long, or the database failed.
    pub(crate) async fn take(&self, store: &Store, conversation_id: &str) -> Result<Turn<'_>, StoreError> {
        let here = self.locks[self.hasher.hash_one(conversation_id) as usize % LOCKS].lock().await;
        Ok(Turn { _here: here, _everywhere: store.lock(conversation_id).await? })
    }
}
