//! The messages that the summary of a long conversation covers. The model does not read them, and most runs need none
//! of them, so the history of a run may begin after them: they are read when something needs the whole history.

use contract::Message;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// By how many bytes a result may be longer for the model than it is stored.
const ADDED: usize = 1_024;

/// The messages before a history, as they are stored.
pub trait EarlierHistory: Send + Sync + 'static {
    /// Reads the messages, oldest first. This may take long.
    fn read(&self) -> Vec<Arc<Message>>;

    /// Returns false if the JSON of no message contains this text.
    fn may_contain(&self, text: &str) -> bool;

    /// Returns a length in bytes that no stored result of a tool exceeds.
    fn longest_result(&self) -> usize;
}

impl<T: EarlierHistory> EarlierHistory for Arc<T> {
    fn read(&self) -> Vec<Arc<Message>> {
        T::read(self)
    }

    fn may_contain(&self, text: &str) -> bool {
        T::may_contain(self, text)
    }

    fn longest_result(&self) -> usize {
        T::longest_result(self)
    }
}

/// The messages before a history, which are read at most once.
#[derive(Clone)]
pub struct EarlierMessages(Arc<Shared>);

struct Shared {
    stored: Box<dyn EarlierHistory>,
    messages: OnceLock<Vec<Arc<Message>>>,
}

impl EarlierMessages {
    /// Wraps stored messages.
    pub fn new(stored: impl EarlierHistory) -> Self {
        Self(Arc::new(Shared { stored: Box::new(stored), messages: OnceLock::new() }))
    }

    /// Returns the messages, oldest first. Reading them blocks the thread.
    fn get(&self) -> &[Arc<Message>] {
        self.0.messages.get_or_init(|| self.0.stored.read())
    }

    /// Returns the messages after they were read on a thread that may block.
    pub(crate) async fn load(&self) -> &[Arc<Message>] {
        if self.0.messages.get().is_none() {
            let earlier = self.clone();
            // After a panic they are read below, and the run ends with it.
            let _ = tokio::task::spawn_blocking(move || earlier.get().len()).await;
        }
        self.get()
    }

    pub(crate) fn may_contain(&self, text: &str) -> bool {
        self.0.stored.may_contain(text)
    }

    /// Returns whether a result may be longer than this, as the model reads it.
    pub(crate) fn may_have_longer_result(&self, limit: usize) -> bool {
        self.0.stored.longest_result().saturating_add(ADDED) > limit
    }
}

impl fmt::Debug for EarlierMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_read = self.0.messages.get().is_some();
        f.debug_struct("EarlierMessages").field("is_read", &is_read).finish_non_exhaustive()
    }
}
