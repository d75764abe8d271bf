//! The messages of a branch that a summary covers.

use agent::{EarlierHistory, MeasuredSize};
use contract::{Exposure, Message};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};
use store::{BranchPosition, EncodedMessage, StoredMessage};
use transcript::context::{self, CoveredContext};
use transcript::{exposure, pending_calls, to_prompt};
use wire::{CONTEXT_CLEARED, Role, UiMessage, UiPart};

/// A text in the JSON of each answer whose request a provider has measured.
const MEASURED: &str = "\"measured\":true";
/// The memory that a message takes beside its JSON, in bytes.
const ADDED: usize = 512;

/// The messages that a summary covers, with what they say about the turns after them.
pub(crate) struct Covered {
    /// Oldest first, at least one.
    pub(super) messages: Vec<Arc<EncodedMessage>>,
    /// The hashes of their ids. A new id is looked up in each turn, and comparing it with all would touch all messages.
    hashes: HashSet<u64>,
    /// The exposure of the agent by them.
    pub(crate) exposure: Exposure,
    /// Those that say which results are cleared, without their other parts.
    cleared: Vec<UiMessage>,
    /// The answer to which the user replies with the first message after them.
    pub(crate) answer: Option<UiMessage>,
    /// The size of their newest request whose tokens the provider has counted, once it was looked for.
    measured: OnceLock<Option<MeasuredSize>>,
    /// The length of their JSON in bytes.
    size: usize,
    /// The length of the JSON of the longest answer.
    longest: usize,
}

impl Covered {
    /// Creates them from messages that an older summary covers, if there are any, and at least one message after them.
    pub(super) fn new(before: Option<&Self>, messages: Vec<EncodedMessage>) -> Self {
        let mut covered = Self {
            messages: before.map(|before| before.messages.clone()).unwrap_or_default(),
            hashes: before.map(|before| before.hashes.clone()).unwrap_or_default(),
            exposure: before.map(|before| before.exposure.clone()).unwrap_or_default(),
            cleared: before.map(|before| before.cleared.clone()).unwrap_or_default(),
            answer: None,
            measured: OnceLock::new(),
            size: before.map_or(0, |before| before.size),
            longest: before.map_or(0, |before| before.longest),
        };
        messages.into_iter().for_each(|message| covered.add(message));
        covered.answer = to_prompt::open_answer(covered.messages.iter().rev().map(|message| message.decode().message));
        covered
    }

    /// Adds the next message.
    fn add(&mut self, message: EncodedMessage) {
        let json = message.json();
        let may_contain = |text: &str| json.is_none_or(|json| json.contains(text));
        let may_clear = may_contain(CONTEXT_CLEARED);
        if may_clear || exposure::may_add(&self.exposure, may_contain) {
            let mut message = message.decode().message;
            self.exposure = exposure::after(std::mem::take(&mut self.exposure), [&message]);
            message.parts.retain(|part| matches!(part, UiPart::Data(data) if data.kind == CONTEXT_CLEARED));
            if !message.parts.is_empty() {
                self.cleared.push(message);
            }
        }
        self.size += message.size();
        if message.role == Role::Assistant {
            self.longest = self.longest.max(message.size());
        }
        self.hashes.insert(hash(&message.id));
        self.messages.push(Arc::new(message));
    }

    /// Returns the id of the newest of them.
    pub(super) fn through(&self) -> &str {
        self.messages.last().map_or("", |newest| newest.id.as_str())
    }

    /// Returns the position of the newest of them.
    pub(super) fn position(&self) -> Option<BranchPosition> {
        self.messages.last().map(|newest| newest.position())
    }

    /// Returns whether one of them has this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.hashes.contains(&hash(id)) && self.messages.iter().any(|message| message.id == id)
    }

    /// Returns the length of their JSON in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns about how many bytes of memory they take.
    pub(super) fn memory(&self) -> usize {
        self.size + ADDED * self.messages.len()
    }

    /// Decodes the messages, with their positions in the tree.
    pub(super) fn stored(&self) -> impl Iterator<Item = StoredMessage> {
        self.messages.iter().map(|message| message.decode())
    }

    /// Decodes the messages.
    pub(crate) fn decoded(&self) -> impl Iterator<Item = UiMessage> {
        self.stored().map(|stored| stored.message)
    }

    /// Returns what determines the context of the messages after them.
    pub(crate) fn context(&self) -> CoveredContext<'_> {
        CoveredContext { through: self.through(), cleared: &self.cleared }
    }

    /// Returns the size of their newest request whose tokens the provider has counted.
    pub(crate) fn measured(&self) -> Option<MeasuredSize> {
        let find = || {
            let mut newest = self.messages.iter().rev().filter(|message| message.may_contain(MEASURED));
            newest.find_map(|message| context::measured([&message.decode().message].into_iter()))
        };
        *self.measured.get_or_init(find)
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
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
        self.longest
    }
}
