//! SQLite: opening, watching and copying database files.

mod claim;
mod copy;
mod file;
mod log_guard;
mod open;
mod place;
mod readers;
#[cfg(test)]
mod tests;
mod watch;
mod writer_connection;

pub(crate) use claim::{Claim, Claimant};
pub(crate) use copy::{claim, claim_unless_on_network, copy, inspect};
pub(crate) use file::{folder, path};
pub(crate) use open::{connect_alone, open, open_existing};
pub(crate) use place::check_location;
pub(crate) use readers::SqliteReaders;
pub(crate) use writer_connection::SqliteWriter;
