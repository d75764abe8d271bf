//! The tables by which servers that share a database work together: heartbeats, taking over runs, and secrets.

pub(crate) mod replicas;
pub(crate) mod secrets;
