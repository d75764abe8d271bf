//! PostgreSQL: opening the database, the writer's line and the readers' pool.

mod error;
mod line;
mod open;

pub(crate) use error::{is_lost, store_error};
pub(crate) use line::{Line, PATIENCE};
pub(crate) use open::{is_url, open, open_existing};
