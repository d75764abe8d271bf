//! Room `chat`.
