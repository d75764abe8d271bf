#![doc = include_str!("../README.md")]

mod cluster;
#[cfg(feature = "databases")]
mod databases;

pub use cluster::{Cluster, PASSWORD};
#[cfg(feature = "databases")]
pub use databases::{
    database_files_of_each_kind, database_for, database_url, databases_of_each_kind, execute, new_database,
};

/// The name of the environment variable with the folder of a server that several processes share. Without it, each
/// process starts a server of its own when it needs one.
pub const SHARED: &str = "CHATWRIGHT_TEST_POSTGRES";
