//! Messages as they are in the database: most of a long branch is never looked at, and decoding it takes longer
//! than reading it.

use crate::history::body;
use crate::sql::Row;
use crate::{StoreError, StoredMessage};
use std::sync::Arc;
use wire::Role;

/// The position of a message in a branch that was read up to it. As long as [`crate::Store::encoded_branch_after`]
/// accepts it, the messages up to it are in the database as they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPosition {
    /// The message.
    id: String,
    /// Its number.
    pub(super) no: i64,
    /// How often messages of the conversation were purged, or one that has followers was changed, before the read.
    rewrites: i64,
}

/// A message of a branch whose content is not decoded.
pub struct EncodedMessage {
    /// Unique within the conversation.
    pub id: String,
    /// The author.
    pub role: Role,
    conversation_id: Arc<str>,
    parent_id: Option<String>,
    created_at: i64,
    no: i64,
    rewrites: i64,
    row: Row,
}

impl EncodedMessage {
    pub(super) fn new(conversation_id: &Arc<str>, row: Row) -> Result<Self, StoreError> {
        row.bytes("body")?;
        Ok(Self {
            id: row.try_get("id")?,
            role: body::role_of(row.try_get("role")?),
            conversation_id: conversation_id.clone(),
            parent_id: row.try_get("parent_id")?,
            created_at: row.try_get("created_at")?,
            no: row.try_get("no")?,
            rewrites: row.try_get("rewrites")?,
            row,
        })
    }

    /// Decodes the message.
    pub fn decode(&self) -> StoredMessage {
        let role = body::role_name(self.role);
        StoredMessage {
            id: self.id.clone(),
            parent_id: self.parent_id.clone(),
            created_at: self.created_at,
            message: body::decode(&self.conversation_id, &self.id, role, self.body()),
        }
    }

    /// Returns the position of the message in the branch that was read with it.
    pub fn position(&self) -> BranchPosition {
        BranchPosition { id: self.id.clone(), no: self.no, rewrites: self.rewrites }
    }

    /// Returns the length of the encoded content in bytes.
    pub fn size(&self) -> usize {
        self.body().len()
    }

    /// Returns false if the message's JSON does not contain this text, which has no character that JSON escapes. What
    /// contains it may be of another meaning, and a damaged message may contain anything.
    pub fn may_contain(&self, text: &str) -> bool {
        self.json().is_none_or(|json| json.contains(text))
    }

    /// Returns the message's JSON, which may be damaged; `None` if it is no text.
    pub fn json(&self) -> Option<&str> {
        std::str::from_utf8(self.body()).ok()
    }

    fn body(&self) -> &[u8] {
        // That the column is text was checked.
        self.row.bytes("body").unwrap_or_default()
    }
}
