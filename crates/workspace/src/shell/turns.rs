//! Limits the scripts that run at once.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most scripts of a user at once. Others wait.
const MAX_OF_USER: usize = 2;

/// The users whose scripts run or wait.
#[derive(Default)]
pub(super) struct UserTurns(Mutex<HashMap<String, Weak<Semaphore>>>);

impl UserTurns {
    /// Waits until a script of the user may run.
    pub(super) async fn wait(&self, user_id: &str) -> Option<OwnedSemaphorePermit> {
        let turns = {
            let mut users = self.0.lock();
            users.retain(|_, turns| turns.strong_count() > 0);
            let known = users.get(user_id).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turns = Arc::new(Semaphore::new(MAX_OF_USER));
                users.insert(user_id.to_owned(), Arc::downgrade(&turns));
                turns
            })
        };
        turns.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn a_user_waits_for_their_own_scripts_only() {
        let turns = UserTurns::default();
        let (one, _two) = (turns.wait("ada").await, turns.wait("ada").await);
        let mut third = Box::pin(turns.wait("ada"));
        assert!((&mut third).now_or_never().is_none());
        assert!(turns.wait("bob").now_or_never().is_some());
        drop(one);
        assert!(third.await.is_some());
        assert_eq!(turns.0.lock().len(), 1 + 1);
    }
}
