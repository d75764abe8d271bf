//! Locks per user, so that a message is counted before the next one of the same user is checked.
//! Without them, messages that arrive at once would all be checked against the same usage.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use tokio::sync::OwnedMutexGuard;

/// The locks of the users who have a message between its check and its count.
#[derive(Default)]
pub(crate) struct QuotaLocks(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

/// The permission to store one message that the quotas of its user allow. It must be held until the
/// message is stored, which counts it.
#[must_use]
pub(crate) struct QuotaPass {
    /// `None` if nothing limits the number of messages.
    _lock: Option<OwnedMutexGuard<()>>,
    /// The warning for the user with the answer, if little of a quota is left after the message.
    pub(crate) warning: Option<String>,
}

impl QuotaPass {
    /// A pass of a user whose messages are not limited by number.
    pub(crate) const UNLIMITED: Self = Self { _lock: None, warning: None };
}

impl QuotaLocks {
    /// Waits until no other message of the user is between its check and its count.
    pub(crate) async fn lock(&self, user_id: &str) -> QuotaPass {
        let lock = self.of_user(user_id).lock_owned().await;
        QuotaPass { _lock: Some(lock), ..QuotaPass::UNLIMITED }
    }

    fn of_user(&self, user_id: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock();
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(user_id).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(user_id.to_owned(), Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn users_wait_only_for_their_own_messages() {
        let locks = QuotaLocks::default();
        let first = locks.lock("ada").now_or_never();
        assert!(first.is_some() && locks.lock("ada").now_or_never().is_none(), "another message is being stored");
        let other = locks.lock("bob").now_or_never();
        assert!(other.is_some(), "of another user");
        drop(first);
        assert!(locks.lock("ada").now_or_never().is_some());
        drop(other);
        drop(locks.lock("eve").now_or_never());
        assert!(locks.0.lock().len() <= 1, "nothing is kept of those who do not wait");
    }
}
