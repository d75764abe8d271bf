//! Room `operators`.
