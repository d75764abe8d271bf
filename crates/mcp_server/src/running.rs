//! The calls that are running on this server, so that a notification can cancel them.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A request of a client. Ids of requests are unique within a session only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallKey {
    pub(crate) user_id: String,
    pub(crate) session_id: String,
    /// The id of the request, as JSON: `1` and `"1"` differ.
    pub(crate) request_id: String,
}

/// The running calls; cheap to clone. There are no more of them than open requests.
#[derive(Clone, Default)]
pub(crate) struct RunningCalls(Arc<Mutex<HashMap<CallKey, CancellationToken>>>);

/// A running call. It is forgotten when this is dropped.
pub(crate) struct RunningCall {
    calls: RunningCalls,
    key: CallKey,
}

impl RunningCalls {
    /// Remembers a call until the result is dropped. A second call with the same key, which a correct client
    /// never makes, cannot be cancelled by a notification.
    pub(crate) fn enter(&self, key: CallKey, cancel: CancellationToken) -> Option<RunningCall> {
        let mut calls = self.0.lock();
        if calls.contains_key(&key) {
            return None;
        }
        calls.insert(key.clone(), cancel);
        drop(calls);
        Some(RunningCall { calls: self.clone(), key })
    }

    /// Cancels a call. Returns whether it is running here.
    pub(crate) fn cancel(&self, key: &CallKey) -> bool {
        self.0.lock().get(key).inspect(|cancel| cancel.cancel()).is_some()
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.calls.0.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_cancelled_by_user_session_and_id() {
        let running = RunningCalls::default();
        let key = |user: &str, session: &str, request: &str| CallKey {
            user_id: user.to_owned(),
            session_id: session.to_owned(),
            request_id: request.to_owned(),
        };
        let (cancel, mine) = (CancellationToken::new(), key("ada", "s", "1"));
        let call = running.enter(mine.clone(), cancel.clone()).unwrap();
        assert!(running.enter(mine.clone(), CancellationToken::new()).is_none());
        for other in [key("eve", "s", "1"), key("ada", "t", "1"), key("ada", "s", "\"1\"")] {
            assert!(!running.cancel(&other), "{other:?}");
            assert!(!cancel.is_cancelled(), "{other:?}");
        }
        assert!(running.cancel(&mine));
        assert!(cancel.is_cancelled());
        drop(call);
        assert!(running.0.lock().is_empty());
    }
}
