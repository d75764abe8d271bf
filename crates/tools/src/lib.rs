//! Room `tools`.
