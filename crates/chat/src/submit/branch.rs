//! The active branch of a conversation, as a submission needs it. Messages that the newest summary covers are not decoded:
//! the model does not read them, and in a long conversation decoding them would take most of the time before an answer.

use agent::{EarlierHistory, MeasuredSize};
use contract::{Exposure, Message};
use std::sync::Arc;
use store::{EncodedMessage, StoreError, StoredMessage};
use transcript::context::{self, CoveredContext};
use transcript::{exposure, pending_calls, to_prompt};
use wire::api::{MessageMetadata, Outcome};
use wire::{CONTEXT_CLEARED, Role, UiMessage};

/// The size of a branch, in bytes, from which it is decoded on a thread that may block.
const LONG: usize = 1 << 20;
/// A text in the JSON of each answer whose request a provider has measured.
const MEASURED: &str = "\"measured\":true";

/// A branch whose oldest messages may be covered by a summary.
pub(crate) struct Branch {
    /// The messages that the newest summary covers. There are none if nothing is summarised.
    pub(crate) covered: Option<Covered>,
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
        if encoded.iter().map(EncodedMessage::size).sum::<usize>() < LONG {
            return Ok(Self::after_summary(encoded));
        }
        tokio::task::spawn_blocking(move || Self::after_summary(encoded)).await.map_err(|_| StoreError::Closed)
    }

    fn after_summary(mut encoded: Vec<EncodedMessage>) -> Self {
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
        let begins_turn = messages.first().is_some_and(|first: &StoredMessage| first.message.role == Role::User);
        let covered = (!encoded.is_empty()).then(|| Covered::new(encoded));
        let branch = Self { covered, messages };
        if begins_turn { branch } else { branch.into_whole().into() }
    }

    /// Decodes the other messages, too, and returns all.
    pub(crate) fn into_whole(self) -> Vec<StoredMessage> {
        let Self { covered, messages } = self;
        match covered {
            Some(covered) => covered.messages.iter().map(EncodedMessage::decode).chain(messages).collect(),
            None => messages,
        }
    }

    /// As [`Branch::into_whole`], on a thread that may block if there is much to decode.
    pub(crate) async fn decode_whole(self) -> Result<Vec<StoredMessage>, StoreError> {
        let covered = self.covered.iter().flat_map(|covered| &covered.messages);
        if covered.map(EncodedMessage::size).sum::<usize>() < LONG {
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
        let mut covered = self.covered.iter().flat_map(|covered| &covered.messages);
        covered.any(|known| known.id == id) || self.messages.iter().any(|known| known.id == id)
    }
}

/// The messages that a summary covers, with what they say about the turns after them.
pub(crate) struct Covered {
    /// Oldest first, at least one.
    messages: Vec<EncodedMessage>,
    /// The exposure of the agent by them.
    pub(crate) exposure: Exposure,
    /// The messages that say which results are cleared.
    cleared: Vec<UiMessage>,
    /// The answer to which the user replies with the first message after them.
    pub(crate) answer: Option<UiMessage>,
}

impl Covered {
    fn new(messages: Vec<EncodedMessage>) -> Self {
        let (mut seen, mut cleared) = (Exposure::default(), Vec::new());
        for message in &messages {
            let json = message.json();
            let may_contain = |text: &str| json.is_none_or(|json| json.contains(text));
            let may_clear = may_contain(CONTEXT_CLEARED);
            if may_clear || exposure::may_add(&seen, may_contain) {
                let message = message.decode().message;
                seen = exposure::after(seen, [&message]);
                if may_clear {
                    cleared.push(message);
                }
            }
        }
        let answer = to_prompt::open_answer(messages.iter().rev().map(|message| message.decode().message));
        Self { messages, exposure: seen, cleared, answer }
    }

    /// Decodes the messages.
    pub(crate) fn decoded(&self) -> impl Iterator<Item = UiMessage> {
        self.messages.iter().map(|message| message.decode().message)
    }

    /// Returns what determines the context of the messages after them.
    pub(crate) fn context(&self) -> CoveredContext<'_> {
        let through = self.messages.last().map_or("", |newest| newest.id.as_str());
        CoveredContext { through, cleared: &self.cleared }
    }

    /// Returns the size of their newest request whose tokens the provider has counted.
    pub(crate) fn measured(&self) -> Option<MeasuredSize> {
        let mut newest = self.messages.iter().rev().filter(|message| message.may_contain(MEASURED));
        newest.find_map(|message| context::measured([&message.decode().message].into_iter()))
    }
}

/// As a prompt. Stored files of the user stay links: what reads this looks at calls and their results.
impl EarlierHistory for Covered {
    fn read(&self) -> Vec<Arc<Message>> {
        let messages: Vec<_> = self.decoded().collect();
        to_prompt::to_prompt_with_ends(&messages, pending_calls::is_decided).0
    }

    fn may_contain(&self, text: &str) -> bool {
        self.messages.iter().any(|message| message.may_contain(text))
    }

    fn longest_result(&self) -> usize {
        let answers = self.messages.iter().filter(|message| message.role == Role::Assistant);
        answers.map(EncodedMessage::size).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
