//! SQLite: opening, watching and copying database files.

mod claim;
mod copy;
mod file;
mod line;
mod open;
mod place;
mod readers;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use claim::{Claim, Claimant};
pub(crate) use copy::{claim, copy, hold, inspect};
pub(crate) use file::{folder, path};
pub(crate) use line::Line;
pub(crate) use open::{connect_alone, open, open_existing};
pub(crate) use place::check_place;
pub(crate) use readers::Readers;
