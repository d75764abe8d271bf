//! Work of the server that no user asks for: recovery after a crash, taking over runs of other
//! servers, deleting what has expired, and health.

pub(crate) mod admin;
pub(crate) mod jobs;
pub(crate) mod purge;
pub(crate) mod readiness;
pub(crate) mod recover;
pub(crate) mod recovered;
pub(crate) mod replica;
pub(crate) mod retention;

use std::time::Duration;

/// How long a run without a heartbeat is considered alive.
pub(crate) const LEASE: Duration = Duration::from_secs(15);
