//! SQLite: opening the file, the writer's task and the readers' pool.

mod file;
mod open;
mod writer;

pub(crate) use open::{Database, open};
