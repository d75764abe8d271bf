//! SQLite: opening the file, and copying it.

mod copy;
mod file;
mod open;
mod readers;
#[cfg(test)]
mod tests;

pub(crate) use copy::{claim, copy, inspect};
pub(crate) use file::{folder, path};
pub(crate) use open::{connect_alone, open, open_existing};
pub(crate) use readers::Readers;
