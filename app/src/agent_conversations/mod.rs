//! The list of conversations.
