#![doc = include_str!("../README.md")]

pub mod address;
pub mod checks;
pub mod console;
mod entry;
pub mod export;
mod kind;
mod probe;
mod service;
mod tables;
#[cfg(test)]
mod tests;

pub use entry::{Author, Change, ChangeOutcome, Definition, Entry, EntryWrite, Planned, StoredEntries};
pub use kind::{Entries, EntryKind, load};
pub use probe::permit;
pub use service::{add, changed, delete, set_enabled, store, update};
pub use tables::EntryTables;

/// The placeholder of a stored secret in pages and responses. Sent back, it leaves the secret as it is.
pub const MASK: &str = "***";
