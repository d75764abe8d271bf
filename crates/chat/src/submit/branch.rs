//! The active branch of a conversation, as a submission needs it. Messages that the newest summary covers are not decoded:
//! the model does not read them, and in a long conversation decoding them would take most of the time before an answer.

pub(crate) mod covered;
pub(crate) mod known;

use covered::Covered;
use std::sync::Arc;
use store::{EncodedMessage, StoreError, StoredMessage};
use transcript::context;
use wire::Role;
use wire::api::{MessageMetadata, Outcome};

/// The size of a branch, in bytes, from which it is decoded on a thread that may block.
const LONG: usize = 1 << 20;

/// A branch whose oldest messages may be covered by a summary.
pub(crate) struct Branch {
    /// The messages that the newest summary covers. There are none if nothing is summarised.
    pub(crate) covered: Option<Arc<Covered>>,
    /// The messages after them, oldest first.
    pub(crate) messages: Vec<StoredMessage>,
}

impl From<Vec<StoredMessage>> for Branch {
    fn from(messages: Vec<StoredMessage>) -> Self {
        Self { covered: None, messages }
    }
}

impl Branch {
    /// Decodes the messages that the newest summary does not cover.
    pub(crate) async fn decode(encoded: Vec<EncodedMessage>) -> Result<Self, StoreError> {
        let build = |encoded| {
            let BranchEnd { older, messages, .. } = BranchEnd::decode(encoded);
            let covered = (!older.is_empty()).then(|| Arc::new(Covered::new(None, older)));
            Self { covered, messages }.beginning_with_turn()
        };
        decode_with(encoded, build).await
    }

    /// As [`Branch::decode`], with the messages after some that a summary covered when they were read. `None` if the content
    /// of some of these is needed: the newest summary covers less than that, or the end does not begin with a turn.
    async fn decode_after(known: Arc<Covered>, encoded: Vec<EncodedMessage>) -> Result<Option<Self>, StoreError> {
        let build = move |encoded| {
            let BranchEnd { older, messages, through } = BranchEnd::decode(encoded);
            let covered = if !older.is_empty() {
                Arc::new(Covered::new(Some(known.as_ref()), older))
            } else if through.as_deref() == Some(known.through()) {
                known
            } else {
                return None;
            };
            let branch = Self { covered: Some(covered), messages };
            branch.begins_with_turn().then_some(branch)
        };
        decode_with(encoded, build).await
    }

    /// Makes all messages a part of the branch's end if it does not begin with a message of the user.
    fn beginning_with_turn(self) -> Self {
        if self.begins_with_turn() { self } else { self.into_whole().into() }
    }

    /// Returns whether the branch's end begins with a message of the user.
    fn begins_with_turn(&self) -> bool {
        self.messages.first().is_some_and(|first| first.message.role == Role::User)
    }

    /// Decodes the other messages, too, and returns all.
    pub(crate) fn into_whole(self) -> Vec<StoredMessage> {
        let Self { covered, messages } = self;
        match covered {
            Some(covered) => covered.stored().chain(messages).collect(),
            None => messages,
        }
    }

    /// As [`Branch::into_whole`], on a thread that may block if there is much to decode.
    pub(crate) async fn decode_whole(self) -> Result<Vec<StoredMessage>, StoreError> {
        if self.covered.as_ref().is_none_or(|covered| covered.size() < LONG) {
            return Ok(self.into_whole());
        }
        tokio::task::spawn_blocking(move || self.into_whole()).await.map_err(|_| StoreError::Closed)
    }

    /// Returns whether the branch ends with this answer, and the answer has ended well.
    pub(crate) fn ends_well_with(&self, answer_id: &str) -> bool {
        self.messages.last().is_some_and(|last| {
            last.id == answer_id && MessageMetadata::from_message(&last.message).outcome == Some(Outcome::Done)
        })
    }

    /// Returns whether the branch has a message with this id.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.covered.as_ref().is_some_and(|covered| covered.has(id)) || self.messages.iter().any(|known| known.id == id)
    }
}

/// The end of a branch.
struct BranchEnd {
    /// The messages that the newest summary covers, up to the one that it names; none if that is not one of them.
    older: Vec<EncodedMessage>,
    /// The messages after them.
    messages: Vec<StoredMessage>,
    /// The message that the newest summary names.
    through: Option<String>,
}

impl BranchEnd {
    fn decode(mut encoded: Vec<EncodedMessage>) -> Self {
        let (mut messages, mut through) = (Vec::new(), None::<String>);
        while let Some(next) = encoded.pop() {
            if through.as_ref() == Some(&next.id) {
                encoded.push(next);
                break;
            }
            let stored = next.decode();
            through = through.or_else(|| context::summarized_through(&stored.message));
            messages.push(stored);
        }
        messages.reverse();
        Self { older: encoded, messages, through }
    }
}

/// Decodes messages, on a thread that may block if there is much to decode.
async fn decode_with<T: Send + 'static>(
    encoded: Vec<EncodedMessage>,
    decode: impl FnOnce(Vec<EncodedMessage>) -> T + Send + 'static,
) -> Result<T, StoreError> {
    if encoded.iter().map(EncodedMessage::size).sum::<usize>() < LONG {
        return Ok(decode(encoded));
    }
    tokio::task::spawn_blocking(move || decode(encoded)).await.map_err(|_| StoreError::Closed)
}

#[cfg(test)]
mod tests;
