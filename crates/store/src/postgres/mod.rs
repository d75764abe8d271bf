//! PostgreSQL: opening the database, the writer's connection and the readers' pool.

mod error;
mod locks;
mod open;
mod replica_link;
mod writer_connection;

pub(crate) use error::{is_lost, store_error};
pub use locks::Lock;
pub(crate) use locks::lock;
pub use open::ServerInfo;
pub(crate) use open::{connect_alone, is_url, open, open_existing, server_info};
pub(crate) use replica_link::ReplicaLink;
pub use replica_link::{Listener, ReplicaEvent};
pub(crate) use writer_connection::{PostgresWriter, REQUEST_TIMEOUT};
