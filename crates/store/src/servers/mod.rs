//! What the servers that share a database need of each other: heartbeats, taking over runs, and
//! secrets.

pub(crate) mod replicas;
pub(crate) mod secrets;
