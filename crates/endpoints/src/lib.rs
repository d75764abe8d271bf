//! Room `endpoints`.
