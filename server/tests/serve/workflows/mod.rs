//! Workflows: what starts them, what changes of the clock do to them, and the keys of their requests.

mod clock;
mod from_chat;
mod keys;
mod triggers;
