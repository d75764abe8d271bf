//! Whether new work is accepted: permits for concurrent runs, quotas of users, and the memory of the
//! process.

pub(crate) mod capacity;
pub(crate) mod memory;
pub(crate) mod memory_turns;
mod memory_watch;
pub(crate) mod permits;
pub(crate) mod quota;
pub(crate) mod quota_locks;
