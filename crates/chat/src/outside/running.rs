//! The running invocations of this process.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// The maximum number of concurrent invocations in this process; further ones are refused with 503.
const MAX_AT_ONCE: usize = 64;
/// The error of an invocation that a dead server left open.
pub(crate) const ABANDONED: &str = "The server stopped before the answer was complete.";

/// The running invocations by id. Ids start with the time, so the last is the newest.
#[derive(Default)]
pub(crate) struct Invocations(Mutex<BTreeMap<String, Running>>);

/// A running invocation.
struct Running {
    cancel: CancellationToken,
    /// Whether it was ended because memory was almost used up.
    ended: bool,
}

/// The permit of a running invocation.
pub(super) struct InvocationPermit<'a> {
    all: &'a Invocations,
    id: String,
}

impl Invocations {
    pub(super) fn acquire(&self, id: &str, cancel: CancellationToken) -> Option<InvocationPermit<'_>> {
        let mut running = self.0.lock();
        if running.len() >= MAX_AT_ONCE {
            return None;
        }
        running.insert(id.to_owned(), Running { cancel, ended: false });
        Some(InvocationPermit { all: self, id: id.to_owned() })
    }

    /// Returns whether further ones are refused.
    pub(super) fn is_full(&self) -> bool {
        self.0.lock().len() >= MAX_AT_ONCE
    }

    /// Returns the permit of one that was accepted when there was a place.
    pub(super) fn acquire_always(&self, id: &str, cancel: CancellationToken) -> InvocationPermit<'_> {
        self.0.lock().insert(id.to_owned(), Running { cancel, ended: false });
        InvocationPermit { all: self, id: id.to_owned() }
    }

    pub(crate) fn is_any_running(&self) -> bool {
        !self.0.lock().is_empty()
    }

    /// Ends the newest invocation because memory is almost used up; returns its id.
    pub(crate) fn end_newest(&self) -> Option<String> {
        let mut running = self.0.lock();
        let (id, newest) = running.iter_mut().rfind(|(_, one)| !one.cancel.is_cancelled())?;
        newest.ended = true;
        newest.cancel.cancel();
        Some(id.clone())
    }
}

impl InvocationPermit<'_> {
    /// Returns whether the invocation was ended because memory was almost used up.
    pub(super) fn is_ended(&self) -> bool {
        self.all.0.lock().get(&self.id).is_some_and(|one| one.ended)
    }
}

impl Drop for InvocationPermit<'_> {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.id);
    }
}
