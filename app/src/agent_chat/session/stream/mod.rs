//! Follows the answer that is being written, and observes other tabs and devices.

pub(super) mod connect;
pub(super) mod connection_permits;
pub(super) mod follow;
pub(super) mod tabs;
