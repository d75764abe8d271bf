//! The hand-over of an answer's events to one page: the server grants each event once.

use crate::read::read_struct;
use serde::Serialize;

/// Events that are claimed at once, at most.
pub const MAX_CLAIMED: usize = 100;

/// What a page may act on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GrantedEvents {
    /// The keys, among those that were claimed, that no other page has.
    pub keys: Vec<String>,
}

read_struct!(GrantedEvents { keys: "keys" });
