//! What the operator sees of the server from outside: metrics, logs, traces. See `docs/operations.md`.

pub(crate) mod logs;
pub(crate) mod metrics;
mod models;
pub(crate) mod requests;

pub(crate) use models::measured;
