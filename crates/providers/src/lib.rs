//! Room `providers`.
