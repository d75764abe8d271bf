//! Room `sse`.
