//! SQLite: opening the file, the writer's task and the readers' pool.

mod copy;
mod file;
mod open;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use copy::{claim, copy, inspect};
pub(crate) use file::{folder, path};
pub(crate) use open::{Database, open, open_existing};
