//! A cache of the covered messages of recently used conversations, so that a turn of a long conversation reads only the
//! messages after them. The database tells with each read whether a cached message may have changed.

use crate::submit::branch::Branch;
use crate::submit::branch::covered::Covered;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{EncodedMessage, Store, StoreError};

/// The memory that the cached messages of all conversations may take, in bytes.
pub(crate) const ROOM: usize = 32 << 20;
/// How long the messages of a conversation are kept after their last use by a turn.
const KEPT_FOR: Duration = Duration::from_secs(15 * 60);

/// The cache.
#[derive(Default)]
pub(crate) struct KnownMessages {
    /// The conversation that was used last is the last one.
    conversations: Mutex<Vec<Conversation>>,
}

struct Conversation {
    owner: String,
    id: String,
    covered: Arc<Covered>,
    used_at: Instant,
}

impl Conversation {
    fn is(&self, owner: &str, id: &str) -> bool {
        self.id == id && self.owner == owner
    }
}

impl KnownMessages {
    /// Returns the active branch of a conversation, without messages if it is unknown or belongs to another user. Afterwards,
    /// the covered messages of all conversations take at most `room` bytes.
    pub(crate) async fn branch(&self, store: &Store, owner: &str, id: &str, room: usize) -> Result<Branch, StoreError> {
        let branch = match self.branch_after_known(store, owner, id).await? {
            Some(branch) => branch,
            None => Branch::decode(store.encoded_branch(owner, id).await?).await?,
        };
        self.keep(owner, id, branch.covered.clone(), room);
        Ok(branch)
    }

    /// Returns the messages of the active branch after the cached ones, at least one. `None` if there are no such messages,
    /// or nothing valid is cached.
    pub(crate) async fn newest(
        &self,
        store: &Store,
        owner: &str,
        id: &str,
    ) -> Result<Option<Vec<EncodedMessage>>, StoreError> {
        let Some(covered) = self.find(owner, id) else { return Ok(None) };
        let Some(position) = covered.position() else { return Ok(None) };
        let newest = store.encoded_branch_after(owner, id, &position).await?;
        Ok(newest.filter(|newest| !newest.is_empty()))
    }

    async fn branch_after_known(&self, store: &Store, owner: &str, id: &str) -> Result<Option<Branch>, StoreError> {
        let Some(covered) = self.find(owner, id) else { return Ok(None) };
        let Some(position) = covered.position() else { return Ok(None) };
        match store.encoded_branch_after(owner, id, &position).await? {
            Some(encoded) => Branch::decode_after(covered, encoded).await,
            None => Ok(None),
        }
    }

    fn find(&self, owner: &str, id: &str) -> Option<Arc<Covered>> {
        let conversations = self.conversations.lock();
        conversations.iter().rev().find(|known| known.is(owner, id)).map(|known| known.covered.clone())
    }

    /// Forgets the covered messages of conversations that were not used for long, and all if memory is short.
    pub(crate) fn forget(&self, is_short: bool, now: Instant) {
        let mut conversations = self.conversations.lock();
        let is_forgotten = |known: &Conversation| is_short || now.saturating_duration_since(known.used_at) > KEPT_FOR;
        let count = conversations.partition_point(is_forgotten);
        let forgotten: Vec<_> = conversations.drain(..count).collect();
        drop(conversations);
        drop(forgotten);
    }

    /// Keeps the covered messages of a conversation, or forgets them if there are none. Forgets those of other
    /// conversations if all take too much memory.
    pub(crate) fn keep(&self, owner: &str, id: &str, covered: Option<Arc<Covered>>, room: usize) {
        let mut conversations = self.conversations.lock();
        let mut forgotten: Vec<_> = conversations.extract_if(.., |known| known.is(owner, id)).collect();
        // Messages that do not fit alone would displace those of all other conversations and be dropped then.
        if let Some(covered) = covered.filter(|covered| covered.memory() <= room) {
            let (owner, id) = (owner.to_owned(), id.to_owned());
            conversations.push(Conversation { owner, id, covered, used_at: Instant::now() });
        }
        let mut memory: usize = conversations.iter().map(|known| known.covered.memory()).sum();
        let has_no_room = |known: &mut Conversation| {
            let is_too_much = memory > room;
            if is_too_much {
                memory -= known.covered.memory();
            }
            is_too_much
        };
        forgotten.extend(conversations.extract_if(.., has_no_room));
        // Freeing thousands of messages takes long.
        drop(conversations);
        drop(forgotten);
    }
}
