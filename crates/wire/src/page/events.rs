//! Claims on an answer's page events: the server grants each event to one page only.

use crate::read::read_struct;
use serde::Serialize;

/// The maximum number of events in one claim.
pub const MAX_CLAIMED: usize = 100;

/// The events that a page may act on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GrantedEvents {
    /// The claimed keys that no other page holds.
    pub keys: Vec<String>,
}

read_struct!(GrantedEvents { keys: "keys" });
