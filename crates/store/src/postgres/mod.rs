//! PostgreSQL: opening the database, the writer's connection and the readers' pool.

mod error;
mod line;
mod locks;
mod open;
mod shared;

pub(crate) use error::{is_lost, store_error};
pub(crate) use line::{Line, PATIENCE};
pub use locks::Lock;
pub(crate) use locks::lock;
pub use open::ServerFacts;
pub(crate) use open::{connect_alone, facts, is_url, open, open_existing};
pub(crate) use shared::Shared;
pub use shared::{Listener, News};
