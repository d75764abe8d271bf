//! Records what agents do in experiments.

use agent::RunRecorder;
use chat::AgentRequest;
use config::Config;
use parking_lot::Mutex;
use recordings::Observer;
use recordings::format::{Recording, write};
use std::collections::HashMap;
use std::sync::Arc;

/// The largest recording of a run, in bytes.
const RUN_BYTES: usize = 1024 * 1024;
/// The memory of all recordings that are not stored yet, in bytes.
const ALL_BYTES: usize = 64 * 1024 * 1024;

/// The most conversations that are recorded at the same time, with those that wait to be stored.
const MAX_CONVERSATIONS: usize = 256;

/// The conversations of experiments that are running, with what was recorded in them.
#[derive(Clone)]
pub(crate) struct Recorded {
    observer: Arc<Observer>,
    conversations: Arc<Mutex<HashMap<String, Vec<Recording>>>>,
}

impl Recorded {
    pub(crate) fn new() -> Self {
        Self { observer: Arc::new(Observer::new(RUN_BYTES, ALL_BYTES)), conversations: Arc::default() }
    }

    /// Records the runs of a conversation from now on, until they are taken. If the guard is dropped before it is
    /// [kept](RecordedConversation::keep), nothing is left of it.
    pub(crate) fn begin(&self, conversation_id: &str) -> RecordedConversation {
        let mut conversations = self.conversations.lock();
        if conversations.len() < MAX_CONVERSATIONS {
            conversations.insert(conversation_id.to_owned(), Vec::new());
        }
        RecordedConversation { recorded: self.clone(), id: Some(conversation_id.to_owned()) }
    }

    /// Ends the recording of a conversation. Returns the file of recordings, if there is one.
    pub(crate) fn take(&self, conversation_id: &str) -> Option<String> {
        let recordings = self.conversations.lock().remove(conversation_id)?;
        let mut file = Vec::new();
        for recording in &recordings {
            write(recording, &mut file).ok()?;
        }
        String::from_utf8(file).ok().filter(|file| !file.is_empty())
    }

    /// Returns the observer that records the runs of a request, if it is in a conversation of an experiment.
    pub(crate) fn recorder(&self, config: &Config, request: &AgentRequest<'_>) -> Option<Arc<dyn RunRecorder>> {
        let id = request.conversation_id;
        if id.is_empty() || !self.conversations.lock().contains_key(id) {
            return None;
        }
        let (conversations, id) = (self.conversations.clone(), id.to_owned());
        let take = move |recording| {
            if let Some(recordings) = conversations.lock().get_mut(&id) {
                recordings.push(recording);
            }
        };
        Some(self.observer.recorder(config, request, Arc::new(take)))
    }
}

/// A conversation that is recorded.
pub(crate) struct RecordedConversation {
    recorded: Recorded,
    id: Option<String>,
}

impl RecordedConversation {
    /// Leaves the recordings for [`Recorded::take`].
    pub(crate) fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for RecordedConversation {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.recorded.conversations.lock().remove(id);
        }
    }
}
