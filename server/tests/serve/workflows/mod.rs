//! Workflows: what starts them, and what changes of the clock do to them.

mod clock;
mod from_chat;
mod triggers;
