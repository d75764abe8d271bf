//! SQLite: opening the file, the writer's task and the readers' pool.

mod file;
mod open;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use file::folder;
pub(crate) use open::{Database, open, open_existing};
