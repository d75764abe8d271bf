//! What an administrator does to what others have running. What he reads is the store's; who may is the routes' to say.

use crate::{Chat, purge};
use wire::EndReason;

impl Chat {
    /// Ends all answers that are being written for a user whose rights were taken away. What was written stays.
    pub fn stop_all_of(&self, user_id: &str) {
        self.stop_all(user_id, EndReason::StoppedByAdmin);
    }

    fn stop_all(&self, user_id: &str, why: EndReason) {
        let live = self.inner.registry.all().into_iter().filter(|run| run.identity.owner == user_id);
        live.for_each(|run| run.stop(why));
        if self.inner.store.is_shared() {
            let (store, user_id) = (self.inner.store.clone(), user_id.to_owned());
            self.inner.tasks.spawn(async move {
                if let Err(error) = store.request_stop(&user_id, None, why).await {
                    tracing::error!(%error, "other servers could not be asked to stop a user's answers");
                }
            });
        }
    }

    /// Ends what is being written for users who are being deleted, and begins to take away what is theirs. What is not done when the
    /// server ends is done after its next start.
    pub fn begin_deletions(&self, user_id: &str) {
        self.stop_all(user_id, EndReason::Deleted);
        let store = self.inner.store.clone();
        self.inner.tasks.spawn(async move {
            if let Err(error) = purge::purge_users(&store).await {
                tracing::error!(%error, "a deleted user could not be taken away yet");
            }
        });
    }
}
